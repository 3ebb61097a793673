// Processes that have started Python and know no evaluator yet, so that an evaluation does not wait
// for a start. Each is handed out once. Called by sandbox.ts. Source: docs/sandbox.md.

import type { Guest } from "./process.ts";

export type Blanks = {
  /** Returns a process that is ready: one that was kept, else a new one. */
  readonly take: () => Promise<Guest>;
  /** Begins to keep processes ready. */
  readonly start: () => void;
  /** Whether as many are ready as are kept. */
  readonly isFull: () => boolean;
  readonly close: () => void;
};

export type BlanksOptions = {
  /** How many are kept ready at least. */
  readonly countMin: number;
  /**
   * And at most, where as many were taken of late: evaluators that score the same events begin
   * their chunks together.
   */
  readonly countMax: number;
  /** Starts a process and waits until it is ready. */
  readonly spawn: () => Promise<Guest>;
  /** Told why none could be made ready; it is tried again. */
  readonly onFailure: (error: unknown) => void;
};

/** Between tries, after a failure; doubles up to the largest. */
const retryMs = 1_000;
const retryMsMax = 60_000;
/** What was taken so long ago says nothing of what will be. */
const lateMs = 30_000;

export function createBlanks(options: BlanksOptions): Blanks {
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

  /** A start takes a core: those that are to be kept wait for those that are waited for. */
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
      // Nothing is filled any more; what is asked for after the end is the asker's to end.
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
