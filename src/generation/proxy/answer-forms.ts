// How answers of each operation are read: whole, and while they stream.

import { createMessageGatherer } from "../anthropic/message-gatherer.ts";
import { readMessageAnswer } from "../anthropic/message.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Keep } from "../calls/answer-memory.ts";
import { choicesAsked, type ModelRequest, type Operation } from "../calls/model-call.ts";
import { type AnswerGatherer, createAnswerGatherer } from "../openai/answer-gatherer.ts";
import { choicesOf, type ReadAnswer, readWholeAnswer } from "../openai/answer.ts";
import { withoutChoices } from "../openai/error.ts";
import { createResponseGatherer } from "../openai/response-gatherer.ts";
import { failureOfResponse, readResponse } from "../openai/response.ts";
import type { ProviderError } from "../provider-error.ts";
import type { Connection } from "../provider.ts";

export type AnswerForm = {
  readonly read: (json: JsonObject) => ReadAnswer;
  /** Returns what makes an answer a failure; undefined for a usable one. */
  readonly failure: (connection: Connection, json: JsonObject) => ProviderError | undefined;
  /** `keep` counts the gathered bytes. */
  readonly gather: (request: ModelRequest, keep: Keep) => AnswerGatherer;
};

const gatherChat = (request: ModelRequest, keep: Keep): AnswerGatherer =>
  createAnswerGatherer(choicesAsked(request), keep);

export const answerForms: { readonly [O in Operation]: AnswerForm } = {
  chat: {
    read: (json) => readWholeAnswer("chat", json),
    failure: (connection, json) =>
      choicesOf(json).length === 0 ? withoutChoices(connection) : undefined,
    gather: gatherChat,
  },
  embedding: {
    read: (json) => readWholeAnswer("embedding", json),
    failure: () => undefined,
    // Embeddings do not stream.
    gather: gatherChat,
  },
  response: {
    read: readResponse,
    failure: failureOfResponse,
    gather: (_, keep) => createResponseGatherer(keep),
  },
  message: {
    read: readMessageAnswer,
    failure: () => undefined,
    gather: (_, keep) => createMessageGatherer(keep),
  },
};
