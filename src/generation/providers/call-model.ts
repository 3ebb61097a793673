// Calls the model of a target: providers with the OpenAI API directly, others through the Vercel AI
// SDK. Source: docs/decisions.md, 20.1, 21.1; docs/generations.md.

import { refuse } from "../../base/errors.ts";
import { isJsonArray } from "../../base/json.ts";
import { chatChoicesMax } from "../../base/tenant-limits.ts";
import {
  type CallModel,
  choicesAsked,
  type ModelAnswer,
  type ModelRequest,
  type Operation,
} from "../calls/model-call.ts";
import { choicesOf, readWholeAnswer } from "../openai/answer.ts";
import { brokenOff, withoutChoices } from "../openai/error.ts";
import { withModel } from "../openai/model-name.ts";
import { type Connection, type Route, speaksAnthropic, speaksOpenAi } from "../provider.ts";
import { callChat, toOpenAiBody } from "./ai-sdk/chat.ts";
import { callEmbeddings, parallelMax } from "./ai-sdk/embeddings.ts";
import { idempotencyHeader, sendNative } from "./native-api.ts";
import type { Outbound } from "./outbound.ts";

export function createCallModel(outbound: Pick<Outbound, "dispatcher" | "fetch">): CallModel {
  return async (target, request, signal) => {
    const { connection, model } = target;
    const { operation, bytes } = request;
    const isNative = isNativeTo(connection, operation);
    if (!isNative && operation !== "chat" && operation !== "embedding") {
      refuse("model", withoutApi(connection, operation));
    }
    if (!isNative) {
      const call = operation === "embedding" ? callEmbeddings : callChat;
      return call(fetchOf(outbound.fetch(connection), request), target, request, signal);
    }
    if (bytes) {
      return sendNative(outbound, target, { ...request, bytes: withModel(bytes, model) }, signal);
    }
    const written = await toOpenAiBody(target, request);
    const answer = await sendNative(outbound, target, { ...request, bytes: written }, signal);
    assertFinished(answer, connection);
    return answer;
  };
}

/** Returns whether a provider has the API of an operation: bodies pass unchanged. */
function isNativeTo({ type }: Connection, operation: Operation): boolean {
  return operation === "message" ? speaksAnthropic(type) : speaksOpenAi(type);
}

function withoutApi({ name }: Connection, operation: "response" | "message"): string {
  const api = operation === "response" ? "Responses" : "Messages";
  return `is one of provider ${name}, which has no ${api} API; use /v1/chat/completions`;
}

/** Adds the key of a request. Several choices are several calls, which must not share a key. */
function fetchOf(fetch: typeof globalThis.fetch, request: ModelRequest): typeof globalThis.fetch {
  const { idempotencyKey } = request;
  if (idempotencyKey === undefined || choicesAsked(request) > 1) return fetch;
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set(idempotencyHeader, idempotencyKey);
    return fetch(input, { ...init, headers });
  };
}

function assertFinished(answer: ModelAnswer, connection: Connection): void {
  if (answer.kind === "stream") return;
  const choices = choicesOf(answer.json);
  const read = () => readWholeAnswer("chat", answer.json);
  if (choices.length === 0) throw withoutChoices(connection, read());
  if (choices.every(({ finishReason }) => finishReason !== undefined)) return;
  throw brokenOff(connection, "broke off its answer", read());
}

/**
 * Returns the number of concurrent calls to a provider for a request: one if every provider of the
 * route takes the whole request in one call.
 */
export function concurrentCalls({ targets }: Route, request: ModelRequest): number {
  if (targets.every(({ connection }) => speaksOpenAi(connection.type))) return 1;
  const { operation } = request;
  // Providers without these APIs are not asked.
  if (operation === "response" || operation === "message") return 1;
  if (operation === "chat") return Math.min(choicesAsked(request), chatChoicesMax);
  const { input } = request.body;
  return isJsonArray(input) ? Math.min(Math.max(input.length, 1), parallelMax) : 1;
}
