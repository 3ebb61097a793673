// A second tenant during an attack, in a separate thread so that the attacker's work does not delay
// it. It writes single events and batches at a steady rate, asks for /healthz, has keys checked,
// and reads the service's memory.

import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

export type BystanderOptions = {
  readonly url: string;
  readonly pid: number;
  /** Project key of the second tenant. */
  readonly key: string;
};

/** Outcome of one request: its HTTP status, 0 without an answer, and its duration. */
export type Timed = { readonly status: number; readonly ms: number };

export type Observations = {
  readonly writes: readonly Timed[];
  readonly health: readonly Timed[];
  /** Requests with an unknown key, which no cache can answer. */
  readonly keyChecks: readonly Timed[];
  /** Resident memory in bytes: at the start of the watch, and the maximum since. */
  readonly memoryBefore: number;
  readonly memoryMax: number;
};

/** Interval of writes: 10 per second, regardless of their duration. */
const writeEveryMs = 100;
const batchEveryMs = 500;
const healthEveryMs = 100;
const keyCheckEveryMs = 500;
const memoryEveryMs = 20;
/** Time-out of a request, longer than any time that a test accepts. */
const requestTimeoutMs = 8_000;

/** Minimum delay of this thread's timer that counts as a pause of the whole machine. */
const pauseMsMin = 300;

const { url, pid, key } = workerData as BystanderOptions;

const observed = {
  writes: [] as Timed[],
  health: [] as Timed[],
  keyChecks: [] as Timed[],
  memoryBefore: 0,
  memoryMax: 0,
};
const ended = new AbortController();
const pending = new Set<Promise<void>>();
/** Times in which this thread did not run, although it has hardly any work. */
const pauses: { readonly fromMs: number; readonly toMs: number }[] = [];

function readMemory(): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return 1_024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  } catch {
    // The service has ended; the test notices that itself.
    return 0;
  }
}

async function time(path: string, init: RequestInit): Promise<Timed> {
  const startedAtMs = performance.now();
  const status = await fetch(url + path, {
    ...init,
    signal: AbortSignal.timeout(requestTimeoutMs),
  }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 0,
  );
  return { status, ms: performance.now() - startedAtMs };
}

function post(authorization: string): Promise<Timed> {
  return time("/events", {
    method: "POST",
    headers: { authorization: `Bearer ${authorization}`, "content-type": "application/json" },
    body: JSON.stringify({ event: { event_type: "tool", inputs: { by: "a second tenant" } } }),
  });
}

/** A batch of 200 kB, which is decoded in turns with other projects' large bodies. */
const batch = JSON.stringify({
  events: Array.from({ length: 100 }, () => ({
    event_type: "tool",
    source: "bystander",
    inputs: { by: "a second tenant".repeat(133) },
  })),
});

function postBatch(): Promise<Timed> {
  return time("/events/batch", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: batch,
  });
}

/** Starts a request at each tick, whether or not earlier requests are answered. */
async function every(ms: number, into: Timed[], request: () => Promise<Timed>): Promise<void> {
  while (!ended.signal.aborted) {
    const fromMs = performance.now();
    const asked = request().then(async (timed) => {
      const toMs = performance.now();
      // A pause is known only after this thread's timer has run again.
      await delay(memoryEveryMs);
      if (!wasPaused(fromMs, toMs)) into.push(timed);
    });
    pending.add(asked);
    void asked.finally(() => pending.delete(asked));
    await delay(ms, undefined, { signal: ended.signal }).catch(() => undefined);
  }
}

async function watchMemory(): Promise<void> {
  while (!ended.signal.aborted) {
    observed.memoryMax = Math.max(observed.memoryMax, readMemory());
    const fromMs = performance.now();
    await delay(memoryEveryMs, undefined, { signal: ended.signal }).catch(() => undefined);
    const toMs = performance.now();
    if (toMs - fromMs > memoryEveryMs + pauseMsMin) pauses.push({ fromMs, toMs });
  }
}

/** Returns whether the machine paused in that time: then the measurement does not count. */
function wasPaused(fromMs: number, toMs: number): boolean {
  return pauses.some((pause) => pause.fromMs < toMs && fromMs < pause.toMs);
}

/** Returns an unknown key of the right shape. */
function aForeignKey(): string {
  const letters = Array.from({ length: 40 }, () => Math.floor(Math.random() * 36).toString(36));
  return `hh_${letters.join("")}`;
}

async function watch(): Promise<void> {
  observed.memoryBefore = readMemory();
  await Promise.all([
    every(writeEveryMs, observed.writes, () => post(key)),
    every(batchEveryMs, observed.writes, postBatch),
    every(healthEveryMs, observed.health, () => time("/healthz", {})),
    every(keyCheckEveryMs, observed.keyChecks, () => post(aForeignKey())),
    watchMemory(),
  ]);
  await Promise.all(pending);
  parentPort?.postMessage(observed satisfies Observations);
}

parentPort?.once("message", () => ended.abort());
await post(key);
parentPort?.postMessage("ready");
await watch();
parentPort?.close();
