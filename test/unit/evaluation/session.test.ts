// A session whose process has not started yet when the session ends.

import { expect, test } from "vitest";
import type { Guest } from "../../../src/evaluation/runner/python/process.ts";
import { openSession } from "../../../src/evaluation/runner/python/session.ts";
import { defaultLimits } from "../../sandbox/start-sandbox.ts";

test("ends without its process, which is ended once it has started", async () => {
  const start = Promise.withResolvers<Guest>();
  const killed = Promise.withResolvers<string>();
  const worker = new AbortController();
  const session = openSession({
    code: "result = 1",
    limits: defaultLimits,
    take: () => start.promise,
    ending: worker.signal,
    leave: () => undefined,
  });
  const running = session.run({});

  worker.abort(new Error("the worker stops"));

  await expect(running).rejects.toThrow("the worker stops");
  start.resolve({
    ask: () => Promise.reject(new Error("nobody asks in this test")),
    isAlive: () => true,
    onEnd: () => undefined,
    kill: () => killed.resolve("killed"),
  });
  expect(await killed.promise).toBe("killed");
});
