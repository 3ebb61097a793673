// The overview: what stands on the page of charts before there is a dashboard.

import type { FilterRow } from "../../design/filters.ts";
import { hasAverage, scoredFilters, type ScoreField } from "../evaluators/scores.ts";
import type { Tile } from "./layout.ts";
import type { Question } from "./question.ts";

export type OverviewTile = Tile & { readonly name: string; readonly question: Question };

const models: readonly FilterRow[] = [
  { field: "event_type", operator: "is", value: "model", type: "string" },
];

const ofCalls: readonly OverviewTile[] = [
  tile("Calls of models", [0, 0, 3, 2], { kind: "scalar", measures: [{ metric: "event_count" }] }),
  tile("Error rate", [3, 0, 3, 2], { kind: "scalar", measures: [{ metric: "error_rate" }] }),
  tile("Cost with estimates", [6, 0, 3, 2], { kind: "scalar", measures: [{ metric: "cost" }] }),
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

/** Number of scores that have a tile. */
export const scoresShown = 6;

/** Returns the fields of scores with an average, by name. */
export function averagedScores(fields: readonly ScoreField[]): readonly ScoreField[] {
  const scores = fields.filter((field) => field.name.startsWith("metrics.") && hasAverage(field));
  return scores.toSorted((one, other) => one.name.localeCompare(other.name));
}

/** Returns the tiles: calls of models, and below them the first scores, three in a row. */
export function overviewOf(scores: readonly ScoreField[]): readonly OverviewTile[] {
  const below = Math.max(...ofCalls.map(({ y, h }) => y + h));
  const ofScores = scores.slice(0, scoresShown).map((field, at) => {
    const name = `Average of ${field.name.slice("metrics.".length)}`;
    const place = [(at % 3) * 4, below + Math.floor(at / 3) * 4, 4, 4] as const;
    const measures = [{ metric: field.name, aggregation: "avg" }];
    return tile(name, place, { kind: "time_series", measures, filters: scoredFilters(field) });
  });
  return [...ofCalls, ...ofScores];
}

function tile(
  name: string,
  [x, y, w, h]: readonly [number, number, number, number],
  question: Omit<Question, "filters"> & Partial<Question>,
): OverviewTile {
  return { id: name, name, x, y, w, h, question: { filters: models, ...question } };
}
