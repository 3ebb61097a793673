// Keeps the event loop responsive during long synchronous work: a loop asks whether it has run
// long enough and then gives other requests a turn. All paced work of the process takes turns, so
// that a hundred large requests at once delay others no more than one does; and the holders of the
// requests take turns, so that one with a hundred requests gets no more than one with a single one.

/**
 * Longest time of work without a turn of the event loop. A small request needs some ten turns, its
 * round trips to the database among them, and each is that much longer beside paced work.
 */
const sliceMs = 5;

export type Pacer = {
  /** Tells whether the work has run for 5 ms since the last rest. Cheap: asks the clock only. */
  due(): boolean;
  /** Waits for a turn of the event loop, and starts the clock again. */
  rest(): Promise<void>;
};

/**
 * Work that waits, by its lane, the lane first whose turn is next; in a lane, the longest first.
 */
const lanes = new Map<string, (() => void)[]>();

/** Lane of work that belongs to no holder, such as commits; it goes before all others. */
const ownLane = "";

/** Whether paced work has begun in this turn of the event loop. */
let isTurnTaken = false;

/**
 * Returns a pacer whose clock starts now. Work of one lane, such as a project, shares its turns;
 * work without a lane goes first. Use: `if (pacer.due()) await pacer.rest();`.
 */
export function createPacer(lane: string = ownLane): Pacer {
  let startedAtMs = performance.now();
  return {
    due: () => performance.now() - startedAtMs >= sliceMs,
    async rest() {
      await nextTurn(lane);
      startedAtMs = performance.now();
    },
  };
}

/** As `createPacer`, for work that takes milliseconds: waits until no other such work runs. */
export async function startPacer(lane?: string): Promise<Pacer> {
  const pacer = createPacer(lane);
  if (isTurnTaken || lanes.size > 0) await pacer.rest();
  else {
    isTurnTaken = true;
    setImmediate(() => (isTurnTaken = false));
  }
  return pacer;
}

function nextTurn(lane: string): Promise<void> {
  return new Promise((resolve) => {
    if (lanes.size === 0) setImmediate(resumeOne);
    const waiting = lanes.get(lane);
    if (waiting) waiting.push(resolve);
    else lanes.set(lane, [resolve]);
  });
}

/** Resumes one piece of work a turn: what has come on sockets is handled in between. */
function resumeOne(): void {
  const lane = lanes.has(ownLane) ? ownLane : lanes.keys().next().value;
  const waiting = lane === undefined ? undefined : lanes.get(lane);
  if (lane === undefined || waiting === undefined) return;
  const resume = waiting.shift();
  lanes.delete(lane);
  // Behind the others.
  if (waiting.length > 0) lanes.set(lane, waiting);
  if (lanes.size > 0) setImmediate(resumeOne);
  resume?.();
}
