// Converts streams of the Vercel AI SDK, one for each choice, to chunks of a chat completion of the
// OpenAI API. Source: docs/decisions.md, 21.1, 21.4; docs/generations.md.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { type JsonObject, present } from "../../../base/json.ts";
import type { Target } from "../../provider.ts";
import { toProviderError } from "./error.ts";
import {
  type Head,
  headOf,
  sumUsages,
  toFinishReason,
  toOpenAiUsage,
  usageOf,
} from "./completion.ts";
import type { Usage } from "../../usage.ts";
import type { ReadAnswer } from "../../openai/answer.ts";
import { type StreamAnswer, type StreamPart, toStreamAnswer } from "../../calls/model-call.ts";
import { brokenOff } from "../../openai/error.ts";
import { createChoiceDeltas } from "./choice-deltas.ts";

export type ChatCall = {
  readonly model: LanguageModelV4;
  readonly target: Target;
  readonly options: LanguageModelV4CallOptions;
  readonly choices: number;
  /** Whether a stream has the usage in a chunk before its end. */
  readonly isUsageWanted: boolean;
};

type ChoicePart = { readonly index: number; readonly part: LanguageModelV4StreamPart };

/**
 * Calls the model. Resolves with the first chunk: a failure before it may be retried. Fails with a
 * ProviderError, or with the signal's reason if it is aborted.
 */
export function streamChat(call: ChatCall, signal: AbortSignal): Promise<StreamAnswer> {
  return toStreamAnswer(toParts(call, signal));
}

/** Yields the parts of a choice, including its finish. */
async function* partsOf(
  { model, target, options }: ChatCall,
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
  throw brokenOff(target.connection, "broke off its answer");
}

async function* toParts(
  call: ChatCall,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamPart[]> {
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  let isBegun = false;
  try {
    const chunks = createChunks(call);
    const usages: (Usage | undefined)[] = [];
    const sources = Array.from({ length: call.choices }, (_, index) => partsOf(call, index, both));
    const [only, ...others] = sources;
    const merged = only && others.length === 0 ? only : merge(sources);
    for await (const { index, part } of merged) {
      if (part.type === "finish") {
        usages.push(usageOf(part.usage));
        const usage = usages.length === sources.length ? sumUsages(usages) : undefined;
        // Without a raw reason the answer broke off, and the tokens are not the final ones.
        const isEnded = part.finishReason.raw !== undefined;
        if (isEnded) toFinishReason(part.finishReason, call.target, chunks.answerOf(usage));
      }
      const parts = chunks.of(index, part).map((chunk) => ({ chunk }));
      if (parts.length === 0) continue;
      isBegun = true;
      yield parts;
    }
    const usage = sumUsages(usages);
    if (call.isUsageWanted && usage) yield [{ chunk: chunks.ofUsage(usage) }];
    yield [{ isDone: true, usage }];
  } catch (error) {
    throw signal.aborted ? signal.reason : toProviderError(error, call.target, { isBegun });
  } finally {
    ended.abort();
  }
}

/** Creates the chunks of all choices, which share an id. */
function createChunks({ target, choices, isUsageWanted }: ChatCall) {
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

    /** Returns the answer of a model that failed at its end, without its content. */
    answerOf: (usage: Usage | undefined): ReadAnswer => ({
      outputs: {},
      finishReasons: [],
      responseModel: head?.model,
      responseId: head?.id,
      usage,
    }),
  };
}

type Pulled<T> = {
  readonly source: AsyncGenerator<T>;
  readonly result: IteratorResult<T, unknown>;
};

/**
 * Yields the values of all sources, each at most one value ahead of the reader. Fails with the
 * first source that fails. Returns all sources at the end, also after a failure.
 */
async function* merge<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const pulls = new Map<AsyncGenerator<T>, Promise<Pulled<T>>>();
  const pull = (source: AsyncGenerator<T>): void => {
    pulls.set(
      source,
      source.next().then((result) => ({ source, result })),
    );
  };
  try {
    sources.forEach(pull);
    while (pulls.size > 0) {
      const { source, result } = await Promise.race(pulls.values());
      pulls.delete(source);
      if (result.done) continue;
      yield result.value;
      pull(source);
    }
  } finally {
    // The outcome of the other sources is ignored.
    for (const pulled of pulls.values()) pulled.catch(() => undefined);
    for (const source of sources) source.return(undefined).catch(() => undefined);
  }
}
