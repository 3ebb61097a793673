// Request to a model and its answer, in the form of the OpenAI API also for providers with another
// API. Source: docs/decisions.md, 20.1, 21.1.

import type { JsonObject } from "../../base/json.ts";
import type { Target } from "../provider.ts";
import type { Usage } from "../usage.ts";

/** A chat completion, embeddings, or a call of OpenAI's Responses or Anthropic's Messages API. */
export type Operation = "chat" | "embedding" | "response" | "message";

/** Request of the OpenAI API, or of the Messages API. */
export type ModelRequest = {
  readonly operation: Operation;
  readonly body: JsonObject;
  /**
   * Bytes of `body` that pass unchanged, except for the model, to a provider with the OpenAI API.
   * Undefined: the body is serialized again for the model.
   */
  readonly bytes?: Uint8Array;
  /** Whether the answer is a stream. */
  readonly isStream: boolean;
  /** Whether the Messages API is asked for the number of tokens of the request alone. */
  readonly isCount?: true;
  /** Sent to the provider, so that one that knows the key bills the same call once. */
  readonly idempotencyKey?: string;
  /** Names of features of the Messages API that the caller asks for (`anthropic-beta`). */
  readonly betas?: string;
};

export type WholeAnswer = {
  readonly kind: "whole";
  readonly json: JsonObject;
  /** Bytes of the provider's answer, if it has the OpenAI API. */
  readonly bytes?: Uint8Array;
  readonly contentType?: string;
  /** Usage from the provider's own answer, if that tells more; else usage is read from `json`. */
  readonly usage?: Usage | undefined;
};

/** Event of a stream. A comment of the provider has neither a chunk nor `isDone`. */
export type StreamPart = {
  /** Chunk of a chat completion, or event of the Responses or Messages API. */
  readonly chunk?: JsonObject;
  /** Bytes of the provider's event, if it has the OpenAI API. */
  readonly bytes?: Uint8Array;
  /** True for the end of a complete stream, which is its last part. */
  readonly isDone?: true;
  /** Usage from the provider's own answer, if that tells more than the chunks. */
  readonly usage?: Usage | undefined;
};

export type StreamAnswer = {
  readonly kind: "stream";
  /**
   * Parts that arrive together. Fails with a ProviderError if the provider breaks off; `return`
   * ends the call.
   */
  readonly parts: AsyncIterable<readonly StreamPart[]>;
};

/** Waits for the first parts of a stream, because a failure before them may be retried. */
export async function toStreamAnswer(
  parts: AsyncGenerator<readonly StreamPart[]>,
): Promise<StreamAnswer> {
  let first: IteratorResult<readonly StreamPart[]> | undefined = await parts.next();
  const iterator = {
    next() {
      const taken = first;
      first = undefined;
      return taken ? Promise.resolve(taken) : parts.next();
    },
    return: () => parts.return(undefined),
  };
  return { kind: "stream", parts: { [Symbol.asyncIterator]: () => iterator } };
}

export type ModelAnswer = WholeAnswer | StreamAnswer;

/**
 * Calls a target. Resolves with the first parts of a stream, or with the whole of another answer.
 *
 * Fails with a ProviderError if the provider fails, with INVALID_ARGUMENT if this provider cannot
 * take the request, and with the signal's reason if it is aborted.
 */
export type CallModel = (
  target: Target,
  request: ModelRequest,
  signal: AbortSignal,
) => Promise<ModelAnswer>;

/** Returns the model name of a request. */
export function modelOf({ body: { model } }: ModelRequest): string {
  if (typeof model !== "string") throw new Error("a request without a model");
  return model;
}

/** Returns the number of choices that a request asks for. */
export function choicesAsked({ body: { n } }: ModelRequest): number {
  return typeof n === "number" && n > 1 ? n : 1;
}
