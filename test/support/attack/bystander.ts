// A second tenant beside an attack, in a thread of its own so that the attacker's work does not
// delay it: writes single events at a steady rate, asks whether the service is alive, has keys
// checked, and reads how much memory the service takes.

import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

export type BystanderOptions = {
  readonly url: string;
  readonly pid: number;
  /** Project key of the second tenant. */
  readonly key: string;
};

/** Outcome of one request: its HTTP status, 0 where none came, and how long it took. */
export type Timed = { readonly status: number; readonly ms: number };

export type Observations = {
  readonly writes: readonly Timed[];
  readonly health: readonly Timed[];
  /** Requests with a key that nothing remembers. */
  readonly keyChecks: readonly Timed[];
  /** Resident memory when the watch began, and the most since; in bytes. */
  readonly memoryBefore: number;
  readonly memoryMax: number;
};

/** 10 writes a second, however long each takes. */
const writeEveryMs = 100;
const healthEveryMs = 100;
const keyCheckEveryMs = 500;
const memoryEveryMs = 20;
/** Longer than any time that a test accepts. */
const requestTimeoutMs = 8_000;

/** Delay of this thread's own timer by which a pause of the whole machine is known. */
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
/** Times in which this thread, which has hardly any work, did not run. */
const pauses: { readonly fromMs: number; readonly toMs: number }[] = [];

function readMemory(): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return 1_024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  } catch {
    // The service has ended, which the test sees by itself.
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

/** Begins a request at each tick, whether or not those before are answered. */
async function every(ms: number, into: Timed[], request: () => Promise<Timed>): Promise<void> {
  while (!ended.signal.aborted) {
    const fromMs = performance.now();
    const asked = request().then(async (timed) => {
      const toMs = performance.now();
      // A pause is known once this thread's timer has run after it.
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

/** Tells whether the machine let this thread wait in that time: then it says nothing. */
function wasPaused(fromMs: number, toMs: number): boolean {
  return pauses.some((pause) => pause.fromMs < toMs && fromMs < pause.toMs);
}

/** A key of the right shape that no one has. */
function aForeignKey(): string {
  const letters = Array.from({ length: 40 }, () => Math.floor(Math.random() * 36).toString(36));
  return `hh_${letters.join("")}`;
}

async function watch(): Promise<void> {
  observed.memoryBefore = readMemory();
  await Promise.all([
    every(writeEveryMs, observed.writes, () => post(key)),
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
