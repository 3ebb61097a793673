// An evaluator that scores each event of test/support/load.ts with its mark, and its stored scores.

import { expect } from "vitest";
import type { Database } from "../../src/postgres/database.ts";

/** The score of an event is its mark, which no other event has. */
export async function addEvaluator(url: string, key: string): Promise<void> {
  const response = await fetch(`${url}/v1/metrics`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      name: "mark",
      type: "PYTHON",
      return_type: "string",
      enabled_in_prod: true,
      criteria: "result = metadata['mark']",
      sampling_percentage: 100,
      filters: { filterArray: [{ field: "event_type", operator: "is", value: "tool" }] },
    }),
  });
  expect(response.status, await response.text()).toBe(200);
}

/**
 * Numbers of scores, of events that chunks have counted as scored, and of events with the right
 * score. Each commit of scores adds to its chunk, so that one that counted twice shows.
 */
export type Scores = { readonly ended: number; readonly counted: number; readonly right: number };

export async function readScores(database: Database): Promise<Scores> {
  const [row] = await database.sql()<Scores[]>`
    select
      (select count(*)::integer from scores where state = 'scored') as ended,
      (select coalesce(sum(scored), 0)::integer from evaluation_chunks) as counted,
      (select count(*)::integer from events where metrics -> 'mark' = metadata -> 'mark') as right`;
  return row ?? { ended: -1, counted: -1, right: -1 };
}
