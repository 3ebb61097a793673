// The query that every workflow answers, for the operator who waits for it. Imported by workflows
// and by whoever asks them, so it does nothing by itself.

import { defineQuery } from "@temporalio/workflow";

export type Progress = {
  /** What is going on, in a few words; `done` at the end. */
  readonly state: string;
  /** Events in the archive, or servers that have confirmed. */
  readonly done: number;
  /** Events, or servers, still to come. */
  readonly left: number;
  /** Further numbers, by what they count. */
  readonly [count: string]: number | string;
};

export const progressQuery = defineQuery<Progress>("progress");
