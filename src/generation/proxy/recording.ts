// A proxied call, whatever became of it → the generation that is stored. Called by proxy.ts.
// Source: docs/spec.md, "Event record", "config"; docs/decisions.md, 20, 21.

import { type JsonObject, present } from "../../base/json.ts";
import type { Route, Target } from "../provider.ts";
import type { Attempt, FinishedGeneration } from "../record/generation-event.ts";
import type { Place } from "../record/generations.ts";
import type { ReadAnswer } from "./answer-reader.ts";
import type { CallHeaders } from "./request-headers.ts";
import type { ProxyRequest } from "./upstream.ts";

/** A call that runs. */
export type RunningCall = {
  readonly request: ProxyRequest;
  readonly headers: CallHeaders;
  readonly route: Route;
  readonly place: Place;
  readonly startedAtMs: number;
};

/** What became of it. */
export type CallEnd = {
  /** The one that answered, or the last that was tried. */
  readonly target: Target;
  readonly attempts: readonly Attempt[];
  readonly firstByteMs?: number | undefined;
  /** As far as it came. */
  readonly answer?: ReadAnswer | undefined;
  readonly error?: string | undefined;
};

const source = "proxy";
/** Without a name of its own a call is named by this and its model, as spans of models are. */
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

/** Members of a request that are recorded elsewhere, or say nothing of how the model runs. */
const notParameters: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "input",
  "stream",
  "stream_options",
  "metadata",
  "user",
]);

/** Members of a request that `config` has under their own names. */
const ownMembers = ["tools", "tool_choice", "functions", "function_call", "response_format"];

function configOf(body: JsonObject): JsonObject {
  const own = present(Object.fromEntries(ownMembers.map((name) => [name, body[name]])));
  const rest = Object.entries(body).filter(
    ([name]) => !notParameters.has(name) && !ownMembers.includes(name),
  );
  return rest.length === 0 ? own : { ...own, hyperparameters: Object.fromEntries(rest) };
}

/** OpenAI's own `user` names the same, where the header is absent. */
function userOf({ request, headers }: RunningCall): JsonObject {
  const user = headers.user ?? request.body["user"];
  return typeof user === "string" && user !== "" ? { user } : {};
}
