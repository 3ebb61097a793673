// Checks the fields of a request that the proxy needs; the provider checks the others.
// Source: docs/decisions.md, 21.

import { modelLengthMax } from "../../base/field-limits.ts";
import { ServiceError } from "../../base/errors.ts";
import { isJsonArray, isJsonObject } from "../../base/json.ts";
import { nestingDepthMax } from "../../base/limits.ts";
import { isSound } from "../../tracing/events/parse-event.ts";
import type { ModelRequest } from "../calls/model-call.ts";

/** Request with the bytes of its body. */
export type ProxyRequest = Required<ModelRequest>;

/** One level less than in an event, because each recorded part gets a name there. */
const depthMax = nestingDepthMax - 1;

/** Checks a request; `json` is the parsed `bytes`. Fails with INVALID_ARGUMENT naming the field. */
export function parseProxyRequest(
  operation: ModelRequest["operation"],
  bytes: Uint8Array,
  json: unknown,
): ProxyRequest {
  if (!isJsonObject(json)) throw invalid("the body", "must be a JSON object");
  const { model, messages, input, stream = false } = json;
  if (typeof model !== "string" || model === "" || model.length > modelLengthMax) {
    throw invalid("model", "must name a model, such as `openai/gpt-4o-mini`, or an alias");
  }
  if (operation === "chat" && !(isJsonArray(messages) && messages.length > 0)) {
    throw invalid("messages", "must be an array of messages, and not empty");
  }
  if (operation === "embedding" && typeof input !== "string" && !isJsonArray(input)) {
    throw invalid("input", "must be a text, or an array of them");
  }
  if (typeof stream !== "boolean" && stream !== null) throw invalid("stream", "must be a boolean");
  if (!isSound(json, depthMax)) throw invalid("the body", unsoundness);
  return { operation, body: json, bytes, isStream: operation === "chat" && stream === true };
}

const unsoundness = `may nest ${depthMax} levels, and its numbers must be finite`;

function invalid(field: string, fault: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `${field}: ${fault}`);
}
