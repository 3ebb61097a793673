// What becomes of a backfill in each state when people ask for something.

import { describe, expect, test } from "vitest";
import { isEnded } from "../../../src/evaluation/end-state.ts";
import { backfillStates, stepOf } from "../../../src/evaluation/backfills/state.ts";

const actions = ["pause", "resume", "cancel"] as const;

describe("stepOf", () => {
  test.each(actions)("refuses to %s what has completed or failed", (action) => {
    expect(stepOf(action, "completed").kind).toBe("refuse");
    expect(stepOf(action, "failed").kind).toBe("refuse");
  });

  test("starts a workflow where none runs: for what is paused, and only for that", () => {
    const starting = actions.flatMap((action) =>
      backfillStates.filter((state) => stepOf(action, state).kind === "start"),
    );

    expect(starting).toEqual(["paused", "paused"]);
  });

  test.each(actions)("to %s twice is to do it once", (action) => {
    for (const state of backfillStates) {
      const step = stepOf(action, state);
      if ("to" in step) expect(stepOf(action, step.to).kind).toBe("none");
    }
  });

  test("ends nothing by itself: only a workflow does", () => {
    for (const action of actions) {
      for (const state of backfillStates) {
        const step = stepOf(action, state);
        if ("to" in step) expect(isEnded(step.to)).toBe(false);
      }
    }
  });
});
