// Tokens and costs in the list of events.

import fc from "fast-check";
import { expect, test } from "vitest";
import { amountKeys, totalsOf } from "../../../src/tracing/sessions/totals.ts";
import { amountsOf } from "../../../src/web/app/pages/traces/event-amounts.ts";

test.each([
  {
    name: "a total that was sent",
    metadata: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 17 },
    want: { prompt: 10, completion: 5, tokens: 17 },
  },
  {
    name: "the sum of both parts without a total",
    metadata: { prompt_tokens: 10, completion_tokens: 5 },
    want: { prompt: 10, completion: 5, tokens: 15 },
  },
  {
    name: "the other names, and numbers as text",
    metadata: { input_tokens: "10", output_tokens: "5", cost: "0.25" },
    want: { prompt: 10, completion: 5, tokens: 15, cost: 0.25 },
  },
  { name: "nothing that was not sent", metadata: { cost: "free" }, want: {} },
])("an event has $name", ({ metadata, want }) => {
  expect(amountsOf(metadata)).toEqual(want);
});

test("an event has the amounts that it adds to its session", () => {
  const texts = [
    "7",
    " 0.25 ",
    "1e3",
    "0x10",
    "0b1",
    "-4",
    "Infinity",
    "",
    "1_000",
    "9".repeat(101),
  ];
  const value = fc.constantFrom(...texts, 7, 0.5, -4, 1e15, 1e16, true, null);
  const metadata = fc.dictionary(fc.constantFrom(...amountKeys), value);

  fc.assert(
    fc.property(metadata, (some) => {
      const event = { event_type: "model" as const, error: null, metadata: some, feedback: {} };
      const totals = totalsOf(event);
      const { prompt = 0, completion = 0, tokens = 0, cost } = amountsOf(some);

      expect({
        prompt,
        completion,
        tokens,
        cost: cost ?? 0,
        costs: cost === undefined ? 0 : 1,
      }).toEqual({
        prompt: totals.prompt_tokens,
        completion: totals.completion_tokens,
        tokens: totals.total_tokens,
        cost: totals.cost,
        costs: totals.num_costs,
      });
    }),
  );
});
