// Converts a finished proxy call, failed or not, to the generation that is stored.
// Source: docs/spec.md, "Event record", "config"; docs/decisions.md, 20, 21.

import { type JsonObject, present } from "../../base/json.ts";
import type { Route, Target } from "../provider.ts";
import type { Attempt, FinishedGeneration } from "../calls/generation-event.ts";
import type { Place } from "../calls/generations.ts";
import type { ReadAnswer } from "../openai/answer.ts";
import type { CallHeaders } from "./request-headers.ts";
import type { ProxyRequest } from "../calls/model-call.ts";

/** Running call. */
export type RunningCall = {
  readonly request: ProxyRequest;
  readonly headers: CallHeaders;
  readonly route: Route;
  readonly place: Place;
  readonly startedAtMs: number;
};

/** Result of a call. */
export type CallEnd = {
  /** Target that answered, or the last one tried. */
  readonly target: Target;
  readonly attempts: readonly Attempt[];
  readonly firstByteMs?: number | undefined;
  /** Answer, possibly incomplete. */
  readonly answer?: ReadAnswer | undefined;
  readonly error?: string | undefined;
};

const source = "proxy";
/** Default event name of a call together with its model, as in OpenTelemetry's spans of models. */
const operations = { chat: "chat", embedding: "embeddings" } as const;

export function toGeneration(call: RunningCall, end: CallEnd): FinishedGeneration {
  const { request, headers, route, place, startedAtMs } = call;
  const { target, attempts, firstByteMs, answer, error } = end;
  return {
    id: place.generationId,
    sessionId: place.sessionId,
    parentId: place.parentId,
    name: headers.name ?? `${operations[request.operation]} ${target.model}`,
    source,
    operation: request.operation,
    startedAtMs,
    endedAtMs: Date.now(),
    firstByteMs,
    isStream: request.isStream,
    askedModel: route.asked,
    provider: target.connection.name,
    providerType: target.connection.type,
    model: target.model,
    responseModel: answer?.responseModel,
    responseId: answer?.responseId,
    finishReasons: answer?.finishReasons ?? [],
    config: configOf(request.body),
    inputs: inputsOf(request),
    outputs: answer?.outputs ?? {},
    usage: answer?.usage,
    error,
    attempts,
    metadata: headers.metadata,
    userProperties: userOf(call),
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
function userOf({ request, headers }: RunningCall): JsonObject {
  const user = headers.user ?? request.body["user"];
  return typeof user === "string" && user !== "" ? { user } : {};
}
