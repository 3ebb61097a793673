// Converts a finished chat, failed or not, to the generation that is stored.
// Source: docs/spec.md, "Event record", "config"; docs/decisions.md, 20.

import type { Route, Target } from "../provider.ts";
import { reasonsOf, toOutputs } from "../openai/answer.ts";
import type { Attempt, FinishedGeneration } from "../calls/generation-event.ts";
import type { Place } from "../calls/generations.ts";
import type { Gathered } from "./answer.ts";
import type { Failure } from "./failure.ts";
import type { ChatRequest, ChatTask } from "./request.ts";

/** Running chat. */
export type RunningChat = {
  readonly request: ChatRequest;
  readonly task: ChatTask;
  readonly route: Route;
  readonly place: Place;
  readonly startedAtMs: number;
  readonly isStream: boolean;
};

/** Result of a chat. */
export type ChatEnd = {
  /** Target that answered, or the last one tried. */
  readonly target: Target;
  readonly attempts: readonly Attempt[];
  readonly firstByteMs: number | undefined;
  /** Answer, possibly incomplete. */
  readonly answer: Gathered;
  readonly endedAtMs: number;
  readonly failure?: Failure;
};

const source = "chat";

export function toGeneration(chat: RunningChat, end: ChatEnd): FinishedGeneration {
  const { request, task, route, place, startedAtMs, isStream } = chat;
  const { target, answer } = end;
  return {
    id: place.generationId,
    sessionId: place.sessionId,
    parentId: place.parentId,
    name: request.eventName || `chat ${target.model}`,
    source,
    operation: "chat",
    startedAtMs,
    endedAtMs: end.endedAtMs,
    firstByteMs: end.firstByteMs,
    isStream,
    askedModel: route.asked,
    provider: target.connection.name,
    providerType: target.connection.type,
    model: target.model,
    responseModel: answer.responseModel,
    responseId: answer.responseId,
    finishReasons: reasonsOf(answer.choices),
    config: task.config,
    inputs: task.inputs,
    outputs: toOutputs(answer.choices),
    usage: answer.usage,
    error: end.failure?.text,
    attempts: end.attempts,
    metadata: request.metadata ?? {},
    userProperties: request.userProperties ?? {},
  };
}
