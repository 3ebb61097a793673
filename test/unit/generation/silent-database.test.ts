// Model calls whose database takes connections and says nothing: they end in its usual time.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ProjectScope } from "../../../src/access/scope.ts";
import { createRunning } from "../../../src/base/running.ts";
import { createAnswerMemory } from "../../../src/generation/calls/answer-memory.ts";
import { createConcurrency } from "../../../src/generation/calls/concurrency.ts";
import { createModelCalls } from "../../../src/generation/calls/model-calls.ts";
import { createRecordedCalls } from "../../../src/generation/calls/recorded-calls.ts";
import type { RecordedCallsOptions } from "../../../src/generation/calls/recorded-calls.ts";
import { judgingProject as project, tablePrices } from "../../support/judges.ts";
import { routeOf } from "./connections.ts";

/** Maximum time of a call with its attempts. */
const timeoutMs = 600_000;
const inDatabaseTimeMs = 30_000;

const silence = () => new Promise<never>(() => undefined);
const request = { operation: "chat", body: { model: "m" }, isStream: false } as const;
const recorded = {
  nameFor: () => "chat",
  source: "proxy",
  config: {},
  inputs: {},
  metadata: {},
  userProperties: {},
} as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Silent = {
  readonly admit?: RecordedCallsOptions["budgets"]["admit"];
  readonly find?: () => Promise<never>;
  readonly commit?: () => Promise<void>;
  readonly prices?: RecordedCallsOptions["modelPrices"]["of"];
};

/** Opens a call over a route that is known, unless a part is silent. */
async function open({ admit, find, commit = () => Promise.resolve(), prices }: Silent) {
  const calls = createRecordedCalls({
    budgets: { admit: admit ?? (() => Promise.resolve(undefined)) },
    calls: createModelCalls({
      routing: { find: find ?? (() => Promise.resolve(routeOf("up/m"))) },
      concurrency: createConcurrency({ max: 1 }),
      answerMemory: createAnswerMemory(1_000_000),
      callModel: silence,
      attemptsMax: 1,
      timeoutMs,
      logger: { debug: () => undefined },
    }),
    running: createRunning(),
    tracingOf: () => {
      throw new Error("nothing is stored");
    },
    scopes: { find: () => Promise.resolve(project as never) },
    modelPrices: prices ? { of: prices } : tablePrices,
  });
  const caller = {
    keyId: undefined,
    signal: new AbortController().signal,
    commit,
    onRecorded: () => undefined,
  };
  return calls.open(project satisfies ProjectScope, { request, caller, traceIds: {}, recorded });
}

async function reasonInTime(call: Promise<unknown>): Promise<unknown> {
  const ended = call.then(
    () => "answered",
    (error: unknown) => (error as { reason?: string }).reason,
  );
  await vi.advanceTimersByTimeAsync(inDatabaseTimeMs);
  const waits = new Promise((settle) => setTimeout(settle, 1, "waits"));
  await vi.advanceTimersByTimeAsync(1);
  return Promise.race([ended, waits]);
}

test.each([
  { name: "budgets come", silent: { admit: silence } },
  { name: "providers come", silent: { find: silence } },
])("a call whose $name from there is refused", async ({ silent }) => {
  expect(await reasonInTime(open(silent))).toBe("DATABASE_UNAVAILABLE");
});

test.each([
  { name: "store its event", silent: { commit: silence } },
  { name: "read its price", silent: { prices: silence } },
])("a call that has run is refused while it cannot $name", async ({ silent }) => {
  const call = await open(silent);
  const [target] = routeOf("up/m").targets;
  if (!target) throw new Error("no target");

  const finished = call.finish({ target, attempts: [] });

  expect(await reasonInTime(finished)).toBe("DATABASE_UNAVAILABLE");
});
