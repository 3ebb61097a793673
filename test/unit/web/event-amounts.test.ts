// Tokens and costs in the list of events.

import { expect, test } from "vitest";
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
