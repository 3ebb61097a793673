// Pool of idle processes with Python started and no evaluator loaded, so that an evaluation does
// not wait for a start. Each is handed out once. Source: docs/sandbox.md.

import type { Guest } from "./process.ts";

export type IdleProcesses = {
  /** Returns a ready process: an idle one, else a new one. */
  readonly take: () => Promise<Guest>;
  /** Begins to keep idle processes. */
  readonly start: () => void;
  /** Returns whether the pool has reached its current target size. */
  readonly isFull: () => boolean;
  readonly close: () => void;
};

export type IdleProcessesOptions = {
  /** Lower bound of the idle pool. */
  readonly countMin: number;
  /**
   * Upper bound of the idle pool, which grows to recent demand: evaluators of the same events start
   * their batches together.
   */
  readonly countMax: number;
  /** Starts a process and waits until it is ready. */
  readonly spawn: () => Promise<Guest>;
  /** Called with the error if no process could be started; the start is retried. */
  readonly onFailure: (error: unknown) => void;
};

/** Pause before a retry after a failure; doubles up to the maximum. */
const retryMs = 1_000;
const retryMsMax = 60_000;
/** Age after which a take no longer counts as recent demand. */
const lateMs = 30_000;

export function createIdleProcesses(options: IdleProcessesOptions): IdleProcesses {
  const { countMin, countMax, spawn, onFailure } = options;
  let ready: readonly Guest[] = [];
  const takers: PromiseWithResolvers<Guest>[] = [];
  let takenLately = 0;
  let starting = 0;
  let isStarted = false;
  let isClosed = false;
  let pauseMs = retryMs;
  let pause: NodeJS.Timeout | undefined;

  function wanted(): number {
    return Math.min(Math.max(takenLately, countMin), countMax);
  }

  /** A start takes a core, so processes for the pool start only when no taker is waiting. */
  function fill(): void {
    const isShort = isStarted && !pause && ready.length < wanted();
    const needed = takers.length > 0 ? takers.length : Number(isShort);
    while (!isClosed && starting < needed) {
      starting += 1;
      void add();
    }
  }

  async function add(): Promise<void> {
    try {
      keep(await spawn());
      pauseMs = retryMs;
    } catch (error) {
      fail(error);
    }
    starting -= 1;
    fill();
  }

  function keep(guest: Guest): void {
    const taker = takers.shift();
    if (taker) {
      taker.resolve(guest);
    } else if (isClosed || ready.length >= wanted()) {
      guest.kill();
    } else {
      ready = [...ready, guest];
      guest.onEnd(() => drop(guest));
    }
  }

  function fail(error: unknown): void {
    const taker = takers.shift();
    if (taker) {
      taker.reject(error);
      return;
    }
    if (isClosed) return;
    onFailure(error);
    clearTimeout(pause);
    pause = setTimeout(resume, pauseMs).unref();
    pauseMs = Math.min(2 * pauseMs, retryMsMax);
  }

  function drop(guest: Guest): void {
    ready = ready.filter((one) => one !== guest);
    fill();
  }

  function resume(): void {
    pause = undefined;
    fill();
  }

  function queueTaker(): Promise<Guest> {
    const taker = Promise.withResolvers<Guest>();
    takers.push(taker);
    return taker.promise;
  }

  function noteTaken(): void {
    takenLately += 1;
    const forget = (): void => {
      takenLately -= 1;
      for (const guest of ready.slice(wanted())) guest.kill();
    };
    setTimeout(forget, lateMs).unref();
  }

  return {
    async take() {
      // After `close` the pool is not filled; the caller must end this process.
      if (isClosed) return spawn();
      noteTaken();
      const [guest, ...rest] = ready;
      ready = rest;
      const taken = guest ?? queueTaker();
      fill();
      return taken;
    },
    start() {
      isStarted = true;
      fill();
    },
    isFull: () => ready.length >= wanted(),
    close() {
      isClosed = true;
      clearTimeout(pause);
      for (const guest of ready) guest.kill();
      ready = [];
    },
  };
}
