// Has a stream tell its tokens, for calls that a budget counts: the OpenAI API tells them only if
// the request asks. Source: docs/decisions.md, 49.1; the OpenAI API reference, "Streaming".

import { isJsonArray, isJsonObject, type JsonObject } from "../../base/json.ts";
import type { ModelRequest, StreamPart } from "../calls/model-call.ts";

/** Returns a request whose stream tells its tokens; the same one if it asks or does not stream. */
export function withUsage<Request extends ModelRequest>(request: Request): Request {
  const { body, bytes, isStream } = request;
  if (!isStream || asksUsage(request)) return request;
  const { stream_options: before } = body;
  const options = { ...(isJsonObject(before) && before), include_usage: true };
  const asking = { ...body, stream_options: options };
  return {
    ...request,
    body: asking,
    ...(bytes && { bytes: before === undefined ? withMember(bytes, options) : write(asking) }),
  };
}

/** Whether the tokens of a request's stream are told: a chat has to ask for them. */
export function asksUsage({ operation, body }: ModelRequest): boolean {
  if (operation !== "chat") return true;
  const { stream_options: options } = body;
  return isJsonObject(options) && options["include_usage"] === true;
}

/** Whether a part tells the tokens and nothing else. */
export function isUsageOnly({ chunk }: StreamPart): boolean {
  if (!chunk || !isJsonObject(chunk["usage"])) return false;
  const { choices } = chunk;
  return isJsonArray(choices) && choices.length === 0;
}

/** Returns the bytes of an object that is not empty with one more member; all others stay. */
function withMember(bytes: Uint8Array, options: JsonObject): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = buffer.indexOf("{") + 1;
  const member = `"stream_options":${JSON.stringify(options)},`;
  return Buffer.concat([buffer.subarray(0, start), Buffer.from(member), buffer.subarray(start)]);
}

function write(body: JsonObject): Uint8Array {
  return Buffer.from(JSON.stringify(body));
}
