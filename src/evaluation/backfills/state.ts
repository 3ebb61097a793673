// States of a backfill and their transitions, requested by users or by the workflow.
// Source: docs/evaluators.md, "Backfills".

import { type EndState, isEnded } from "../end-state.ts";

export const backfillStates = [
  "running",
  "pausing",
  "paused",
  "completed",
  "cancelling",
  "cancelled",
  "failed",
] as const;
export type BackfillState = (typeof backfillStates)[number];

/** States before the end. */
export type OpenState = Exclude<BackfillState, EndState>;

export type BackfillAction = "pause" | "resume" | "cancel";

/** Effect of an action: none, another state, another state with a new workflow, or a refusal. */
export type Step =
  | { readonly kind: "none" }
  | { readonly kind: "change"; readonly to: OpenState }
  | { readonly kind: "start"; readonly to: OpenState }
  | { readonly kind: "refuse" };

const targets = { pause: "pausing", resume: "running", cancel: "cancelling" } as const;

/**
 * Returns the effect of an action in a state. The workflow of a pausing backfill still runs, and
 * continues if it reads `running` again. A paused backfill has no workflow, so cancelling starts a
 * workflow, which releases the remaining chunks.
 */
export function stepOf(action: BackfillAction, state: BackfillState): Step {
  if (action === "cancel" && (state === "cancelling" || state === "cancelled")) {
    return { kind: "none" };
  }
  if (isEnded(state) || state === "cancelling") return { kind: "refuse" };
  const to = targets[action];
  if (state === to || (action === "pause" && state === "paused")) return { kind: "none" };
  return { kind: state === "paused" ? "start" : "change", to };
}
