// Prices: which row of the table a call is, what its tokens cost, and why a price is not known.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { calcPrice } from "@pydantic/genai-prices";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { priceTableName } from "../../../src/generation/prices/price-table.ts";
import { createPrices } from "../../../src/generation/prices/prices.ts";
import type { PricedCall } from "../../../src/generation/prices/prices.ts";
import { type Usage, usageFrom } from "../../../src/generation/usage.ts";

const atMs = Date.UTC(2026, 8, 1);
const none = usageFrom(() => 0);

function aCall(fields: Partial<PricedCall> = {}): PricedCall {
  const usage = { ...none, input: 1_000, output: 100 };
  return { provider: "openai", providerType: undefined, model: "gpt-4o", usage, atMs, ...fields };
}

function estimate(fields: Partial<PricedCall> = {}) {
  return createPrices().estimate(aCall(fields));
}

describe("a known price", () => {
  test("is the table's, and names the table that is installed", () => {
    const main = createRequire(import.meta.url).resolve("@pydantic/genai-prices");
    const text = readFileSync(new URL("../package.json", `file://${main}`), "utf8");
    const { version } = JSON.parse(text) as { version: string };

    expect(priceTableName).toMatch(
      new RegExp(`^genai-prices ${version.replaceAll(".", "\\.")} \\(\\d{4}-\\d{2}-\\d{2}\\)$`),
    );
    expect(estimate()).toEqual({ cost: 0.0035, price_table: priceTableName });
  });

  test("counts each token once: cached ones at their own rate, reasoning at that of output", () => {
    const usage = { ...none, input: 100, cacheRead: 900, output: 40, reasoning: 60 };
    // gpt-4o: $2.50 a million, $1.25 from the cache, $10 answered.
    expect(estimate({ usage }).cost).toBe((100 * 2.5 + 900 * 1.25 + 100 * 10) / 1e6);
  });

  test("counts audio at its own rate, and as text for a model without one", () => {
    const usage = { ...none, input: 100, inputAudio: 1_000, output: 10, outputAudio: 2_000 };

    // gpt-4o: $2.50 and $10 a million.
    expect(estimate({ usage }).cost).toBe((1_100 * 2.5 + 2_010 * 10) / 1e6);
    // gpt-4o-realtime-preview: $5 and $20 of text, $40 and $80 of audio.
    expect(estimate({ model: "gpt-4o-realtime-preview", usage }).cost).toBe(
      (100 * 5 + 1_000 * 40 + 10 * 20 + 2_000 * 80) / 1e6,
    );
  });

  test("counts what is written to a cache at its own rate", () => {
    const cost = (usage: Partial<Usage>) => {
      const call = { provider: "anthropic", model: "claude-sonnet-4-5-20250929" };
      return estimate({ ...call, usage: { ...none, ...usage } }).cost;
    };

    expect(cost({ input: 1_000_000 })).toBe(6);
    expect(cost({ input: 100_000 })).toBe(0.3);
    expect(cost({ cacheWrite: 100_000 })).toBe(0.375);
    expect(cost({ cacheRead: 100_000 })).toBe(0.03);
  });

  test("is that of the day of the call", () => {
    const call = { provider: "deepseek", model: "deepseek-chat" };
    const days = [Date.UTC(2024, 0, 1), Date.UTC(2025, 2, 1, 12), Date.UTC(2026, 0, 1)];
    const costs = days.map((day) => estimate({ ...call, atMs: day }).cost);
    const options = (day: number) => ({ providerId: "deepseek", timestamp: new Date(day) });
    const tokens = { input_tokens: 1_000, output_tokens: 100 };
    const table = days.map((day) => calcPrice(tokens, "deepseek-chat", options(day))?.total_price);

    expect(costs).toEqual(table.map((price) => Number((price ?? 0).toPrecision(12))));
    expect(new Set(costs).size).toBeGreaterThan(1);
  });

  test("is what the table itself calculates, whatever the usage", () => {
    const models = [
      ["openai", "gpt-4o"],
      ["openai", "o3-mini"],
      ["anthropic", "claude-opus-4-1-20250805"],
      ["google", "gemini-2.5-pro"],
      ["mistral", "mistral-large-latest"],
      ["perplexity", "sonar-deep-research"],
      ["aws", "us.anthropic.claude-3-5-sonnet-20241022-v2:0"],
    ] as const;
    const prices = createPrices();
    const tokens = fc.nat({ max: 2_000_000 });
    const usages = fc.record({
      input: fc.integer({ min: 1, max: 2_000_000 }),
      inputAudio: tokens,
      cacheRead: tokens,
      cacheWrite: tokens,
      output: tokens,
      outputAudio: tokens,
      reasoning: tokens,
    });
    fc.assert(
      fc.property(fc.constantFrom(...models), usages, ([provider, model], usage) => {
        const { input, inputAudio, cacheRead, cacheWrite, output, outputAudio, reasoning } = usage;
        const prompt = input + inputAudio + cacheRead + cacheWrite;
        const table = calcPrice(
          {
            input_tokens: prompt,
            input_audio_tokens: inputAudio,
            cache_read_tokens: cacheRead,
            cache_write_tokens: cacheWrite,
            output_tokens: output + outputAudio + reasoning,
            output_audio_tokens: outputAudio,
            output_reasoning_tokens: reasoning,
          },
          model,
          { providerId: provider, timestamp: new Date(atMs) },
        );
        const got = prices.estimate(aCall({ provider, model, usage })).cost;

        expect(got).toBeCloseTo(table?.total_price ?? Number.NaN, 9);
      }),
    );
  });
});

