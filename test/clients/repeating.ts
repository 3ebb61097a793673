// A service on Waggle's own transport that refuses calls by their event id and notes each try, and
// the outcomes that every typed client must come to. Used by the tests of clients/.

import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { Reason } from "../../src/base/errors.ts";
import { ServiceError } from "../../src/base/errors.ts";
import { keyOf, startTransport } from "../support/transport.ts";

type Refusal = {
  readonly reason: Reason;
  readonly retryAfterSeconds?: number;
  /** How many tries are refused; default all. */
  readonly times?: number;
};

/** Refusals by event id; every other event is stored. */
const refusals: Readonly<Record<string, Refusal>> = {
  busy: { reason: "OVERLOADED", retryAfterSeconds: 2, times: 1 },
  budget: { reason: "BUDGET_EXHAUSTED", retryAfterSeconds: 1, times: 1 },
  "in-flight": { reason: "IDEMPOTENCY_IN_FLIGHT", times: 1 },
  read: { reason: "OVERLOADED", times: 1 },
  always: { reason: "OVERLOADED" },
  "own-key": { reason: "OVERLOADED", times: 1 },
  "no-key": { reason: "OVERLOADED" },
  tomorrow: { reason: "BUDGET_EXHAUSTED", retryAfterSeconds: 86_400 },
  invalid: { reason: "INVALID_ARGUMENT" },
  absent: { reason: "NOT_FOUND" },
  mismatch: { reason: "IDEMPOTENCY_MISMATCH" },
  "too-large": { reason: "BODY_TOO_LARGE" },
  provider: { reason: "PROVIDER_FAILED" },
  bug: { reason: "INTERNAL" },
  stream: { reason: "OVERLOADED" },
};

/** What a client's program reports for each event id: `ok`, or the reason of the error. */
const outcomes = {
  stored: ["ok", 1],
  busy: ["ok", 2],
  budget: ["ok", 2],
  "in-flight": ["ok", 2],
  read: ["ok", 2],
  cut: ["ok", 1],
  again: ["ok", 2],
  "own-key": ["ok", 2],
  always: ["OVERLOADED", 4],
  "no-key": ["OVERLOADED", 1],
  tomorrow: ["BUDGET_EXHAUSTED", 1],
  invalid: ["INVALID_ARGUMENT", 1],
  absent: ["NOT_FOUND", 1],
  mismatch: ["IDEMPOTENCY_MISMATCH", 1],
  "too-large": ["BODY_TOO_LARGE", 1],
  provider: ["PROVIDER_FAILED", 1],
  bug: ["INTERNAL", 1],
  stream: ["OVERLOADED", 1],
} as const;

type Try = {
  readonly key: string | null;
  readonly atMs: number;
  readonly hasDeadline: boolean;
};

export type StandIn = {
  /**
   * What a client's program is called with: the address, one whose first three connections break,
   * the key, and the event ids to send.
   */
  readonly words: readonly string[];
  /** Checks a program's report, and the tries that led to it. */
  check(report: Readonly<Record<string, string>>): void;
  stop(): Promise<void>;
};

export async function startStandIn(): Promise<StandIn> {
  const tries = new Map<string, Try[]>();
  const refuse = (eventId: string, header: Headers) => {
    const before = tries.get(eventId) ?? [];
    const key = header.get("idempotency-key");
    const hasDeadline = header.has("connect-timeout-ms") || header.has("grpc-timeout");
    tries.set(eventId, [...before, { key, atMs: performance.now(), hasDeadline }]);
    const refusal = refusals[eventId];
    if (refusal === undefined || before.length >= (refusal.times ?? Infinity)) return;
    const { reason, retryAfterSeconds } = refusal;
    throw new ServiceError(reason, "inputs: refused", {
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  };
  const service = await startTransport({
    events: {
      createEvent: async ({ event }, { requestHeader, signal }) => {
        const eventId = event?.eventId ?? "";
        if (eventId === "slow") await delay(60_000, undefined, { signal });
        refuse(eventId, requestHeader);
        return { eventId, success: true };
      },
      getEvent: ({ eventId }, { requestHeader }) => {
        refuse(eventId, requestHeader);
        return { event: { eventId } };
      },
    },
    async *streamEvents(_request, { requestHeader }) {
      refuse("stream", requestHeader);
      yield { item: { case: "end", value: { done: true, count: 0 } } };
    },
  });
  const cut = await startCutting(Number(new URL(service.url).port));
  const key = keyOf("project").replace("Bearer ", "");
  return {
    words: [service.url, cut.url, key, ...Object.keys(outcomes), "slow"],
    check(report) {
      const got = Object.fromEntries(
        Object.keys(outcomes).map((id) => [id, [report[id], tries.get(id)?.length]]),
      );
      expect(got).toEqual(outcomes);
      expect(report["slow"]).toBe("deadline");

      const keysOf = (id: string) => tries.get(id)?.map((one) => one.key) ?? [];
      for (const id of ["busy", "budget", "in-flight", "always"]) {
        const [first] = keysOf(id);
        expect(first).toMatch(/^[\w-]{20,}$/);
        expect(new Set(keysOf(id)), id).toEqual(new Set([first]));
      }
      expect(keysOf("busy")[0]).not.toBe(keysOf("budget")[0]);
      // Two calls with one request are two writes.
      expect(new Set(keysOf("again")).size).toBe(2);
      expect(keysOf("own-key")).toEqual(["mine", "mine"]);
      expect(keysOf("no-key")).toEqual([null]);
      expect(keysOf("read")).toEqual([null, null]);
      expect(keysOf("stream")).toEqual([null]);

      for (const [id, ofId] of tries) {
        for (const { hasDeadline } of ofId) expect(hasDeadline, id).toBe(id !== "stream");
      }

      // A timer of a client may be a few milliseconds early.
      expect(waitMsOf(tries.get("busy"))).toBeGreaterThan(1_950);
      expect(waitMsOf(tries.get("budget"))).toBeGreaterThan(950);
    },
    async stop() {
      cut.stop();
      await service.stop();
    },
  };
}

function waitMsOf(tries: readonly Try[] = []): number {
  const [first, second] = tries;
  return (second?.atMs ?? NaN) - (first?.atMs ?? NaN);
}

/**
 * A way to the service that breaks its first three connections at a request, as many as a call may
 * be sent again after: ends the first and the third, and resets the second.
 */
async function startCutting(port: number): Promise<{ url: string; stop(): void }> {
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((socket) => {
    open.add(socket.on("error", () => undefined));
    cuts += 1;
    if (cuts === 2) return void socket.once("data", () => socket.resetAndDestroy());
    if (cuts <= 3) return void socket.once("data", () => socket.destroy());
    const onward = connect(port, "127.0.0.1").on("error", () => socket.destroy());
    open.add(onward);
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
