// What the preview of an alert asks for in each past period, as a check measures it. Pure.

import type { FilterRow } from "../../design/filters.ts";
import { withEventType } from "../charts/chart-messages.ts";
import { chartAggregations } from "./alert-values.ts";
import { aggregationOf, type Draft, meetingFilters } from "./draft.ts";

export type Measure = { readonly metric: string; readonly aggregation?: string };

export const eventCount: Measure = { metric: "event_count" };

export type Asked = {
  /** The measure of the alert, and the number of events. */
  readonly measures: readonly Measure[];
  readonly filters: readonly FilterRow[];
  /** Filters of the events that a check counts, whether they meet the threshold or not. */
  readonly countedFilters: readonly FilterRow[];
};

/** Returns what the preview of a draft asks for in each period. */
export function askedOf(draft: Draft): Asked {
  const aggregation = chartAggregations[aggregationOf(draft)] ?? "avg";
  const isPerEvent = draft.alertType === "PER_EVENT";
  const measure = isPerEvent ? eventCount : { metric: draft.projection, aggregation };
  const countedFilters = withEventType(draft.filters);
  const filters = [...countedFilters, ...meetingFilters(draft)];
  return { measures: [measure, eventCount], filters, countedFilters };
}