describe("the row of a model", () => {
  const rows: readonly (readonly [string, Partial<PricedCall>, Partial<PricedCall>])[] = [
    ["the type of a connection", { provider: "prod", providerType: "anthropic" }, {}],
    ["an instrumentation's name of a provider", { provider: "anthropic.messages" }, {}],
    ["the model alone", { provider: "litellm" }, {}],
    ["no provider at all", { provider: "" }, {}],
    ["a gateway's name of the model", { model: "anthropic/claude-opus-4-1-20250805" }, {}],
    ["a connection to any server", { provider: "x", providerType: "openai_compatible" }, {}],
  ];
  test.each(rows)("is found by %s", (_, fields) => {
    const model = "claude-opus-4-1-20250805";
    const known = estimate({ provider: "anthropic", model });

    expect(known.cost).toBeGreaterThan(0);
    expect(estimate({ provider: "gateway", model, ...fields })).toEqual(known);
  });

  test.each([
    ["azure.ai.openai", "gpt-35-turbo", "azure"],
    ["AzureOpenAI", "gpt-35-turbo", "azure"],
    ["aws.bedrock", "anthropic.claude-3-5-sonnet-20241022-v2:0", "aws"],
    ["groq.chat", "llama-3.3-70b-versatile", "groq"],
    ["gcp.vertex_ai", "gemini-2.0-flash", "google"],
    ["xai", "grok-4", "x-ai"],
    ["x_ai", "grok-4", "x-ai"],
    ["", "text-embedding-3-small", "openai"],
    ["bedrock", "bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "aws"],
  ])("of provider %j and model %j is one of %s", (provider, model, providerId) => {
    const name = model.slice(model.indexOf("/") + 1);
    const tokens = { input_tokens: 1_000, output_tokens: 0 };
    const table = calcPrice(tokens, name, { providerId, timestamp: new Date(atMs) });
    const usage = { ...none, input: 1_000 };

    expect(estimate({ provider, model, usage }).cost).toBeCloseTo(table?.total_price ?? NaN, 12);
  });

  test("is that of the model that was asked, where the answer names one that is not there", () => {
    const call = { model: "gpt-4o-2031-01-01", requestedModel: "gpt-4o" };

    expect(estimate(call)).toEqual(estimate());
    expect(estimate({ ...call, requestedModel: "mine" }).reason).toContain("gpt-4o-2031-01-01");
  });
});

describe("an unknown price is null, with the reason", () => {
  test.each([
    ["no tokens were told", { usage: undefined }, /told no token counts$/],
    [
      "a stream was not asked for its tokens",
      { usage: undefined, isUsageUnasked: true },
      /stream_options\.include_usage/,
    ],
    ["0 tokens were told", { usage: none }, /0 tokens/],
    ["the model is not in the table", { model: "nobody-s" }, /no price of nobody-s of openai/],
    ["no model is named", { model: "" }, /no model is named/],
    ["the name is none", { model: "gpt-4o".repeat(100) }, /too long/],
    ["a local program runs it", { provider: "ollama", model: "deepseek-r1" }, /bills no tokens/],
    ["a local program is in its name", { provider: "", model: "ollama/gpt-4o" }, /bills no tokens/],
    [
      "the table has the row and no price",
      { provider: "github-copilot" },
      /no price of tokens of github-copilot\/gpt-4o/,
    ],
    [
      "only a part of it has a price",
      { model: "text-embedding-3-small" },
      /no price of output tokens of openai\/text-embedding-3-small/,
    ],
  ])("when %s", (_, fields, reason) => {
    const got = estimate(fields);

    expect(got).toEqual({
      cost: null,
      reason: expect.stringMatching(reason) as string,
      price_table: priceTableName,
    });
  });
});

describe("a price of one's own", () => {
  const own = [
    { name: "mine", rates: { input_mtok: 1, output_mtok: 2 } },
    { name: "ft:gpt-4o:*", rates: { input_mtok: 3, output_mtok: 4 } },
    { name: "ft:gpt-4o:acme*", rates: { input_mtok: 5, output_mtok: 6, cache_read_mtok: 1 } },
    { name: "Azure/gpt-4o", rates: { input_mtok: 0, output_mtok: 0 } },
    { name: "embedder", rates: { input_mtok: 0.5 } },
  ];
  const prices = createPrices(own);
  const costOf = (fields: Partial<PricedCall>) => prices.estimate(aCall(fields)).cost;

  test.each<[string, Partial<PricedCall>, number | null]>([
    ["of a model that the table lacks", { model: "mine" }, 0.0012],
    ["of a model on a machine of one's own", { provider: "vllm", model: "Mine" }, 0.0012],
    ["by the beginning of its name", { model: "ft:gpt-4o:other:1" }, 0.0034],
    ["by the longest beginning", { model: "ft:gpt-4o:acme:1" }, 0.0056],
    ["of one provider, which may be nothing", { provider: "azure" }, 0],
    ["of one kind of provider", { provider: "house", providerType: "azure" }, 0],
    ["that other providers do not have", { provider: "openai" }, 0.0035],
    ["of the requested model", { model: "gpt-4o", requestedModel: "mine" }, 0.0012],
    ["that is found by no other name", { provider: "", model: "not-mine" }, null],
  ])("is %s", (_, fields, cost) => {
    expect(costOf(fields)).toBe(cost);
  });

  test("counts cached tokens at their rate, or else at that of input", () => {
    const usage = { ...none, input: 100, cacheRead: 900 };

    expect(costOf({ model: "ft:gpt-4o:acme:1", usage })).toBe((100 * 5 + 900) / 1e6);
    expect(costOf({ model: "mine", usage })).toBe(1_000 / 1e6);
  });

  test("leaves a part without a rate unknown", () => {
    const { cost, reason } = prices.estimate(aCall({ model: "embedder" }));

    expect(cost).toBeNull();
    expect(reason).toBe("the table has no price of output tokens of own prices/embedder");
    expect(costOf({ model: "embedder", usage: { ...none, input: 1_000 } })).toBe(0.0005);
  });

  test("names a table that differs from that of other prices", () => {
    const tables = [[], own, own.slice(1)].map((given) => createPrices(given).table);

    expect(new Set(tables).size).toBe(3);
    expect(tables.every((table) => table.startsWith(priceTableName))).toBe(true);
    expect(prices.estimate(aCall())).toMatchObject({ price_table: tables[1] });
  });
});

test("neither the table nor anything else is fetched, and nothing is printed", () => {
  const fetching = vi.spyOn(globalThis, "fetch");
  const warning = vi.spyOn(console, "warn");
  try {
    for (const model of ["gpt-4o", "sonar-deep-research", "whisper-1", "toString"]) {
      estimate({ model });
      estimate({ model, provider: "perplexity" });
    }

    expect(fetching).not.toHaveBeenCalled();
    expect(warning).not.toHaveBeenCalled();
  } finally {
    vi.restoreAllMocks();
  }
});
