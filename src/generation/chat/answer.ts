// Reads the answer of a model to a chat, whole or as a stream, into choices.
// Source: docs/decisions.md, 20.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Keep } from "../calls/answer-memory.ts";
import { type Choice, choicesOf, textOf } from "../openai/answer.ts";
import { createDeltaGatherer } from "../openai/delta-gatherer.ts";
import { createSseReader } from "../openai/sse-reader.ts";
import type { StreamAnswer, WholeAnswer } from "../calls/model-call.ts";
import type { Usage } from "../usage.ts";

/** Next text of one choice. */
export type Delta = { readonly index: number; readonly content: string };

/** Content of an answer, possibly incomplete. */
export type Gathered = {
  /** Sorted by index. */
  readonly choices: readonly Choice[];
  readonly responseModel: string | undefined;
  readonly responseId: string | undefined;
  readonly usage: Usage | undefined;
};

export type AnswerReader = {
  readWhole(answer: WholeAnswer): void;
  /** Reads a stream to its end and passes on its text as it arrives. Fails if the stream fails. */
  readStream(answer: StreamAnswer, onDelta: (delta: Delta) => Promise<void>): Promise<void>;
  gathered(): Gathered;
};

/** Creates a reader; `keep` counts the gathered bytes of a stream. */
export function createAnswerReader(keep: Keep): AnswerReader {
  let choices: () => readonly Choice[] = () => [];
  let usage: () => Usage | undefined = () => undefined;
  let model: string | undefined;
  let id: string | undefined;

  function note(json: JsonObject): void {
    model ??= textOf(json["model"]);
    id ??= textOf(json["id"]);
  }

  return {
    readWhole(answer) {
      note(answer.json);
      const read = choicesOf(answer.json);
      choices = () => read;
      usage = () => answer.usage;
    },

    async readStream(answer, onDelta) {
      const gatherer = createDeltaGatherer(keep);
      const sse = createSseReader();
      choices = () => gatherer.choices();
      usage = () => answer.usage?.();
      for await (const chunk of answer.chunks) {
        for (const { data = "[DONE]" } of sse.push(chunk)) {
          if (data === "[DONE]") continue;
          const json = JSON.parse(data) as JsonObject;
          note(json);
          gatherer.add(json["choices"]);
          for (const delta of deltasOf(json["choices"])) await onDelta(delta);
        }
      }
    },

    gathered: () => ({
      choices: choices().map((one) => ({ ...one, message: toMessage(one.message) })),
      responseModel: model,
      responseId: id,
      usage: usage(),
    }),
  };
}

/** Omits a null refusal, and sets empty content next to tool calls to null. */
function toMessage({ refusal, ...message }: JsonObject): JsonObject {
  const isMute = message["content"] === "" && message["tool_calls"] !== undefined;
  return {
    ...message,
    ...(refusal != null && { refusal }),
    ...(isMute && { content: null }),
  };
}

function deltasOf(choices: JsonValue | undefined): readonly Delta[] {
  return objectsOf(choices).flatMap(({ index, delta }) => {
    const content = isJsonObject(delta) ? textOf(delta["content"]) : undefined;
    return content === undefined || typeof index !== "number" ? [] : [{ index, content }];
  });
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}
