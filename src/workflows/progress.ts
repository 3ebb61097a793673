// Query that every workflow answers with its progress, for operators. Without side effects, because
// workflows import this file.

import { defineQuery } from "@temporalio/workflow";

export type Progress = {
  /** Current step in a few words; `done` at the end. */
  readonly state: string;
  /** Number of archived events, or of servers that have confirmed. */
  readonly done: number;
  /** Number of events or servers that remain. */
  readonly left: number;
  /** Further numbers by name. */
  readonly [count: string]: number | string;
};

export const progressQuery = defineQuery<Progress>("progress");
