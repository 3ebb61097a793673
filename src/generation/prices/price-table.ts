// Looks up a model in the price table that is installed with the service, and calculates costs from
// its row. The table is never updated over the network.
// Source: docs/decisions.md, 18.2; docs/generations.md.

import {
  calcPrice,
  findProvider,
  type ModelInfo,
  type ModelPrice,
  type Provider,
} from "@pydantic/genai-prices";
import type { ProviderType } from "../provider.ts";
import { completionTokens, promptTokens, type Usage, usageFrom } from "../usage.ts";

/** Name, version and date of the table; a test compares them with the installed package. */
export const priceTableName = "genai-prices 0.1.8 (2026-09-23)";

export type Price = {
  /** Provider and model as named in the table. */
  readonly name: string;
  /** Returns US dollars, or the part of the usage that has no price in the table. */
  costOf(usage: Usage, atMs: number): number | { readonly unpriced: string };
};

export type PricedModel = {
  /** Name of a connection, or the provider according to the sender of an event. */
  readonly provider: string;
  readonly providerType: ProviderType | undefined;
  readonly model: string;
};

/** Programs that run models on private machines, to which vendors' prices do not apply. */
const ownMachines: ReadonlySet<string> = new Set([
  "ollama",
  "vllm",
  "lmstudio",
  "lm-studio",
  "lm_studio",
  "llamacpp",
  "llama.cpp",
  "llama_cpp",
  "llamafile",
  "localai",
  "sglang",
  "tgi",
  "transformers",
]);

/** Returns whether the provider, or the first part of the model's name, is such a program. */
export function isOwnMachine({ provider, providerType, model }: PricedModel): boolean {
  const isNamed = providerType === undefined || providerType === "openai_compatible";
  return isNamed && [provider, prefixOf(model)].some((name) => ownMachines.has(name.toLowerCase()));
}

/** Returns the row of a model; undefined if there is none. */
export function findPrice({ provider, providerType, model }: PricedModel): Price | undefined {
  const ids = [idOf(provider, providerType)].filter((id) => id !== undefined);
  // Gateways prefix a model with its provider: `openai/gpt-4o`.
  const rest = model.slice(model.indexOf("/") + 1);
  const inner = rest === model ? [] : [idOf(prefixOf(model), undefined), ...ids, undefined];
  const tries = [
    ...[...ids, undefined].map((id) => ({ id, name: model })),
    ...inner.map((id) => ({ id, name: rest })),
  ];
  for (const { id, name } of tries) {
    const found = findRow(id ?? vendorOf(name), name);
    if (found) return toPrice(found.provider, found.model);
  }
  return undefined;
}

/** Returns a price with these rates, which never change with the time. */
export function toOwnPrice(name: string, prices: ModelPrice): Price {
  const provider = { id: "own prices", name: "own prices", api_pattern: "", models: [] };
  return toPrice(provider, { id: name, match: { equals: name }, prices });
}

function prefixOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf("/")));
}

const idsByType: Readonly<Record<ProviderType, string | undefined>> = {
  openai: "openai",
  azure: "azure",
  anthropic: "anthropic",
  google: "google",
  bedrock: "aws",
  mistral: "mistral",
  openai_compatible: undefined,
};

/** Returns the table's id of a provider. OpenAI-compatible servers are looked up by name. */
function idOf(name: string, type: ProviderType | undefined): string | undefined {
  if (type === undefined) return idOfName(name);
  if (type !== "openai" && type !== "openai_compatible") return idsByType[type];
  const id = findProvider({ providerId: name })?.id;
  return id === name.toLowerCase() ? id : idsByType[type];
}

/** Names from senders that the table maps to a wrong provider or does not know. */
const idsByName: readonly (readonly [RegExp, string | undefined])[] = [
  [/^openai[-_]compatible/, undefined],
  [/azure|^az\./, "azure"],
  [/^x[-_.]?ai\b/, "x-ai"],
];

function idOfName(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  if (name === "") return undefined;
  const own = idsByName.find(([pattern]) => pattern.test(name));
  if (own) return own[1];
  // Some instrumentations append the API: `groq.chat`.
  const [head = ""] = name.split(".");
  return (findProvider({ providerId: name }) ?? findProvider({ providerId: head }))?.id;
}

/** Returns the vendor of models that the table does not find by name alone. */
function vendorOf(model: string): string | undefined {
  return /^(text-embedding-(3|ada)|chatgpt-)/i.test(model) ? "openai" : undefined;
}

type Row = { readonly provider: Provider; readonly model: ModelInfo };

const noTokens = { input_tokens: 0, output_tokens: 0 };

function findRow(providerId: string | undefined, model: string): Row | undefined {
  const options = providerId === undefined ? {} : { providerId };
  return calcPrice(noTokens, model, options) ?? undefined;
}

const million = 1_000_000;

function toPrice(provider: Provider, model: ModelInfo): Price {
  const { id, name, api_pattern } = provider;
  // A single row, so that the table is not searched again for every event.
  const row = { ...model, match: { equals: model.id } };
  const own: Provider = { id, name, api_pattern, models: [row] };
  const label = `${id}/${model.id}`;
  const calculate = (usage: Usage, atMs: number): ReturnType<typeof calcPrice> =>
    calcPrice(toTable(usage), model.id, { provider: own, timestamp: new Date(atMs) });
  const flat = isFlat(model)
    ? ratesOf((usage) => calculate(usage, 0)?.total_price ?? 0)
    : undefined;
  return {
    name: label,
    costOf(usage, atMs) {
      const result = flat ? undefined : calculate(usage, atMs);
      const prices = flat ? model.prices : (result?.model_price ?? {});
      const unpriced = unpricedOf(prices as Readonly<Record<string, unknown>>, usage);
      if (unpriced !== undefined) return { unpriced: `${unpriced} of ${label}` };
      return flat ? costAt(flat, usage) : (result?.total_price ?? 0);
    },
  };
}

/** Returns whether the price of a token depends neither on the time nor on the number of tokens. */
function isFlat({ prices }: ModelInfo): boolean {
  if (Array.isArray(prices) || "requests_kcount" in prices) return false;
  return Object.values(prices).every((price) => typeof price === "number");
}

/** Returns the price of a million tokens of each part: fast to add up, with the table's results. */
function ratesOf(costOf: (usage: Usage) => number): Usage {
  const none = usageFrom(() => 0);
  return usageFrom((part) => costOf({ ...none, [part]: million }));
}

function costAt(rates: Usage, usage: Usage): number {
  let sum = 0;
  for (const part in rates) sum += rates[part as keyof Usage] * usage[part as keyof Usage];
  return sum / million;
}

// Without an own price, a part is charged like input or output; so only these two are required.
function unpricedOf(prices: Readonly<Record<string, unknown>>, usage: Usage): string | undefined {
  if (Object.keys(prices).length === 0) return "tokens";
  if (promptTokens(usage) > 0 && prices["input_mtok"] === undefined) return "input tokens";
  if (completionTokens(usage) > 0 && prices["output_mtok"] === undefined) return "output tokens";
  return undefined;
}

/** Converts to the table's form, in which the totals include their parts. */
function toTable(usage: Usage): Readonly<Record<string, number>> {
  return {
    input_tokens: promptTokens(usage),
    input_audio_tokens: usage.inputAudio,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    output_tokens: completionTokens(usage),
    output_audio_tokens: usage.outputAudio,
    output_reasoning_tokens: usage.reasoning,
  };
}
