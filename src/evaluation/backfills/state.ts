// States of a backfill and their transitions, requested by users or by the workflow.
// Source: docs/evaluators.md, "Backfills".

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

/** Final states of a backfill. */
export type EndState = "completed" | "cancelled" | "failed";

/** States before the end. */
export type OpenState = Exclude<BackfillState, EndState>;

export type BackfillAction = "pause" | "resume" | "cancel";

/** Effect of an action: none, another state, another state with a new workflow, or a refusal. */
export type Step =
  | { readonly kind: "none" }
  | { readonly kind: "change"; readonly to: OpenState }
  | { readonly kind: "start"; readonly to: OpenState }
  | { readonly kind: "refuse" };

const none: Step = { kind: "none" };
const refuse: Step = { kind: "refuse" };
const to = (state: OpenState): Step => ({ kind: "change", to: state });

/**
 * Effect of each action in each state. While a backfill is pausing its workflow still runs, and
 * continues if it reads `running` again. A paused backfill has no workflow, so cancelling starts
 * one, which releases the rest.
 */
const steps: { readonly [A in BackfillAction]: { readonly [S in BackfillState]: Step } } = {
  pause: {
    running: to("pausing"),
    pausing: none,
    paused: none,
    cancelling: refuse,
    completed: refuse,
    cancelled: refuse,
    failed: refuse,
  },
  resume: {
    running: none,
    pausing: to("running"),
    paused: { kind: "start", to: "running" },
    cancelling: refuse,
    completed: refuse,
    cancelled: refuse,
    failed: refuse,
  },
  cancel: {
    running: to("cancelling"),
    pausing: to("cancelling"),
    paused: { kind: "start", to: "cancelling" },
    cancelling: none,
    cancelled: none,
    completed: refuse,
    failed: refuse,
  },
};

/** Returns the effect of an action in a state. */
export function stepOf(action: BackfillAction, state: BackfillState): Step {
  return steps[action][state];
}

/** Returns whether a backfill has ended and cannot continue. */
export function isEnded(state: BackfillState): state is EndState {
  return state === "completed" || state === "cancelled" || state === "failed";
}
