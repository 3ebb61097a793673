// Converts answers of the Vercel AI SDK's language models to OpenAI's chat completions.
// Source: docs/decisions.md, 18.2, 21.1; docs/generations.md.

import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { createUuid } from "../../../base/ids.ts";
import { type JsonObject, present } from "../../../base/json.ts";
import type { ReadAnswer } from "../../openai/answer.ts";
import { brokenOff, malformedFault } from "../../openai/error.ts";
import type { Target } from "../../provider.ts";
import { tokenCounts, type Usage, usageFrom } from "../../usage.ts";

type ResponseHead = LanguageModelV4GenerateResult["response"];

export type Head = { readonly id: string; readonly created: number; readonly model: string };

export function headOf(response: ResponseHead, { model }: Target): Head {
  return {
    id: response?.id ?? `chatcmpl-${createUuid()}`,
    created: Math.floor((response?.timestamp?.getTime() ?? Date.now()) / 1_000),
    model: response?.modelId ?? model,
  };
}

/**
 * Converts results to choices in the same order; there is at least one. Leaves out what a chat
 * completion cannot hold; `assertUsable` refuses such results.
 */
export function toCompletion(
  results: readonly LanguageModelV4GenerateResult[],
  usage: Usage | undefined,
  target: Target,
): JsonObject {
  return present({
    ...headOf(results[0]?.response, target),
    object: "chat.completion",
    choices: results.map(({ content, finishReason }, index) => ({
      index,
      message: toMessage(content),
      logprobs: null,
      finish_reason: findFinishReason(finishReason) ?? null,
    })),
    usage: usage && toOpenAiUsage(usage),
  });
}

/** Fails with a ProviderError that has the answer, if a choice is lossy or unfinished. */
export function assertUsable(
  results: readonly LanguageModelV4GenerateResult[],
  target: Target,
  answer: ReadAnswer,
): void {
  for (const { content, finishReason } of results) {
    for (const { type } of content) if (!held.has(type)) assertNothingLost(type, target, answer);
    toFinishReason(finishReason, target, answer);
  }
}

/** Content parts of a message. */
const held: ReadonlySet<string> = new Set(["text", "tool-call", "reasoning"]);

function toMessage(content: readonly LanguageModelV4Content[]): JsonObject {
  const calls: JsonObject[] = [];
  const reasoning: JsonObject[] = [];
  let thoughts = "";
  let text: string | null = null;
  for (const part of content) {
    if (part.type === "text") text = `${text ?? ""}${part.text}`;
    else if (part.type === "tool-call") calls.push(toToolCall(part));
    else if (part.type === "reasoning") {
      thoughts += part.text;
      reasoning.push(toReasoning(part.text, part.providerMetadata));
    }
  }
  return present({
    role: "assistant",
    content: text,
    refusal: null,
    reasoning_content: thoughts === "" ? undefined : thoughts,
    extra_content: toReasoningExtra(reasoning),
    tool_calls: calls.length > 0 ? calls : undefined,
  });
}

export function toReasoning(text: string, metadata: object | undefined): JsonObject {
  return present({ text, extra_content: metadata as JsonObject | undefined });
}

/**
 * Returns the reasoning for `extra_content` if the provider signed it, because the provider needs
 * it again with the results of tools. A client that returns the message unchanged returns it too.
 */
export function toReasoningExtra(reasoning: readonly JsonObject[]): JsonObject | undefined {
  const isSigned = reasoning.some((one) => one["extra_content"] !== undefined);
  return isSigned ? { reasoning } : undefined;
}

function toToolCall(part: LanguageModelV4ToolCall): JsonObject {
  const { toolCallId, toolName, input, providerMetadata } = part;
  return present({
    id: toolCallId,
    type: "function",
    function: { name: toolName, arguments: input },
    extra_content: providerMetadata as JsonObject | undefined,
  });
}

/** Content parts that annotate an answer and may be omitted. */
const notes: ReadonlySet<string> = new Set(["source", "custom"]);

/** Fails if an answer contains a part that chat completions cannot represent. */
export function assertNothingLost(
  partType: string,
  { connection }: Target,
  answer?: ReadAnswer,
): void {
  if (notes.has(partType)) return;
  throw malformedFault(connection, `a ${partType}, which a chat completion cannot hold`, answer);
}

const finishReasons = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
  other: "stop",
} as const;

/** Returns OpenAI's finish reason; undefined if the model did not finish. */
function findFinishReason({ unified, raw }: LanguageModelV4FinishReason): string | undefined {
  const isEnd = unified !== "error" && unified !== "interrupted";
  // Without a raw reason from the provider, the SDK only guessed the end.
  return isEnd && raw !== undefined ? finishReasons[unified] : undefined;
}

/** Returns OpenAI's finish reason. Fails if the model did not finish. */
export function toFinishReason(
  reason: LanguageModelV4FinishReason,
  { connection }: Target,
  answer?: ReadAnswer,
): string {
  const found = findFinishReason(reason);
  if (found !== undefined) return found;
  const { raw } = reason;
  const what = raw === undefined ? "broke off its answer" : `ended its answer with ${raw}`;
  throw brokenOff(connection, what, answer);
}

export function toOpenAiUsage(usage: Usage): JsonObject {
  return {
    ...tokenCounts(usage),
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

/** Returns the sum of several calls; undefined if the usage of one is unknown. */
export function sumUsages(usages: readonly (Usage | undefined)[]): Usage | undefined {
  const known = usages.filter((usage) => usage !== undefined);
  if (known.length < usages.length) return undefined;
  return usageFrom((part) => known.reduce((sum, usage) => sum + usage[part], 0));
}

/** Returns the tokens in disjoint parts; undefined if the provider reported none. */
export function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  const cacheRead = countOf(inputTokens.cacheRead);
  const cacheWrite = countOf(inputTokens.cacheWrite);
  const reasoning = countOf(outputTokens.reasoning);
  return {
    input: countOf(inputTokens.noCache ?? countOf(inputTokens.total) - cacheRead - cacheWrite),
    inputAudio: 0,
    cacheRead,
    cacheWrite,
    output: countOf(outputTokens.text ?? countOf(outputTokens.total) - reasoning),
    outputAudio: 0,
    reasoning,
  };
}

// A provider's wrong counts must not result in a negative number of tokens.
function countOf(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0;
}
