// The overview: what stands on the page of charts before there is a dashboard.

import type { FilterRow } from "../../design/filters.ts";
import type { Tile } from "./layout.ts";
import type { Question } from "./question.ts";

export type OverviewTile = Tile & { readonly name: string; readonly question: Question };

const models: readonly FilterRow[] = [
  { field: "event_type", operator: "is", value: "model", type: "string" },
];

export const overview: readonly OverviewTile[] = [
  tile("Calls of models", [0, 0, 3, 2], { kind: "scalar", measures: [{ metric: "event_count" }] }),
  tile("Error rate", [3, 0, 3, 2], { kind: "scalar", measures: [{ metric: "error_rate" }] }),
  tile("Cost", [6, 0, 3, 2], { kind: "scalar", measures: [{ metric: "cost" }] }),
  tile("Slow calls", [9, 0, 3, 2], {
    kind: "scalar",
    measures: [{ metric: "duration", aggregation: "p95" }],
  }),
  tile("Calls by model", [0, 2, 6, 5], {
    kind: "time_series",
    measures: [{ metric: "event_count" }],
    splitBy: "model",
    splits: 5,
  }),
  tile("Errors over time", [6, 2, 6, 5], {
    kind: "time_series",
    measures: [{ metric: "event_count" }],
    filters: [...models, { field: "error", operator: "exists" }],
  }),
  tile("Cost by model", [0, 7, 6, 5], {
    kind: "time_series",
    measures: [{ metric: "cost" }],
    splitBy: "model",
    splits: 5,
  }),
  tile("Duration of calls", [6, 7, 6, 5], {
    kind: "time_series",
    measures: [
      { metric: "duration", aggregation: "median" },
      { metric: "duration", aggregation: "p95" },
    ],
  }),
  tile("Tokens over time", [0, 12, 6, 5], {
    kind: "time_series",
    measures: [{ metric: "prompt_tokens" }, { metric: "completion_tokens" }],
  }),
  tile("Cost and calls by model", [6, 12, 6, 5], {
    kind: "table",
    measures: [
      { metric: "cost" },
      { metric: "event_count" },
      { metric: "duration", aggregation: "p95" },
    ],
    splitBy: "model",
  }),
  tile("Most expensive users", [0, 17, 6, 5], {
    kind: "categorical",
    measures: [{ metric: "cost" }, { metric: "event_count" }],
    splitBy: "user_properties.user_id",
  }),
  tile("Distribution of durations", [6, 17, 6, 5], {
    kind: "histogram",
    measures: [{ metric: "duration" }],
  }),
];

function tile(
  name: string,
  [x, y, w, h]: readonly [number, number, number, number],
  question: Omit<Question, "filters"> & Partial<Question>,
): OverviewTile {
  return { id: name, name, x, y, w, h, question: { filters: models, ...question } };
}
