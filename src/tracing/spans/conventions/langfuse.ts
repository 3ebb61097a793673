// Langfuse: the observations of its SDKs, with input, output, usage and costs as JSON text.
// Source: npm @langfuse/tracing 5, PyPI langfuse 5.

import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { hasPrefix, move, placeOrKeep, type Draft } from "../draft.ts";
import { movePayloads } from "../model-payload.ts";
import { parseJsonText, parseScalarText, toNumber } from "../values.ts";
import type { Convention } from "./convention.ts";

const prefix = "langfuse.observation.";

export const langfuse: Convention = {
  fields: {
    [`${prefix}type`]: "metadata.observation_type",
    [`${prefix}model.name`]: "config.model",
    [`${prefix}prompt.name`]: "metadata.prompt_name",
    [`${prefix}prompt.version`]: "metadata.prompt_version",
    "langfuse.environment": "metadata.environment",
    "langfuse.release": "metadata.release",
    "langfuse.version": "metadata.version",
    "langfuse.trace.tags": "metadata.tags",
  },
  read(draft) {
    if (!hasPrefix(draft, prefix)) return;
    move(draft, `${prefix}model.parameters`, "config", "hyperparameters");
    move(
      draft,
      `${prefix}completion_start_time`,
      "metadata",
      "completion_start_time",
      parseScalarText,
    );
    movePayloads(draft, { input: `${prefix}input`, output: `${prefix}output` });
    if (draft.eventType === "model" && draft.hasUsage) readAmounts(draft);
  },
};

// Both also have categories of the sender's own names, so they stay as well.
function readAmounts(draft: Draft): void {
  const usage = parseJsonText(draft.left.get(`${prefix}usage_details`) ?? null);
  const costs = parseJsonText(draft.left.get(`${prefix}cost_details`) ?? null);
  const amounts = {
    ...(isJsonObject(usage) ? toTokens(usage) : {}),
    ...(isJsonObject(costs) ? toCost(costs) : {}),
  };
  for (const [field, amount] of Object.entries(amounts)) {
    placeOrKeep(draft, "metadata", field, amount, `${prefix}${field}`);
  }
}

/** Paths in Langfuse's own usage, and in OpenAI's, which its client passes on unchanged. */
const usageNames = {
  prompt_tokens: ["input", "prompt_tokens", "promptTokens", "input_tokens"],
  completion_tokens: ["output", "completion_tokens", "completionTokens", "output_tokens"],
  total_tokens: ["total", "total_tokens", "totalTokens"],
  cache_read_input_tokens: [
    "cache_read_input_tokens",
    "input_cached_tokens",
    "input_cache_read",
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
  ],
  cache_write_input_tokens: [
    "cache_creation_input_tokens",
    "input_cache_creation",
    "prompt_tokens_details.cache_write_tokens",
    "input_tokens_details.cache_write_tokens",
  ],
  reasoning_tokens: [
    "output_reasoning_tokens",
    "output_reasoning",
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
  ],
} as const;

export const tokenFields = Object.keys(usageNames);

/** Langfuse's own names of counts, which it adds up with those of their kinds: `input_cached`. */
const ownNames = { prompt_tokens: "input", completion_tokens: "output" } as const;

/** Returns the counts of Langfuse's usage under the names of `metadata`. */
export function toTokens(usage: JsonObject): Readonly<Record<string, number>> {
  const tokens: Record<string, number> = {};
  for (const [field, names] of Object.entries(usageNames)) {
    const counts = names.map((name) => toNumber(valueAt(usage, name)));
    const count = counts.find((one) => one !== undefined);
    if (count !== undefined) tokens[field] = count;
  }
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0, total_tokens } = tokens;
  // A sender whose total is the sum of both has the kinds in them already.
  if (prompt + completion === total_tokens) return tokens;
  for (const [field, name] of Object.entries(ownNames)) {
    if (toNumber(usage[name]) !== undefined) tokens[field] = sumOfKind(usage, name);
  }
  return tokens;
}

// Adds `input` and its kinds, such as `input_cache_read` and `cache_read_input_tokens`.
function sumOfKind(usage: JsonObject, name: string): number {
  const kinds = Object.keys(usage).filter((key) => key.split("_").includes(name));
  return kinds.reduce((sum, key) => sum + (toNumber(usage[key]) ?? 0), 0);
}

function valueAt(usage: JsonObject, path: string): JsonValue | undefined {
  const [name = "", inner] = path.split(".");
  const value = usage[name];
  if (inner === undefined) return value;
  return isJsonObject(value) ? value[inner] : undefined;
}

// Without a total, what it costs is the sum of its parts.
function toCost(costs: JsonObject): Readonly<Record<string, number>> {
  const parts = Object.values(costs).flatMap((cost) => toNumber(cost) ?? []);
  if (parts.length === 0) return {};
  return { cost: toNumber(costs["total"]) ?? sumOf(parts) };
}

// 0.1 and 0.2 are 0.3: 15 digits are those that a double has of any decimal.
function sumOf(parts: readonly number[]): number {
  return Number(parts.reduce((sum, part) => sum + part, 0).toPrecision(15));
}
