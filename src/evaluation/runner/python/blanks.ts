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
  /** How many are kept ready. */
  readonly count: number;
  /** Starts a process and waits until it is ready. */
  readonly spawn: () => Promise<Guest>;
  /** Told why none could be made ready; it is tried again. */
  readonly onFailure: (error: unknown) => void;
};

/** Between tries, after a failure; doubles up to the largest. */
const retryMs = 1_000;
const retryMsMax = 60_000;

export function createBlanks({ count, spawn, onFailure }: BlanksOptions): Blanks {
  let ready: readonly Guest[] = [];
  let isStarted = false;
  let isClosed = false;
  let isFilling = false;
  let pauseMs = retryMs;
  let pause: NodeJS.Timeout | undefined;

  function drop(guest: Guest): void {
    ready = ready.filter((one) => one !== guest);
    fill();
  }

  async function add(): Promise<void> {
    const guest = await spawn();
    pauseMs = retryMs;
    if (isClosed) {
      guest.kill();
    } else {
      ready = [...ready, guest];
      guest.onEnd(() => drop(guest));
    }
  }

  // One at a time: a start takes a core, which running evaluators want too.
  function fill(): void {
    if (!isStarted || isClosed || isFilling || pause || ready.length >= count) return;
    isFilling = true;
    void add()
      .catch((error: unknown) => {
        onFailure(error);
        pause = setTimeout(resume, pauseMs).unref();
        pauseMs = Math.min(2 * pauseMs, retryMsMax);
      })
      .finally(() => {
        isFilling = false;
        fill();
      });
  }

  function resume(): void {
    pause = undefined;
    fill();
  }

  return {
    async take() {
      const [guest, ...rest] = ready;
      ready = rest;
      fill();
      return guest ?? spawn();
    },
    start() {
      isStarted = true;
      fill();
    },
    isFull: () => ready.length >= count,
    close() {
      isClosed = true;
      clearTimeout(pause);
      for (const guest of ready) guest.kill();
      ready = [];
    },
  };
}
