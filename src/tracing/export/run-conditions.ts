// Conditions on the experiment run of an event. An experiment's events carry their run in
// `metadata.run_id`, whether or not the field is in the catalogue.

import type { Condition, Target } from "./condition.ts";

const target: Target = { kind: "bucket", bucket: "metadata", paths: [["run_id"]] };

export function isOfRun(runId: string): Condition {
  return { target, test: { kind: "equals", value: runId }, negated: false };
}

export const isOfAnyRun: Condition = { target, test: { kind: "present" }, negated: false };
