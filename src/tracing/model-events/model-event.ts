// Converts a model call of older clients to a model event.
// Source: the published clients' `/events/model` request.

import type { Value } from "@bufbuild/protobuf/wkt";
import type { ModelEvent } from "../../../gen/waggle/compat/v0/tracing_pb.js";
import { refuse } from "../../base/errors.ts";
import { type JsonObject, type JsonValue, present } from "../../base/json.ts";
import { fromValueMessage } from "../../base/value-message.ts";
import type { EventInput } from "../events/parse-event.ts";

const required = ["model", "provider", "response", "duration"] as const;

/**
 * Returns the event: settings in `config`, messages in `inputs.chat_history`, the answer in
 * `outputs`, usage and cost in `metadata`. Throws INVALID_ARGUMENT naming an absent field, prefixed
 * by `path`.
 */
export function toModelEvent(call: ModelEvent, path: string): EventInput {
  for (const field of required) {
    if (call[field] === undefined) refuse(`${path}${field}`, "is required");
  }
  return {
    event_type: "model",
    event_name: call.eventName ?? call.modelName ?? call.model,
    event_id: call.eventId,
    session_id: call.sessionId,
    parent_id: call.parentId,
    source: call.source,
    error: call.error,
    start_time: call.startTime,
    end_time: call.endTime,
    duration: call.duration,
    config: present({
      model: call.model,
      provider: call.provider,
      version: call.modelVersion,
      model_name: call.modelName,
      hyperparameters: call.hyperparameters,
      template: nonEmpty(call.template),
      tools: nonEmpty(call.tools),
      tool_choice: toToolChoice(call.toolChoice, path),
      response_format: call.responseFormat,
    }),
    inputs: { ...call.templateInputs, chat_history: call.messages },
    outputs: toOutputs(call.response ?? {}),
    metadata: { ...call.metadata, ...call.usage, ...present({ cost: call.cost }) },
    user_properties: call.userProperties,
  };
}

// Clients send null if the caller chose nothing.
function toToolChoice(choice: Value | undefined, path: string): JsonValue | undefined {
  if (choice === undefined || choice.kind.case === "nullValue") return undefined;
  return fromValueMessage(`${path}tool_choice`, choice);
}

// Returns the message of a provider's answer, or the whole answer if it has none.
function toOutputs(response: JsonObject): JsonObject {
  const choices = response["choices"];
  const [choice] = Array.isArray(choices) ? (choices as JsonObject[]) : [];
  const message = choice?.["message"];
  if (typeof message !== "object" || message === null || Array.isArray(message)) return response;
  return message as JsonObject;
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
