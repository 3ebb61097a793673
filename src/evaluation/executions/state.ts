// States of an execution. Pure. Source: docs/experiments.md, "Execution".

import type { EndState } from "../end-state.ts";

/** `running`: models are called; `scoring`: the last scores are awaited. */
export type ExecutionState = "running" | "scoring" | "cancelling" | EndState;

/** Datapoints of an execution, by outcome, and the cost of the model calls in US dollars. */
export type ExecutionCounts = {
  readonly done: number;
  readonly failed: number;
  readonly cost: number;
  /** Calls without a known price. */
  readonly unpriced: number;
};
