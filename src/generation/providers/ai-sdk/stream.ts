// Converts streams of the Vercel AI SDK, one for each choice, to a streamed chat completion of the
// OpenAI API. Source: docs/decisions.md, 21; docs/generations.md.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { type JsonObject, present } from "../../../base/json.ts";
import { ProviderError } from "../../provider-error.ts";
import type { Target } from "../../provider.ts";
import { toProviderError } from "./error.ts";
import { usageOf } from "./usage.ts";
import type { Usage } from "../../usage.ts";
import type { StreamAnswer } from "../../calls/model-call.ts";
import { createChoiceDeltas } from "./choice-deltas.ts";
import { type Head, headOf, sumUsages, toOpenAiUsage } from "./completion.ts";
import { merge } from "./merge.ts";

/** Model and its request, which is sent once for each choice. */
export type ChatCall = {
  readonly model: LanguageModelV4;
  readonly target: Target;
  readonly options: LanguageModelV4CallOptions;
  readonly choices: number;
};

export type StreamCall = ChatCall & {
  /** Whether the usage is sent in a separate event before the end. */
  readonly isUsageWanted: boolean;
};

/** Part of one of the choices. */
type ChoicePart = { readonly index: number; readonly part: LanguageModelV4StreamPart };

/**
 * Calls the model. Resolves when the first part has arrived: a failure before it may be retried.
 * Fails with a ProviderError, or with the signal's reason if it is aborted.
 */
export async function streamChat(call: StreamCall, signal: AbortSignal): Promise<StreamAnswer> {
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const usages = new Map<number, Usage | undefined>();
  const usage = (): Usage | undefined =>
    sumUsages(Array.from({ length: call.choices }, (_, index) => usages.get(index)));
  const sources = Array.from({ length: call.choices }, (_, index) => partsOf(call, index, both));
  const parts = merge(sources);
  try {
    const first = await parts.next();
    if (first.done) throw brokenOff(call.target);
    const chunks = toEvents(resume(first.value, parts), call, { usages, usage, signal, ended });
    return { kind: "stream", chunks, usage };
  } catch (error) {
    ended.abort();
    throw signal.aborted ? signal.reason : toProviderError(error, call.target);
  }
}

async function* resume<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

/** Yields the parts of a choice, including its finish. */
async function* partsOf(
  { model, target, options }: StreamCall,
  index: number,
  abortSignal: AbortSignal,
): AsyncGenerator<ChoicePart> {
  const { stream } = await model.doStream({ ...options, abortSignal });
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    if (part.type === "stream-start") continue;
    yield { index, part };
    if (part.type === "finish") return;
  }
  throw brokenOff(target);
}

function brokenOff({ connection: { name } }: Target): ProviderError {
  const message = `provider ${name} broke off its answer`;
  return new ProviderError({ failure: "broken", message, provider: name });
}

type Run = {
  readonly usages: Map<number, Usage | undefined>;
  readonly usage: () => Usage | undefined;
  readonly signal: AbortSignal;
  /** Aborts the calls. */
  readonly ended: AbortController;
};

async function* toEvents(
  parts: AsyncIterable<ChoicePart>,
  call: StreamCall,
  { usages, usage, signal, ended }: Run,
): AsyncGenerator<Uint8Array> {
  try {
    const chunks = createChunks(call);
    for await (const { index, part } of parts) {
      if (part.type === "finish") usages.set(index, usageOf(part.usage));
      for (const chunk of chunks.of(index, part)) yield toEvent(chunk);
    }
    const total = usage();
    if (call.isUsageWanted && total) yield toEvent(chunks.ofUsage(total));
    yield Buffer.from("data: [DONE]\n\n");
  } catch (error) {
    throw signal.aborted ? signal.reason : toProviderError(error, call.target, { isBegun: true });
  } finally {
    ended.abort();
  }
}

function toEvent(chunk: JsonObject): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}

/** Creates the chunks of all choices, which share an id. */
function createChunks({ target, choices, isUsageWanted }: StreamCall) {
  const deltas = Array.from({ length: choices }, () => createChoiceDeltas(target));
  const begun = new Set<number>();
  let head: Head | undefined;

  function toChunk(choice: JsonObject | undefined, usage: JsonObject | null): JsonObject {
    head ??= headOf(undefined, target);
    return present({
      ...head,
      object: "chat.completion.chunk",
      choices: choice ? [choice] : [],
      usage: isUsageWanted ? usage : undefined,
    });
  }

  return {
    of(index: number, part: LanguageModelV4StreamPart): readonly JsonObject[] {
      if (part.type === "response-metadata") head ??= headOf(part, target);
      return (deltas[index]?.of(part) ?? []).map(({ delta, finish_reason }) => {
        const opening = begun.has(index) ? {} : { role: "assistant", content: "" };
        begun.add(index);
        const whole = { ...opening, ...delta };
        return toChunk({ index, delta: whole, logprobs: null, finish_reason }, null);
      });
    },

    ofUsage: (usage: Usage): JsonObject => toChunk(undefined, toOpenAiUsage(usage)),
  };
}
