// Keeps the event loop responsive during long synchronous work, which pauses after each time slice.
// All paced work takes turns, and so do its holders: a hundred large requests of one holder delay
// others no more than a single request does.

/**
 * Maximum time of work within one turn of the event loop. A small request needs about ten turns,
 * including its round trips to the database, and paced work makes each turn longer by this time.
 */
const sliceMs = 5;

export type Pacer = {
  /** Tells whether the work has run for 5 ms since the last rest. Cheap: only reads the clock. */
  due(): boolean;
  /** Waits for a turn of the event loop and restarts the clock. */
  rest(): Promise<void>;
};

/**
 * Waiting work by lane. The first lane has the next turn; within a lane, the first has waited
 * longest.
 */
const lanes = new Map<string, (() => void)[]>();

/** Lane of work without a holder, such as commits. It has priority over all other lanes. */
const ownLane = "";

/** Whether paced work has begun in this turn of the event loop. */
let isTurnTaken = false;

/**
 * Returns a pacer whose clock starts now. Work of one lane, such as a project, shares its turns;
 * work without a lane has priority. Use: `if (pacer.due()) await pacer.rest();`.
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

/** Same as `createPacer`, for work that takes milliseconds: waits until no other such work runs. */
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

/** Resumes one piece of work per turn, so that socket input is handled in between. */
function resumeOne(): void {
  const lane = lanes.has(ownLane) ? ownLane : lanes.keys().next().value;
  const waiting = lane === undefined ? undefined : lanes.get(lane);
  if (lane === undefined || waiting === undefined) return;
  const resume = waiting.shift();
  lanes.delete(lane);
  // Reinserted at the end, behind the other lanes.
  if (waiting.length > 0) lanes.set(lane, waiting);
  if (lanes.size > 0) setImmediate(resumeOne);
  resume?.();
}
