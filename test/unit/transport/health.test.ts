// Health watches of one process: the limit on all of them, and how they learn of a change.

import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.js";
import { healthWatchesMax } from "../../../src/base/limits.ts";
import { healthHandlers } from "../../../src/transport/health.ts";

const serving = { ready: true, missing: [], degraded: [] };
const away = { ready: false, missing: ["database"], degraded: [] };

type Answers = AsyncGenerator<{ readonly status: Status }>;

/** The service, with watches that end with the test. */
function givenHealth(readiness = () => Promise.resolve(serving)) {
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  const handlers = healthHandlers(readiness, () => [], closing.signal);
  const watch = (): Answers => {
    const { signal } = new AbortController();
    const context = { signal, values: createContextValues() } as HandlerContext;
    return handlers.watch({ service: "" } as never, context) as Answers;
  };
  return { watch, close: () => closing.abort() };
}

test("watches past the limit of the process are refused, until one leaves", async () => {
  const { watch } = givenHealth();
  const watches = Array.from({ length: healthWatchesMax }, watch);
  await Promise.all(watches.map((one) => one.next()));

  await expect(watch().next()).rejects.toMatchObject({
    reason: "OVERLOADED",
    details: { limit: `health watches of the server: ${healthWatchesMax}` },
  });
  await watches[0]?.return(undefined);

  expect(await watch().next()).toEqual({ done: false, value: { status: Status.SERVING } });
});

test("all watches are told a change, and end when the server closes", async () => {
  let now = serving as typeof serving | typeof away;
  const { watch, close } = givenHealth(() => Promise.resolve(now as typeof serving));
  const watches = Array.from({ length: 100 }, watch);
  await Promise.all(watches.map((one) => one.next()));

  const next = Promise.all(watches.map((one) => one.next()));
  now = away;
  const told = await next;
  const ends = Promise.all(watches.map((one) => one.next()));
  close();

  expect(new Set(told.map(({ value }) => (value as { status: Status }).status))).toEqual(
    new Set([Status.NOT_SERVING]),
  );
  expect((await ends).every(({ done }) => done)).toBe(true);
});
