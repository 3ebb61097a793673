// The answer of a gRPC, gRPC-Web or Connect call: large messages are encoded in pieces, and bytes
// are written with backpressure and counted until they are sent.
// Source: docs/limits.md; gRPC over HTTP/2, "Responses".

import type { OutgoingHttpHeaders } from "node:http";
import { create, type DescMethod, type Message, toJson } from "@bufbuild/protobuf";
import {
  type ContextValues,
  createContextKey,
  type Interceptor,
  type UnaryResponse,
} from "@connectrpc/connect";
import type { UniversalHandler } from "./connect-adapter.ts";
import { memoryKey } from "../access/call.ts";
import { encodeJsonInPieces, wholeBytesMax } from "./encode/json.ts";
import { isLarge } from "./encode/large.ts";
import { toPieces } from "./encode/protobuf.ts";
import { withWellFormedTexts } from "./encode/well-formed.ts";
import { type Exchange, hasUnreadBody } from "./exchange.ts";
import { envelopeBytes, type Framing } from "./rpc-request.ts";
import { endAnswer, writePieces } from "./write.ts";

type UniversalAnswer = Awaited<ReturnType<UniversalHandler>>;

/** JSON of an answer that was encoded in pieces; Connect writes `{}` in its place. */
const jsonKey = createContextKey<Buffer | undefined>(undefined, { description: "JSON answer" });

/** Encodes large answers in pieces, before Connect would encode them at once. */
export function largeAnswers(
  framingOf: (values: ContextValues) => Framing | undefined,
): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    const { contextValues: values, method } = request;
    const framing = framingOf(values);
    if (!framing) return response;
    if (response.stream) {
      const holder = values.get(memoryKey)?.holder;
      return { ...response, message: inPieces(method, response.message, framing, holder) };
    }
    const { message } = response;
    const clean =
      framing.codec === "json"
        ? { ...response, message: withWellFormedTexts(method.output, message) }
        : response;
    if ((values.get(memoryKey)?.bytes() ?? 0) <= wholeBytesMax) return clean;
    return encodeUnary(clean, framing, values);
  };
}

async function encodeUnary(
  response: UnaryResponse,
  { codec }: Framing,
  values: ContextValues,
): Promise<UnaryResponse> {
  const { output } = response.method;
  const holder = values.get(memoryKey)?.holder;
  if (codec === "proto") {
    return { ...response, message: await toPieces(output, response.message, holder) };
  }
  values.set(jsonKey, await encodeJsonInPieces(toJson(output, response.message), holder));
  // Connect needs a message with its defaults, although none of its bytes are sent.
  return { ...response, message: create(output) };
}

async function* inPieces(
  { output }: DescMethod,
  messages: AsyncIterable<Message>,
  { codec }: Framing,
  holder: string | undefined,
): AsyncIterable<Message> {
  for await (const message of messages) {
    if (codec === "json") yield withWellFormedTexts(output, message);
    else yield isLarge(message) ? await toPieces(output, message, holder) : message;
  }
}

/** Writes an answer to its end. Fails if the client has gone or reads nothing. */
export async function writeRpcAnswer(
  { request, response }: Exchange,
  answer: UniversalAnswer,
  values: ContextValues,
  discard: () => Promise<void>,
): Promise<void> {
  const memory = values.get(memoryKey);
  const json = values.get(jsonKey);
  const iterator = answer.body?.[Symbol.asyncIterator]();
  const isUnread = hasUnreadBody(request);
  const isHttp2 = request.httpVersionMajor >= 2;
  if (isUnread && !isHttp2) answer.header?.set("connection", "close");
  if (json && !isEnveloped(answer)) answer.header?.set("content-length", String(json.length));
  try {
    let next = await iterator?.next();
    response.writeHead(answer.status, nodeHeadersOf(answer.header));
    for (let isFirst = true; next && !next.done; next = await iterator?.next()) {
      const bytes = json && isFirst ? replaced(answer, json) : next.value;
      isFirst = false;
      memory?.grow(bytes.length);
      await writePieces(response, response, bytes);
      memory?.shrink(bytes.length);
    }
    if (answer.trailer) response.addTrailers(nodeHeadersOf(plainMessage(answer.trailer)));
    if (isUnread && !isHttp2) await discard();
    await endAnswer(response);
  } catch (error) {
    await iterator?.throw?.(error).catch(() => undefined);
    throw error;
  } finally {
    await iterator?.return?.().catch(() => undefined);
  }
}

/** Returns the bytes of the answer's first message, in place of the empty one. */
function replaced(answer: UniversalAnswer, json: Buffer): Buffer {
  if (!isEnveloped(answer)) return json;
  const head = Buffer.alloc(envelopeBytes);
  head.writeUInt32BE(json.length, 1);
  return Buffer.concat([head, json]);
}

/** Returns whether messages come in envelopes: all do except Connect's unary answers. */
function isEnveloped({ header }: UniversalAnswer): boolean {
  return !/^application\/(json|proto)\b/i.test(header?.get("content-type") ?? "");
}

/**
 * Decodes the characters of `grpc-message` that Connect percent-encodes beyond gRPC's rules.
 * @grpc/grpc-js does not decode these, so its callers would read `limit%3A must be`.
 */
function plainMessage(trailer: Headers): Headers {
  const message = trailer.get("grpc-message");
  if (message) trailer.set("grpc-message", formatGrpcMessage(decodeURIComponent(message)));
  return trailer;
}

/** Percent-encodes as gRPC over HTTP/2 says: printable ASCII except `%` stays as it is. */
function formatGrpcMessage(message: string): string {
  return message.replace(/[^\x20-\x24\x26-\x7e]/gu, encodeURIComponent);
}

function nodeHeadersOf(headers: Headers | undefined): OutgoingHttpHeaders {
  const object: OutgoingHttpHeaders = {};
  headers?.forEach((value, name) => {
    if (name !== "set-cookie") object[name] = value;
  });
  const cookies = headers?.getSetCookie() ?? [];
  return cookies.length === 0 ? object : { ...object, "set-cookie": cookies };
}
