// Tokens that the Vercel AI SDK tells, in disjoint parts. Source: docs/decisions.md, 18.2.

import { expect, test } from "vitest";
import { usageOf } from "../../../src/generation/providers/ai-sdk/completion.ts";
import { usageFrom } from "../../../src/generation/usage.ts";

const none = undefined;

test.each([
  {
    name: "all parts",
    input: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
    output: { total: 50, text: 35, reasoning: 15 },
    want: {
      ...usageFrom(() => 0),
      input: 60,
      cacheRead: 30,
      cacheWrite: 10,
      output: 35,
      reasoning: 15,
    },
  },
  {
    name: "totals alone",
    input: { total: 100, noCache: none, cacheRead: none, cacheWrite: none },
    output: { total: 50, text: none, reasoning: none },
    want: { ...usageFrom(() => 0), input: 100, output: 50 },
  },
  {
    name: "totals with some parts, which are in them",
    input: { total: 100, noCache: none, cacheRead: 30, cacheWrite: none },
    output: { total: 50, text: none, reasoning: 20 },
    want: { ...usageFrom(() => 0), input: 70, cacheRead: 30, output: 30, reasoning: 20 },
  },
  {
    name: "parts that come to more than the whole",
    input: { total: 10, noCache: -20, cacheRead: 30, cacheWrite: none },
    output: { total: Number.NaN, text: none, reasoning: 5 },
    want: { ...usageFrom(() => 0), input: 0, cacheRead: 30, reasoning: 5 },
  },
])("$name are read", ({ input, output, want }) => {
  expect(usageOf({ inputTokens: input, outputTokens: output })).toEqual(want);
});

test("no totals are no usage, which is not zero tokens", () => {
  const inputTokens = { total: none, noCache: none, cacheRead: none, cacheWrite: none };
  const outputTokens = { total: none, text: none, reasoning: none };

  expect(usageOf({ inputTokens, outputTokens })).toBeUndefined();
});
