// The cost of events by what their senders say: which have an estimate, and how tokens are split.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { createEstimateCost } from "../../../src/generation/prices/event-usage.ts";
import { usageFrom } from "../../../src/generation/usage.ts";
import { createPrices } from "../../../src/generation/prices/prices.ts";
import type { PricedCall } from "../../../src/generation/prices/prices.ts";
import type { EventType } from "../../../src/tracing/events/event.ts";

const config = { model: "gpt-4o", provider: "openai" };

type Fields = { readonly type?: EventType; readonly config?: JsonObject };

/** Returns the estimate of an event and the call that it was priced as. */
function priced(metadata: JsonObject, fields: Fields = {}) {
  const calls: PricedCall[] = [];
  const prices = createPrices();
  const estimateCost = createEstimateCost({
    ...prices,
    estimate(call) {
      calls.push(call);
      return prices.estimate(call);
    },
  });
  const estimate = estimateCost({
    event_type: fields.type ?? "model",
    start_time: 1_700_000_000_000,
    config: fields.config ?? config,
    metadata,
  });
  return { estimate, call: calls[0], usage: calls[0]?.usage };
}

describe("an event without an estimate", () => {
  test.each<[string, JsonObject, Fields]>([
    ["is no model event", { prompt_tokens: 1, completion_tokens: 1 }, { type: "chain" }],
    ["has no token counts", { cost: 1 }, {}],
    ["has counts that are none", { prompt_tokens: "many", completion_tokens: -1 }, {}],
  ])("%s", (_, metadata, fields) => {
    expect(priced(metadata, fields).estimate).toBeNull();
  });
});

describe("tokens", () => {
  const usage = { ...usageFrom(() => 0), input: 10, output: 4 };

  test.each<[string, JsonObject, Partial<typeof usage>]>([
    ["by OpenAI's names", { prompt_tokens: 10, completion_tokens: 4 }, {}],
    ["by Anthropic's names", { input_tokens: 10, output_tokens: 4 }, {}],
    ["as text", { prompt_tokens: "10", completion_tokens: " 4 " }, {}],
    ["of the prompt alone", { prompt_tokens: 10 }, { output: 0 }],
    [
      "read from a cache, among those of the prompt",
      { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14, cache_read_input_tokens: 3 },
      { input: 7, cacheRead: 3 },
    ],
    [
      "read from a cache, beside those of the prompt by the total",
      { prompt_tokens: 10, completion_tokens: 4, total_tokens: 17, cache_read_input_tokens: 3 },
      { cacheRead: 3 },
    ],
    [
      "read from a cache, more than those of the prompt",
      { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 30 },
      { cacheRead: 30 },
    ],
    [
      "as Anthropic's API counts them",
      { input_tokens: 10, output_tokens: 4, cache_creation_input_tokens: 2 },
      { cacheWrite: 2 },
    ],
    [
      "written to a cache, among those of the prompt",
      { prompt_tokens: 10, completion_tokens: 4, cache_write_input_tokens: 2 },
      { input: 8, cacheWrite: 2 },
    ],
    [
      "of reasoning, among those of the answer",
      { prompt_tokens: 10, completion_tokens: 4, reasoning_tokens: 3 },
      { output: 1, reasoning: 3 },
    ],
    [
      "of reasoning, beside those of the answer by the total",
      { prompt_tokens: 10, completion_tokens: 4, total_tokens: 17, reasoning_tokens: 3 },
      { reasoning: 3 },
    ],
    [
      "of a cache and of reasoning, both beside",
      {
        prompt_tokens: 10,
        completion_tokens: 4,
        total_tokens: 19,
        cache_read_input_tokens: 2,
        reasoning_tokens: 3,
      },
      { cacheRead: 2, reasoning: 3 },
    ],
    [
      "in the parts that the service writes",
      {
        usage: { input: 10, cache_read: 1, cache_write: 2, output: 4, reasoning: 3 },
        prompt_tokens: 13,
        completion_tokens: 7,
      },
      { cacheRead: 1, cacheWrite: 2, reasoning: 3 },
    ],
    [
      "of audio in the parts that the service writes",
      {
        usage: {
          input: 10,
          input_audio: 5,
          cache_read: 0,
          cache_write: 0,
          output: 4,
          reasoning: 0,
        },
      },
      { inputAudio: 5 },
    ],
    [
      "beside a usage of another form",
      { usage: { input: 99 }, prompt_tokens: 10, completion_tokens: 4 },
      {},
    ],
  ])("%s are split into parts that do not overlap", (_, metadata, parts) => {
    expect(priced(metadata).usage).toEqual({ ...usage, ...parts });
  });

  test.each([{ completion_tokens: 4 }, { total_tokens: 14 }])(
    "without those that were sent make no price: %j",
    (metadata) => {
      expect(priced(metadata).estimate).toMatchObject({
        cost: null,
        reason: expect.stringContaining("metadata.prompt_tokens is absent") as string,
      });
    },
  );
});

describe("the call", () => {
  const tokens = { prompt_tokens: 1, completion_tokens: 1 };

  test("is named by the model that answered, then by the one that was asked", () => {
    const { call } = priced({ ...tokens, response_model: "gpt-4o-2024-08-06" });

    expect(call).toMatchObject({
      provider: "openai",
      providerType: undefined,
      model: "gpt-4o-2024-08-06",
      requestedModel: "gpt-4o",
      atMs: 1_700_000_000_000,
    });
  });

  test("has the provider and its type from the metadata where only they say it", () => {
    const metadata = { ...tokens, provider: "prod", provider_type: "azure" };
    const { call } = priced(metadata, { config: { model: "gpt-4o" } });

    expect(call).toMatchObject({ provider: "prod", providerType: "azure" });
  });

  test("without a name is unnamed, whatever stands in the place of one", () => {
    const odd = { model: { name: "gpt-4o" }, provider: ["x"] };

    expect(priced(tokens, { config: odd }).call).toMatchObject({ provider: "", model: "" });
    const long = { model: "m".repeat(300), provider: "" };
    expect(priced(tokens, { config: long }).call).toMatchObject({ model: "" });
  });
});
