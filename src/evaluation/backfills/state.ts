// States of a backfill, and what may become of each: asked for by people, or by what the workflow
// finds. Called by backfills.ts and backfill-runs.ts. Source: docs/evaluators.md, "Backfills".

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

/** What a backfill ends as. */
export type EndState = "completed" | "cancelled" | "failed";

/** What it is before that. */
export type OpenState = Exclude<BackfillState, EndState>;

export type BackfillAction = "pause" | "resume" | "cancel";

/** What becomes of a backfill: nothing, another state, or another state with a new workflow. */
export type Step =
  | { readonly kind: "none" }
  | { readonly kind: "change"; readonly to: OpenState }
  | { readonly kind: "start"; readonly to: OpenState }
  | { readonly kind: "refuse" };

const none: Step = { kind: "none" };
const refuse: Step = { kind: "refuse" };
const to = (state: OpenState): Step => ({ kind: "change", to: state });

/**
 * What an action does in each state. While one is pausing its workflow still runs, and goes on when
 * it reads that it is to. One that is paused has no workflow: to cancel it takes one too, which
 * lets go of what the backfill held.
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

/** Returns what an action does to a backfill in a state. */
export function stepOf(action: BackfillAction, state: BackfillState): Step {
  return steps[action][state];
}

/** Tells whether a backfill has ended, and will not go on. */
export function isEnded(state: BackfillState): state is EndState {
  return state === "completed" || state === "cancelled" || state === "failed";
}
