// Checks the fields of a request that the proxy needs; the provider checks the others.
// Source: docs/decisions.md, 21.1.

import { refuse } from "../../base/errors.ts";
import { modelLengthMax } from "../../base/field-limits.ts";
import { isJsonArray, isJsonObject, type JsonObject, present } from "../../base/json.ts";
import { nestingDepthMax } from "../../base/limits.ts";
import { assertSound, isSound } from "../../tracing/events/parse-event.ts";
import type { ModelRequest } from "../calls/model-call.ts";
import { type RecordedRequest, withoutOwnKeys } from "../calls/generation-event.ts";
import { toChatHistory as historyOfMessage } from "../anthropic/message.ts";
import { readUserId } from "../anthropic/user-id.ts";
import { toChatHistory as historyOfResponse } from "../openai/response.ts";
import type { CallHeaders } from "./request-headers.ts";

/** Request with the bytes of its body. */
export type ProxyRequest = Required<Omit<ModelRequest, "idempotencyKey" | "betas" | "isCount">> & {
  /** Additions of a configuration to the recorded `config` and `inputs`, and to the prompt. */
  readonly configured?: {
    readonly config: JsonObject;
    readonly inputs: JsonObject;
    readonly promptCharacters: number;
  };
};

/** One level less than in an event, because each recorded part gets a name there. */
const depthMax = nestingDepthMax - 1;

/** Checks a request; `json` is the parsed `bytes`. Fails with INVALID_ARGUMENT naming the field. */
export function parseProxyRequest(
  operation: ModelRequest["operation"],
  bytes: Uint8Array,
  json: unknown,
): ProxyRequest {
  if (!isJsonObject(json)) refuse("the body", "must be a JSON object");
  const { model, messages, input, stream = false, background = false } = json;
  if (typeof model !== "string" || model === "" || model.length > modelLengthMax) {
    refuse("model", "must name a model, such as `openai/gpt-4o-mini`, or an alias");
  }
  const isOfMessages = operation === "chat" || operation === "message";
  if (isOfMessages && !(isJsonArray(messages) && messages.length > 0)) {
    refuse("messages", "must be an array of messages, and not empty");
  }
  if (operation === "embedding" && typeof input !== "string" && !isJsonArray(input)) {
    refuse("input", "must be a text, or an array of them");
  }
  if (operation === "response" && background === true) {
    refuse("background", "must not be true: an answer that comes later could not be recorded");
  }
  if (typeof stream !== "boolean" && stream !== null) refuse("stream", "must be a boolean");
  if (!isSound(json, depthMax)) {
    refuse("the body", `may nest ${depthMax} levels, and its numbers must be finite`);
  }
  return { operation, body: json, bytes, isStream: operation !== "embedding" && stream === true };
}

/** Default event name of a call together with its model, as in OpenTelemetry's spans of models. */
const operations = {
  chat: "chat",
  embedding: "embeddings",
  response: "chat",
  message: "chat",
} as const;

export function toRecorded(request: ProxyRequest, headers: CallHeaders): RecordedRequest {
  return {
    nameFor: (model) => headers.name ?? `${operations[request.operation]} ${model}`,
    source: "proxy",
    config: { ...request.configured?.config, ...configOf(request.body) },
    inputs: inputsOf(request),
    metadata: { ...labelsOf(request.body), ...headers.metadata },
    userProperties: userOf(request, headers),
  };
}

function inputsOf({ operation, body, configured }: ProxyRequest): JsonObject {
  if (operation === "embedding") return { input: body["input"] ?? null };
  if (operation === "response") return { chat_history: historyOfResponse(body) };
  if (operation === "message") return { chat_history: historyOfMessage(body) };
  return { ...configured?.inputs, chat_history: body["messages"] ?? [] };
}

/** Members of a request that are recorded elsewhere or do not affect the model. */
const notParameters: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "instructions",
  "system",
  "input",
  "stream",
  "stream_options",
  "metadata",
  "user",
]);

/** Members of a request that keep their names in `config`. */
const ownMembers = ["tools", "tool_choice", "functions", "function_call", "response_format"];

function configOf(body: JsonObject): JsonObject {
  const own = present(Object.fromEntries(ownMembers.map((name) => [name, body[name]])));
  const rest = Object.entries(body).filter(
    ([name]) => !notParameters.has(name) && !ownMembers.includes(name),
  );
  return rest.length === 0 ? own : { ...own, hyperparameters: Object.fromEntries(rest) };
}

/** Returns the recorded part of `metadata`. Throws INVALID_ARGUMENT if no event can hold it. */
function labelsOf({ metadata }: JsonObject): JsonObject {
  if (!isJsonObject(metadata)) return {};
  assertSound(metadata, "metadata");
  return withoutOwnKeys(metadata);
}

/** Returns the session that the headers name, else the one that a coding agent writes. */
export function sessionIdOf({ operation, body }: ProxyRequest, headers: CallHeaders) {
  return headers.sessionId ?? (operation === "message" ? readUserId(body).sessionId : undefined);
}

/** Returns the user from the header, else from the body's member for it. */
function userOf({ operation, body }: ProxyRequest, headers: CallHeaders): JsonObject {
  const own = operation === "message" ? readUserId(body).user : body["user"];
  const user = headers.user ?? own;
  return typeof user === "string" && user !== "" ? { user } : {};
}
