// The totals of a session. Source: docs/spec.md, "Event record"; docs/decisions.md, 18.1.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { addTotals, emptyTotals, totalsOf } from "../../../src/tracing/sessions/totals.ts";

function anEvent(metadata: JsonObject) {
  return { event_type: "model", error: null, metadata, feedback: {} } as const;
}

describe("totalsOf", () => {
  test.each([
    { name: "reads numbers", metadata: { total_tokens: 7 }, want: { total_tokens: 7 } },
    { name: "reads numeric text", metadata: { total_tokens: "7" }, want: { total_tokens: 7 } },
    { name: "skips words", metadata: { total_tokens: "seven" }, want: { total_tokens: 0 } },
    { name: "skips hexadecimals", metadata: { total_tokens: "0x10" }, want: { total_tokens: 0 } },
    { name: "skips fractions", metadata: { total_tokens: 1.5 }, want: { total_tokens: 0 } },
    { name: "skips absurd counts", metadata: { total_tokens: 1e300 }, want: { total_tokens: 0 } },
    { name: "skips absurd costs", metadata: { cost: "1.7e308" }, want: { num_costs: 0, cost: 0 } },
    {
      // A pattern would look at these digits for an hour.
      name: "skips long texts",
      metadata: { cost: `${"1".repeat(1_000_000)}x`, total_tokens: `${"0".repeat(200)}1` },
      want: { num_costs: 0, total_tokens: 0 },
    },
    { name: "skips blanks", metadata: { total_tokens: " " }, want: { total_tokens: 0 } },
    {
      name: "adds up a total that was not sent",
      metadata: { prompt_tokens: 3, completion_tokens: "4" },
      want: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    },
    {
      name: "takes input and output where prompt and completion are absent",
      metadata: { input_tokens: 3, output_tokens: 4, prompt_tokens: 1 },
      want: { prompt_tokens: 1, completion_tokens: 4, total_tokens: 5 },
    },
    { name: "has no cost unless sent", metadata: {}, want: { num_costs: 0, cost: 0 } },
    { name: "counts a cost of zero", metadata: { cost: 0 }, want: { num_costs: 1, cost: 0 } },
  ])("$name", ({ metadata, want }) => {
    expect(totalsOf(anEvent(metadata))).toMatchObject({ num_events: 1, ...want });
  });

  test("counts of the session event itself nothing but its feedback", () => {
    const event = { ...anEvent({ cost: 1, total_tokens: 2 }), feedback: { rating: 1 } };

    const got = totalsOf({ ...event, event_type: "session" });

    expect(got).toEqual({ ...emptyTotals, num_feedback: 1 });
  });

  test("sums do not depend on the order of events", () => {
    const metadata = fc.record(
      { prompt_tokens: fc.oneof(fc.nat(), fc.nat().map(String)), total_tokens: fc.nat() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(metadata), (list) => {
        const sum = (items: readonly JsonObject[]) =>
          items
            .map((item) => totalsOf(anEvent(item)))
            .reduce((a, b) => addTotals(a, b), emptyTotals);
        expect(sum(list.toReversed())).toEqual(sum(list));
      }),
    );
  });

  test("what is added and taken away leaves nothing", () => {
    const totals = totalsOf(anEvent({ total_tokens: 5, cost: 0.25 }));

    expect(addTotals(addTotals(emptyTotals, totals), totals, -1)).toEqual(emptyTotals);
  });
});
