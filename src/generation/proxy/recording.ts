// Converts a proxied request to the recorded fields of its event.
// Source: docs/spec.md, "Event record", "config"; docs/decisions.md, 20, 21.

import { type JsonObject, present } from "../../base/json.ts";
import type { RecordedRequest } from "../calls/generation-event.ts";
import type { CallHeaders } from "./request-headers.ts";
import type { ProxyRequest } from "./request.ts";

/** Default event name of a call together with its model, as in OpenTelemetry's spans of models. */
const operations = { chat: "chat", embedding: "embeddings" } as const;

export function toRecorded(request: ProxyRequest, headers: CallHeaders): RecordedRequest {
  return {
    nameFor: (model) => headers.name ?? `${operations[request.operation]} ${model}`,
    source: "proxy",
    config: configOf(request.body),
    inputs: inputsOf(request),
    metadata: headers.metadata,
    userProperties: userOf(request, headers),
  };
}

function inputsOf({ operation, body }: ProxyRequest): JsonObject {
  if (operation === "embedding") return { input: body["input"] ?? null };
  return { chat_history: body["messages"] ?? [] };
}

/** Members of a request that are recorded elsewhere or do not affect the model. */
const notParameters: ReadonlySet<string> = new Set([
  "model",
  "messages",
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

/** Returns the user from the header, else from OpenAI's `user` member. */
function userOf(request: ProxyRequest, headers: CallHeaders): JsonObject {
  const user = headers.user ?? request.body["user"];
  return typeof user === "string" && user !== "" ? { user } : {};
}
