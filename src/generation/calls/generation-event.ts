// Converts a finished generation to the model event that is stored.
// Source: docs/spec.md, "Event record", "config"; docs/decisions.md, 18, 20.

import { type JsonObject, present } from "../../base/json.ts";
import type { CostEstimate, EventWrite } from "../../tracing/events/event.ts";
import type { ProviderType } from "../provider.ts";
import { tokenCounts, type Usage } from "../usage.ts";

/** One try at one provider. */
export type Attempt = {
  /** Name of the connection. */
  readonly provider: string;
  readonly model: string;
  readonly durationMs: number;
  /** Error text; absent if the try succeeded. */
  readonly error?: string;
  readonly status?: number | undefined;
};

/** Generation that succeeded or failed. */
export type FinishedGeneration = {
  readonly id: string;
  readonly sessionId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  /** `chat` or `proxy`. */
  readonly source: string;
  readonly operation: "chat" | "embedding";
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Time from the start to the first byte of the answer; undefined without an answer. */
  readonly firstByteMs: number | undefined;
  readonly isStream: boolean;
  /** Model name from the request, possibly an alias. */
  readonly askedModel: string;
  /** Provider of the target that answered, or of the last one tried. */
  readonly provider: string;
  readonly providerType: ProviderType;
  readonly model: string;
  /** Model name in the answer, possibly a dated version. */
  readonly responseModel?: string | undefined;
  readonly responseId?: string | undefined;
  readonly finishReasons: readonly string[];
  /** Other `config`: version, hyperparameters, template, tools, tool_choice, response_format. */
  readonly config: JsonObject;
  /** `chat_history` and template variables, or `input`. */
  readonly inputs: JsonObject;
  /** `role`, `content`, `tool_calls`; `choices` if there are several. Possibly incomplete. */
  readonly outputs: JsonObject;
  /** Undefined if the provider reported no usage. */
  readonly usage: Usage | undefined;
  readonly error: string | undefined;
  readonly attempts: readonly Attempt[];
  /** Metadata from the caller. */
  readonly metadata: JsonObject;
  readonly userProperties: JsonObject;
};

/** Keys of `metadata` that only the service writes; totals and prices depend on them. */
const ownMetadata: ReadonlySet<string> = new Set([
  ...["prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens"],
  ...["usage", "cost", "price_table", "cost_unknown", "finish_reason", "finish_reasons"],
  ...["response_id", "response_model", "requested_model", "provider_type", "stream"],
  ...["time_to_first_byte_ms", "attempts"],
]);

/** Returns a key of the caller's metadata that is reserved for the service, or undefined. */
export function findOwnKey(metadata: JsonObject): string | undefined {
  return Object.keys(metadata).find((key) => ownMetadata.has(key));
}

/** Converts to an event; `estimate` is undefined if there is nothing to price. */
export function toEventWrite(
  generation: FinishedGeneration,
  estimate: CostEstimate | undefined,
): EventWrite {
  const { error, parentId, startedAtMs, endedAtMs } = generation;
  return {
    event_id: generation.id,
    session_id: generation.sessionId,
    event_type: "model",
    event_name: generation.name,
    source: generation.source,
    ...(parentId !== undefined && { parent_id: parentId }),
    ...(error !== undefined && { error }),
    start_time: startedAtMs,
    end_time: endedAtMs,
    duration: endedAtMs - startedAtMs,
    config: {
      ...generation.config,
      model: generation.model,
      provider: generation.provider,
      type: generation.operation,
    },
    inputs: generation.inputs,
    outputs: generation.outputs,
    metadata: { ...generation.metadata, ...metadataOf(generation, estimate) },
    user_properties: generation.userProperties,
  };
}

function metadataOf(
  generation: FinishedGeneration,
  estimate: CostEstimate | undefined,
): JsonObject {
  const { usage, attempts, finishReasons, askedModel, model, firstByteMs } = generation;
  const isPlain = attempts.length === 1 && attempts[0]?.error === undefined;
  return present({
    ...(usage && tokensOf(usage)),
    // The service is the sender of this event, so a known price is its cost.
    cost: estimate?.cost ?? undefined,
    price_table: typeof estimate?.cost === "number" ? estimate.price_table : undefined,
    cost_unknown: estimate?.cost === null ? estimate.reason : undefined,
    finish_reason: finishReasons[0],
    finish_reasons: finishReasons.length > 1 ? finishReasons : undefined,
    response_id: generation.responseId,
    response_model: generation.responseModel,
    requested_model: askedModel === model ? undefined : askedModel,
    provider_type: generation.providerType,
    stream: generation.isStream,
    time_to_first_byte_ms: firstByteMs,
    attempts: isPlain || attempts.length === 0 ? undefined : attempts.map(attemptOf),
  });
}

function attemptOf({ durationMs, ...attempt }: Attempt): JsonObject {
  return present({ ...attempt, duration_ms: durationMs });
}

function tokensOf(usage: Usage): JsonObject {
  return {
    ...tokenCounts(usage),
    usage: {
      input: usage.input,
      cache_read: usage.cacheRead,
      cache_write: usage.cacheWrite,
      output: usage.output,
      reasoning: usage.reasoning,
    },
  };
}
