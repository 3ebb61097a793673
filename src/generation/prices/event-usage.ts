// Reads model and token counts of a model event from any sender, and estimates its cost.
// Source: docs/spec.md, "Event record"; docs/decisions.md, 18.2.

import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { EstimateCost } from "../../tracing/events/event.ts";
import { countOf } from "../../tracing/sessions/totals.ts";
import { providerTypes } from "../provider.ts";
import { rareParts, type Usage, usageFrom, usageNames } from "../usage.ts";
import type { PricedCall, Prices } from "./prices.ts";

/** Keys of `config` and `metadata` that determine the cost of an event; no others are read. */
export const pricedConfigKeys = ["model", "provider"] as const;
export const pricedMetadataKeys = [
  "usage",
  "prompt_tokens",
  "input_tokens",
  "completion_tokens",
  "output_tokens",
  "total_tokens",
  "cache_read_input_tokens",
  "cache_write_input_tokens",
  "cache_creation_input_tokens",
  "reasoning_tokens",
  "response_model",
  "provider",
  "provider_type",
] as const;

/** Returns a function that estimates costs; only model events with token counts have one. */
export function createEstimateCost(prices: Prices): EstimateCost {
  return ({ event_type, start_time, config, metadata }) => {
    if (event_type !== "model") return null;
    const counted = countedOf(metadata);
    if (counted === undefined) return null;
    if ("reason" in counted) return prices.unknown(counted.reason);
    return prices.estimate({ ...namesOf(config, metadata), ...counted, atMs: start_time });
  };
}

function namesOf(config: JsonObject, metadata: JsonObject): Omit<PricedCall, "usage" | "atMs"> {
  const asked = textOf(config["model"]);
  const type = metadata["provider_type"];
  return {
    provider: textOf(config["provider"]) ?? textOf(metadata["provider"]) ?? "",
    providerType: providerTypes.find((known) => known === type),
    model: textOf(metadata["response_model"]) ?? asked ?? "",
    requestedModel: asked,
  };
}

/** Maximum length of a name; longer text is ignored. */
const nameLengthMax = 256;

function textOf(value: JsonValue | undefined): string | undefined {
  const isName = typeof value === "string" && value !== "" && value.length <= nameLengthMax;
  return isName ? value : undefined;
}

type Counted = { readonly usage: Usage } | { readonly reason: string };

/** Returns the token counts of the sender; undefined if there are none. */
function countedOf(metadata: JsonObject): Counted | undefined {
  const own = ownUsage(metadata["usage"]);
  if (own) return { usage: own };
  const prompt = countOf(metadata["prompt_tokens"]) ?? countOf(metadata["input_tokens"]);
  const completion = countOf(metadata["completion_tokens"]) ?? countOf(metadata["output_tokens"]);
  const total = countOf(metadata["total_tokens"]);
  if (prompt !== undefined) return { usage: toUsage(metadata, prompt, completion ?? 0, total) };
  if (completion === undefined && total === undefined) return undefined;
  return { reason: "metadata.prompt_tokens is absent or no count: what was sent has no price" };
}

/** Reads the disjoint parts that the service itself writes; undefined for another form. */
function ownUsage(value: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const usage = usageFrom((part) => {
    return countOf(value[usageNames[part]]) ?? (rareParts.has(part) ? 0 : Number.NaN);
  });
  return Object.values(usage).some(Number.isNaN) ? undefined : usage;
}

/**
 * Splits the sender's counts into disjoint parts. Most senders include cached tokens in the
 * prompt's and reasoning in the completion's; some count them separately. Separate counts show by a
 * part that is larger than the number that would include it, or by a total that is the sum with the
 * part.
 */
function toUsage(
  metadata: JsonObject,
  prompt: number,
  completion: number,
  total: number | undefined,
): Usage {
  const cacheRead = countOf(metadata["cache_read_input_tokens"]) ?? 0;
  // Anthropic's name for cache writes; its API does not include them in `input_tokens`.
  const created = countOf(metadata["cache_creation_input_tokens"]);
  const cacheWrite = countOf(metadata["cache_write_input_tokens"]) ?? created ?? 0;
  const reasoning = countOf(metadata["reasoning_tokens"]) ?? 0;
  const cached = cacheRead + cacheWrite;
  const beside = total === undefined ? 0 : total - prompt - completion;
  const isAnthropic = created !== undefined && countOf(metadata["prompt_tokens"]) === undefined;
  const isWhole = beside === cached + reasoning;
  const isCacheBeside = isAnthropic || cached > prompt || beside === cached || isWhole;
  const isReasoningBeside = reasoning > completion || beside === reasoning || isWhole;
  return {
    input: isCacheBeside ? prompt : prompt - cached,
    inputAudio: 0,
    cacheRead,
    cacheWrite,
    output: isReasoningBeside ? completion : completion - reasoning,
    outputAudio: 0,
    reasoning,
  };
}
