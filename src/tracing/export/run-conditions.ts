// Conditions on the experiment run of an event. An experiment's events carry their run in
// `metadata.run_id`, whether or not the field is in the catalogue. Those of an attempt that was
// repeated have left the run. Source: docs/decisions.md, 39.3, 39.6.

import type { Condition, Target } from "./condition.ts";

/** Key of an event's metadata: the session that took its place in its run. */
export const retriedBy = "retried_by";

const run = metadataOf("run_id");
const hasNotLeft: Condition = {
  target: metadataOf(retriedBy),
  test: { kind: "present" },
  negated: true,
};

function metadataOf(key: string): Target {
  return { kind: "bucket", bucket: "metadata", paths: [[key]] };
}

export function isOfRun(runId: string): readonly Condition[] {
  return [{ target: run, test: { kind: "equals", value: runId }, negated: false }, hasNotLeft];
}

export const isOfAnyRun: readonly Condition[] = [
  { target: run, test: { kind: "present" }, negated: false },
  hasNotLeft,
];
