// Gathers a streamed answer while its parts pass. Source: docs/decisions.md, 20, 21.

import { isJsonObject, type JsonValue } from "../../base/json.ts";
import type { Keep } from "../calls/answer-memory.ts";
import type { StreamAnswer, StreamPart } from "../calls/model-call.ts";
import type { Connection } from "../provider.ts";
import type { Usage } from "../usage.ts";
import { type Choice, type ReadAnswer, reasonsOf, textOf, toOutputs } from "./answer.ts";
import { createDeltaGatherer } from "./delta-gatherer.ts";
import { brokenOff, malformedFault } from "./error.ts";
import { parseUsage } from "./usage.ts";

export type AnswerGatherer = {
  /**
   * Yields the parts of a stream after it has read them. Fails with a ProviderError if the stream
   * is malformed, or stops before its end and before every choice is finished; with `needsFinish`
   * also if a choice is unfinished at the end.
   */
  follow(
    stream: StreamAnswer,
    connection: Connection,
    needsFinish?: boolean,
  ): AsyncGenerator<readonly StreamPart[]>;
  /** Whether the stream is complete: it sent its end, or every choice is finished. */
  isComplete(): boolean;
  /** Whether the stream sent its end. */
  isDone(): boolean;
  /** Returns the choices so far, sorted by index. */
  choices(): readonly Choice[];
  /** Returns the answer so far. */
  answer(): ReadAnswer;
};

/** `choices` is the number that the request asks for; `keep` counts the gathered bytes. */
export function createAnswerGatherer(choices: number, keep: Keep): AnswerGatherer {
  const gatherer = createDeltaGatherer(keep);
  let isDone = false;
  let told: JsonValue | undefined;
  let usage: Usage | undefined;
  let model: string | undefined;
  let id: string | undefined;

  /** Returns false if the part has more choices than an answer may have. */
  function read({ chunk, isDone: isEnd, usage: own }: StreamPart): boolean {
    isDone ||= isEnd === true;
    usage = own ?? usage;
    if (!chunk) return true;
    model ??= textOf(chunk["model"]);
    id ??= textOf(chunk["id"]);
    if (isJsonObject(chunk["usage"])) told = chunk["usage"];
    return gatherer.add(chunk["choices"]);
  }

  /** Whether at least this number of choices came, and all of them are finished. */
  function areFinished(count: number): boolean {
    const came = gatherer.choices();
    return came.length >= count && came.every(({ finishReason }) => finishReason !== undefined);
  }

  const isComplete = (): boolean => isDone || areFinished(choices);

  return {
    async *follow({ parts }, connection, needsFinish = false) {
      for await (const batch of parts) {
        const bad = batch.findIndex((part) => !read(part));
        if (bad === -1) {
          yield batch;
          continue;
        }
        if (bad > 0) yield batch.slice(0, bad);
        throw malformedFault(connection, "with an event that is none");
      }
      if (!isComplete() || (needsFinish && !areFinished(1))) throw brokenOff(connection);
    },

    isComplete,
    isDone: () => isDone,
    choices: () => gatherer.choices(),

    answer() {
      const came = gatherer.choices();
      return {
        outputs: toOutputs(came),
        finishReasons: reasonsOf(came),
        responseModel: model,
        responseId: id,
        usage: usage ?? parseUsage(told),
      };
    },
  };
}
