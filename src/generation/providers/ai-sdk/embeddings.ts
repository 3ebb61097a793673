// Embeddings of the OpenAI API through the embedding models of other providers.
// Source: docs/decisions.md, 21.1; docs/generations.md.

import {
  type EmbeddingModelV4,
  type EmbeddingModelV4CallOptions,
  type EmbeddingModelV4Result,
  InvalidArgumentError,
} from "@ai-sdk/provider";
import { faultOfChoice } from "../../../base/choices.ts";
import { isJsonObject, type JsonObject, present } from "../../../base/json.ts";
import { embeddingInputsMax } from "../../../base/tenant-limits.ts";
import { malformedFault } from "../../openai/error.ts";
import type { Target } from "../../provider.ts";
import { toProviderError } from "./error.ts";
import type { Fetch } from "./language-models.ts";
import { type Usage, usageFrom } from "../../usage.ts";
import type { ModelRequest, WholeAnswer } from "../../calls/model-call.ts";
import { type Fields, fieldsOf, untranslatable } from "../../openai/fields.ts";

/** Maximum concurrent calls, for providers that take few inputs in one call. */
export const parallelMax = 8;

/**
 * Creates embeddings. Fails with INVALID_ARGUMENT if the target cannot take the request, with a
 * ProviderError if the provider fails, and with the signal's reason if it is aborted.
 */
export async function callEmbeddings(
  fetch: Fetch,
  target: Target,
  { body }: ModelRequest,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  const request = fieldsOf(body);
  request.only("model", "input", "encoding_format", "dimensions", "user");
  const values = toValues(request);
  const isBase64 = toIsBase64(request);
  const options = toDimensions(request, target);
  const { embeddingModel } = await import("./language-models.ts");
  const model = embeddingModel(target, fetch);
  const results = await embedAll({ model, target, options, values, request }, signal);
  const embeddings = results.flatMap((result) => result.embeddings);
  if (embeddings.length !== values.length) {
    throw malformedFault(target.connection, "another number of embeddings than was asked for");
  }
  const usage = usageOf(results);
  return { kind: "whole", json: toList(embeddings, isBase64, usage, target), usage };
}

function toValues(request: Fields): readonly string[] {
  const input = request.value("input");
  if (typeof input === "string") return [input];
  const items = request.list("input") ?? request.refuse("input", "must be given");
  if (items.length < 1 || items.length > embeddingInputsMax) {
    request.refuse("input", `must hold 1 to ${embeddingInputsMax} texts`);
  }
  return items.map(({ value }, index) => {
    if (typeof value === "string") return value;
    const why = `${untranslatable}: it must be text, not the tokens of another model`;
    return request.refuse(`input[${index}]`, why);
  });
}

function toIsBase64(request: Fields): boolean {
  const format = request.text("encoding_format") ?? "float";
  if (format === "float" || format === "base64") return format === "base64";
  return request.refuse("encoding_format", faultOfChoice(["float", "base64"], format));
}

type Options = Pick<EmbeddingModelV4CallOptions, "dimensions" | "providerOptions">;

/** Option for the dimensions by family of Bedrock's models; other families have none. */
const bedrockNames: readonly (readonly [family: string, name: string])[] = [
  ["titan-embed-text-v2", "dimensions"],
  ["amazon.nova-", "embeddingDimension"],
  ["cohere.embed-v4", "outputDimension"],
];

function toDimensions(request: Fields, { connection, model }: Target): Options {
  const dimensions = request.integer("dimensions");
  if (dimensions === undefined) return {};
  if (dimensions < 1) request.refuse("dimensions", "must be at least 1");
  if (connection.type !== "bedrock") return { dimensions };
  const name = bedrockNames.find(([family]) => model.includes(family))?.[1];
  if (name === undefined) return request.refuse("dimensions", untranslatable);
  return { providerOptions: { amazonBedrock: { [name]: dimensions } } };
}

type EmbedCall = {
  readonly model: EmbeddingModelV4;
  readonly target: Target;
  readonly options: Options;
  readonly values: readonly string[];
  readonly request: Fields;
};

async function embedAll(
  { model, target, options, values, request }: EmbedCall,
  signal: AbortSignal,
): Promise<readonly EmbeddingModelV4Result[]> {
  const ended = new AbortController();
  const abortSignal = AbortSignal.any([signal, ended.signal]);
  const batches = chunksOf(values, (await model.maxEmbeddingsPerCall) ?? embeddingInputsMax);
  const parallel = (await model.supportsParallelCalls) ? parallelMax : 1;
  const results: EmbeddingModelV4Result[] = [];
  try {
    for (const wave of chunksOf(batches, parallel)) {
      const calls = wave.map((batch) =>
        model.doEmbed({ ...options, values: [...batch], abortSignal }),
      );
      results.push(...(await Promise.all(calls)));
    }
    return results;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // The SDK knows the dimensions of Bedrock's models and refuses others without a call.
    if (InvalidArgumentError.isInstance(error) && options.providerOptions) {
      return request.refuse("dimensions", "is a size that the model does not offer");
    }
    throw toProviderError(error, target);
  } finally {
    ended.abort();
  }
}

function chunksOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

function toList(
  embeddings: readonly (readonly number[])[],
  isBase64: boolean,
  usage: Usage | undefined,
  { model }: Target,
): JsonObject {
  return present({
    object: "list",
    data: embeddings.map((embedding, index) => ({
      object: "embedding",
      index,
      embedding: isBase64 ? toBase64(embedding) : embedding,
    })),
    model,
    usage: usage && { prompt_tokens: usage.input, total_tokens: usage.input },
  });
}

/** Little-endian 32-bit floats, which OpenAI's clients request by default. */
function toBase64(embedding: readonly number[]): string {
  const bytes = Buffer.alloc(embedding.length * 4);
  embedding.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString("base64");
}

/** Returns undefined if a call reported no tokens: unknown is not 0. */
function usageOf(results: readonly EmbeddingModelV4Result[]): Usage | undefined {
  const counts = results.map(({ usage, response }) => usage?.tokens ?? toldIn(response?.body));
  const input = counts.reduce<number>((sum, count) => sum + (count ?? Number.NaN), 0);
  if (!Number.isFinite(input)) return undefined;
  return usageFrom((part) => (part === "input" ? input : 0));
}

/** Returns the tokens of Google's models, which the SDK does not read. */
function toldIn(body: unknown): number | undefined {
  const usage = isJsonObject(body) ? body["usageMetadata"] : undefined;
  const count = isJsonObject(usage) ? usage["promptTokenCount"] : undefined;
  return typeof count === "number" ? count : undefined;
}
