// Final states of work that a workflow does: backfills of metrics, executions of runs.

export type EndState = "completed" | "cancelled" | "failed";

/** Returns whether work has ended and cannot continue. */
export function isEnded<State extends string>(state: State): state is Extract<State, EndState> {
  return state === "completed" || state === "cancelled" || state === "failed";
}
