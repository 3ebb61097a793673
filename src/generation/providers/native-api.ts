// Sends requests to providers whose API the caller speaks: OpenAI's, or Anthropic's Messages. No
// header of the caller is sent but its betas. Source: docs/decisions.md, 21.1, 21.8, 21.9; the
// references of both APIs.

import type { Dispatcher } from "undici";
import { refuse } from "../../base/errors.ts";
import { isJsonObject, type JsonValue, tryParseBytes } from "../../base/json.ts";
import { hasMoreContainers } from "../../base/json-containers.ts";
import { containersMax, nestingDepthMax } from "../../base/limits.ts";
import { isSound } from "../../tracing/events/parse-event.ts";
import { isOfType, streamType } from "./media-type.ts";
import { type Phase, toNetworkError } from "./network-error.ts";
import { type Outbound, readUpTo } from "./outbound.ts";
import type { Connection, Target } from "../provider.ts";
import { azureApiVersionDefault, baseUrlOf } from "./base-url.ts";
import { isAnswer } from "../openai/answer.ts";
import { errorBytesMax, failedAnswer, malformedFault, statusFault } from "../openai/error.ts";
import { readParts } from "../openai/event-stream.ts";
import {
  type ModelAnswer,
  type ModelRequest,
  type StreamAnswer,
  toStreamAnswer,
  type WholeAnswer,
} from "../calls/model-call.ts";

type Response = Dispatcher.ResponseData;

const paths = {
  chat: "/chat/completions",
  embedding: "/embeddings",
  response: "/responses",
  message: "/messages",
} as const;

const jsonType = "application/json";

/** Names of Azure's deployments: part of a URL path that they must not leave. */
const deploymentName = /^(?!\.{1,2}$)[\w.-]+$/;

/** Request in the bytes that the provider gets. */
type NativeRequest = ModelRequest & Required<Pick<ModelRequest, "bytes">>;

/** Sends a request. Resolves and fails like `CallModel`. */
export async function sendNative(
  outbound: Pick<Outbound, "dispatcher">,
  target: Target,
  request: NativeRequest,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const { connection } = target;
  const response = await orFault(connection, "head", signal, () =>
    outbound.dispatcher(connection).request({
      ...addressOf(target, request),
      method: "POST",
      headers: headersOf(connection, request),
      body: request.bytes,
      signal,
    }),
  );
  // Without a listener, an error of an unread body would end the process.
  response.body.on("error", () => undefined);
  if (response.statusCode >= 300) throw await readFault(connection, response, signal);
  return request.isStream
    ? readStream(connection, request, response, signal)
    : readWhole(connection, request, response, signal);
}

type Base = { readonly origin: string; readonly folder: string };

/** Parsed once: routing hands out the same connection for many requests. */
const bases = new WeakMap<Connection, Base>();

function baseOf(connection: Connection): Base {
  const known = bases.get(connection);
  if (known) return known;
  const { origin, pathname } = new URL(baseUrlOf(connection));
  const base = { origin, folder: pathname === "/" ? "" : pathname };
  bases.set(connection, base);
  return base;
}

function addressOf({ connection, model }: Target, { operation, isCount }: NativeRequest) {
  const { origin, folder } = baseOf(connection);
  if (isCount) return { origin, path: `${folder}${paths[operation]}/count_tokens` };
  if (connection.type !== "azure") return { origin, path: `${folder}${paths[operation]}` };
  if (!deploymentName.test(model)) {
    refuse("model", `is not a valid deployment name of provider ${connection.name}`);
  }
  // Azure has this API under one path, which takes the deployment in the body.
  if (operation === "response") return { origin, path: `${folder}/v1${paths.response}` };
  const version = encodeURIComponent(connection.apiVersion ?? azureApiVersionDefault);
  const path = `${folder}/deployments/${model}${paths[operation]}?api-version=${version}`;
  return { origin, path };
}

/** Returns the headers that authenticate a call. */
export function keyHeaders({ type, secrets }: Connection): Record<string, string> {
  const { api_key: key } = secrets;
  // Servers in private networks often require no key.
  if (key === undefined) return {};
  if (type === "anthropic") return { "x-api-key": key };
  return type === "azure" ? { "api-key": key } : { authorization: `Bearer ${key}` };
}

function headersOf(
  connection: Connection,
  { operation, isStream, idempotencyKey, betas }: NativeRequest,
): Record<string, string> {
  return {
    ...keyHeaders(connection),
    "content-type": jsonType,
    accept: isStream ? streamType : jsonType,
    "user-agent": "waggle",
    ...(operation === "message" && {
      "anthropic-version": anthropicVersion,
      ...(betas !== undefined && { "anthropic-beta": betas }),
    }),
    ...(idempotencyKey !== undefined && { [idempotencyHeader]: idempotencyKey }),
  };
}

/** Version of the Messages API; there is no other. */
export const anthropicVersion = "2023-06-01";

/** Header by which providers tell a repeated call. */
export const idempotencyHeader = "idempotency-key";

/** Runs a part of a call; converts network errors to ProviderError. */
async function orFault<T>(
  connection: Connection,
  phase: Phase,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw toNetworkError(error, connection, phase) ?? error;
  }
}

async function readFault(
  connection: Connection,
  { statusCode, headers, body }: Response,
  signal: AbortSignal,
): Promise<Error> {
  const text = await orFault(connection, "head", signal, () => readUpTo(body, errorBytesMax));
  const { "retry-after": retryAfter } = headers;
  const asked = typeof retryAfter === "string" ? retryAfter : undefined;
  return statusFault(connection, statusCode, asked, text);
}

async function readWhole(
  connection: Connection,
  { operation, isCount }: NativeRequest,
  { headers, body }: Response,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  const bytes = await orFault(connection, "body", signal, () => body.bytes());
  const json = hasMoreContainers(bytes, containersMax) ? undefined : tryParseBytes(bytes);
  const isExpected = isCount ? isTokenCount(json) : isAnswer(operation, json);
  if (!isExpected || !isJsonObject(json) || !isSound(json, nestingDepthMax)) {
    if (hasError(json)) throw failedAnswer(connection, bytes);
    throw malformedFault(connection, `with a body that is not a valid ${operation} of its API`);
  }
  const { "content-type": type } = headers;
  const contentType = isOfType(type, jsonType) ? type : jsonType;
  return { kind: "whole", bytes, json, contentType };
}

function isTokenCount(json: unknown): boolean {
  return isJsonObject(json) && typeof json["input_tokens"] === "number";
}

/** Returns whether an answer with status 200 reports a failure. */
function hasError(json: JsonValue | undefined): boolean {
  return isJsonObject(json) && isJsonObject(json["error"]);
}

async function readStream(
  connection: Connection,
  { operation }: NativeRequest,
  { headers, body }: Response,
  signal: AbortSignal,
): Promise<StreamAnswer> {
  if (!isOfType(headers["content-type"], streamType)) {
    const text = await orFault(connection, "body", signal, () => readUpTo(body, errorBytesMax));
    if (hasError(tryParseBytes(text))) throw failedAnswer(connection, text);
    throw malformedFault(connection, "with a body that is not an event stream");
  }
  const arriving = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let phase: Phase = "head";
  const next = async (): Promise<IteratorResult<Buffer>> => {
    const result = await orFault(connection, phase, signal, () => arriving.next());
    if (result.done && phase === "head") throw malformedFault(connection, "with nothing");
    phase = "body";
    return result;
  };
  const source = { chunks: { next }, close: () => void body.destroy() };
  return toStreamAnswer(readParts(source, connection, operation));
}
