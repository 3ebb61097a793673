// Converts a finished generation to the model event that is stored.
// Source: docs/spec.md, "Event record", "config"; docs/decisions.md, 18.2, 20.1.

import { type JsonObject, present } from "../../base/json.ts";
import type { CostEstimate, EventWrite } from "../../tracing/events/event.ts";
import type { ReadAnswer } from "../openai/answer.ts";
import type { Target } from "../provider.ts";
import type { ModelRequest } from "./model-call.ts";
import { rareParts, tokenCounts, type Usage, usageNames } from "../usage.ts";

/** One try at one provider. */
export type Attempt = {
  /** Name of the connection. */
  readonly provider: string;
  readonly model: string;
  readonly durationMs: number;
  /** Error text; absent if the try succeeded. */
  readonly error?: string;
  readonly status?: number | undefined;
  /** Answer that was unusable, and that the provider bills. */
  readonly unusable?: { readonly target: Target; readonly answer: ReadAnswer };
};

/** Fields of the event that come from the request. */
export type RecordedRequest = {
  /** Name of the event for a model. */
  readonly nameFor: (model: string) => string;
  readonly source: "chat" | "proxy" | "evaluation";
  /** Other `config`: version, hyperparameters, template, tools, tool_choice, response_format. */
  readonly config: JsonObject;
  /** `chat_history` and template variables, or `input`. */
  readonly inputs: JsonObject;
  /** Metadata from the caller. */
  readonly metadata: JsonObject;
  readonly userProperties: JsonObject;
};

export type CallEnd = {
  /** Target that answered, or the last one tried. */
  readonly target: Target;
  readonly attempts: readonly Attempt[];
  /** Time from the start to the first byte of the answer; undefined without an answer. */
  readonly firstByteMs?: number;
  /** Answer, possibly incomplete. */
  readonly answer?: ReadAnswer;
  readonly endedAtMs?: number;
  readonly error?: string | undefined;
};

/** Ids of a running generation. */
export type GenerationIds = {
  readonly generationId: string;
  readonly sessionId: string;
  readonly parentId: string | undefined;
};

/** Generation that succeeded or failed. */
export type FinishedGeneration = GenerationIds &
  RecordedRequest &
  CallEnd & {
    readonly request: ModelRequest;
    /** Model name from the request, possibly an alias. */
    readonly askedModel: string;
    readonly startedAtMs: number;
    readonly endedAtMs: number;
  };

/** Keys of `metadata` that only the service writes; totals and prices depend on them. */
const ownMetadata: ReadonlySet<string> = new Set([
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "input_tokens",
  "output_tokens",
  "usage",
  "cost",
  "price_table",
  "cost_unknown",
  "finish_reason",
  "finish_reasons",
  "response_id",
  "response_model",
  "requested_model",
  "provider_type",
  "stream",
  "time_to_first_byte_ms",
  "attempts",
]);

/** Returns a key of the caller's metadata that is reserved for the service, or undefined. */
export function findOwnKey(metadata: JsonObject): string | undefined {
  return Object.keys(metadata).find((key) => ownMetadata.has(key));
}

/** Returns the caller's metadata without the keys that are reserved for the service. */
export function withoutOwnKeys(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !ownMetadata.has(key)));
}

/** Converts to an event with the estimate of its cost. */
export function toEventWrite(generation: FinishedGeneration, estimate: CostEstimate): EventWrite {
  const { error, parentId, startedAtMs, endedAtMs, target, request, answer } = generation;
  return {
    event_id: generation.generationId,
    session_id: generation.sessionId,
    event_type: "model",
    event_name: generation.nameFor(target.model),
    source: generation.source,
    ...(parentId !== undefined && { parent_id: parentId }),
    ...(error !== undefined && { error }),
    start_time: startedAtMs,
    end_time: endedAtMs,
    duration: endedAtMs - startedAtMs,
    config: {
      ...generation.config,
      model: target.model,
      provider: target.connection.name,
      type: request.operation === "embedding" ? "embedding" : "chat",
    },
    inputs: generation.inputs,
    outputs: answer?.outputs ?? {},
    metadata: { ...generation.metadata, ...metadataOf(generation, estimate) },
    user_properties: generation.userProperties,
  };
}

function metadataOf(generation: FinishedGeneration, estimate: CostEstimate): JsonObject {
  const { answer, attempts, askedModel, target, firstByteMs, request } = generation;
  const isPlain = attempts.length === 1 && attempts[0]?.error === undefined;
  const finishReasons = answer?.finishReasons ?? [];
  const { usage } = answer ?? {};
  return present({
    ...(usage && tokensOf(usage)),
    // The service is the sender of this event, so a known price is its cost.
    cost: estimate.cost ?? undefined,
    price_table: estimate.cost === null ? undefined : estimate.price_table,
    cost_unknown: estimate.cost === null ? estimate.reason : undefined,
    finish_reason: finishReasons[0],
    finish_reasons: finishReasons.length > 1 ? finishReasons : undefined,
    response_id: answer?.responseId,
    response_model: answer?.responseModel,
    requested_model: askedModel === target.model ? undefined : askedModel,
    provider_type: target.connection.type,
    stream: request.isStream,
    time_to_first_byte_ms: firstByteMs,
    attempts: isPlain || attempts.length === 0 ? undefined : attempts.map(attemptOf),
  });
}

function attemptOf(tried: Attempt): JsonObject {
  const { durationMs, unusable: _, ...attempt } = tried;
  return present({ ...attempt, duration_ms: durationMs });
}

function tokensOf(usage: Usage): JsonObject {
  const parts = Object.entries(usage)
    .filter(([part, count]) => count > 0 || !rareParts.has(part))
    .map(([part, count]) => [usageNames[part as keyof Usage], count]);
  return { ...tokenCounts(usage), usage: Object.fromEntries(parts) as JsonObject };
}
