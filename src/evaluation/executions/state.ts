// States of an execution. Pure. Source: docs/experiments.md, "Execution".

/** `running`: models are called; `scoring`: the last scores are awaited. */
export type ExecutionState =
  "running" | "scoring" | "completed" | "cancelling" | "cancelled" | "failed";

export type EndState = "completed" | "cancelled" | "failed";

export function isEnded(state: ExecutionState): state is EndState {
  return state === "completed" || state === "cancelled" || state === "failed";
}

/** Datapoints of an execution, by outcome, and the cost of the model calls in US dollars. */
export type ExecutionCounts = {
  readonly done: number;
  readonly failed: number;
  readonly cost: number;
  /** Calls without a known price. */
  readonly unpriced: number;
};
