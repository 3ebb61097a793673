// Calls of an import: tried again after the time that the service names, or given up.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../../../src/commands/import/client.ts";

type Step = { readonly status: number; readonly retryAfter?: string };

async function givenAService(steps: readonly Step[]) {
  const times: number[] = [];
  const server = createServer((request, response) => {
    const step = steps[Math.min(times.length, steps.length - 1)];
    times.push(performance.now());
    request.resume();
    const headers = step?.retryAfter === undefined ? {} : { "retry-after": step.retryAfter };
    response.writeHead(step?.status ?? 200, headers).end('{"message":"so it is"}');
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  onTestFinished(() => {
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, times };
}

const signal = new AbortController().signal;

describe("createClient", () => {
  test("tries again after the time of Retry-After", async () => {
    const { url, times } = await givenAService([{ status: 503, retryAfter: "1" }, { status: 200 }]);

    const { status } = await createClient({ url, key: "k", signal }).call("POST", "/a", {});

    expect(status).toBe(200);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
  });

  test("gives up after its tries, and says how to continue", async () => {
    const { url, times } = await givenAService([{ status: 429, retryAfter: "0" }]);

    const call = createClient({ url, key: "k", signal, tries: 3 }).call("POST", "/a", {});

    await expect(call).rejects.toThrow("429 so it is; run the import again");
    expect(times).toHaveLength(3);
  });

  test("does not repeat what blames the request or the key", async () => {
    const bad = await givenAService([{ status: 400 }]);
    const denied = await givenAService([{ status: 401 }]);

    const { status } = await createClient({ url: bad.url, key: "k", signal }).call("PUT", "/a", {});
    const call = createClient({ url: denied.url, key: "k", signal }).call("PUT", "/a", {});

    expect(status).toBe(400);
    await expect(call).rejects.toThrow("401");
    expect([bad.times.length, denied.times.length]).toEqual([1, 1]);
  });
});
