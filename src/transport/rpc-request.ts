// Reads and decodes the request message of a gRPC, gRPC-Web or Connect call with the limits, memory
// and decoders of REST and OTLP. Connect receives an empty message and only frames the answer.
// Source: docs/limits.md; gRPC over HTTP/2; Connect protocol.

import { Readable } from "node:stream";
import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { Reservation } from "../base/byte-budget.ts";
import { ServiceError } from "../base/errors.ts";
import { rpcBodyClassOf } from "./access-rules.ts";
import { readBody, tooLarge } from "./body.ts";
import { dropBody } from "./body-parts.ts";
import { decodeJson } from "../base/decode/json.ts";
import { messageFromJson } from "./decode/json-message.ts";
import { decodeProtobuf } from "./decode/protobuf.ts";
import { holdsViews } from "./decode/protobuf-shape.ts";
import { type Exchange, headerOf } from "./exchange.ts";
import type { CallOptions } from "./plain-call.ts";

/** Codec and framing of a request message. */
export type Framing = {
  readonly codec: "json" | "proto";
  /** Whether a flag and a length precede each message, as in gRPC, gRPC-Web and Connect streams. */
  readonly isEnveloped: boolean;
  /** Header that names the compression of the message. */
  readonly encodingHeader: "content-encoding" | "grpc-encoding" | "connect-content-encoding";
};

/** Bytes before each message of an enveloped body: a flag and a length. */
export const envelopeBytes = 5;

/** Envelope flag of a compressed message. The other flags belong to answers. */
const compressedFlag = 1;

const compressions: ReadonlySet<string> = new Set(["gzip", "br", "zstd"]);

/** Returns the framing of a request; undefined if Connect has to refuse it. */
export function framingOf({ request, httpMethod, query }: Exchange): Framing | undefined {
  if (httpMethod === "GET") {
    const codec = codecOf(query.get("encoding") ?? "");
    return codec && { codec, isEnveloped: false, encodingHeader: "content-encoding" };
  }
  const type = (headerOf(request, "content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  const parts = /^application\/(?:(grpc(?:-web)?|connect)(?:\+(proto|json))?|(proto|json))$/.exec(
    type ?? "",
  );
  if (!parts) return undefined;
  const [, protocol, enveloped, plain] = parts;
  const codec = codecOf(enveloped ?? plain ?? "proto");
  if (!codec) return undefined;
  if (protocol === undefined) {
    return { codec, isEnveloped: false, encodingHeader: "content-encoding" };
  }
  const encodingHeader = protocol === "connect" ? "connect-content-encoding" : "grpc-encoding";
  return { codec, isEnveloped: true, encodingHeader };
}

function codecOf(name: string): Framing["codec"] | undefined {
  return name === "json" || name === "proto" ? name : undefined;
}

/** Returns the compression of a request; "identity" for none, undefined for an unknown one. */
export function compressionOf(exchange: Exchange, { encodingHeader }: Framing): string | undefined {
  const isGet = exchange.httpMethod === "GET";
  const name = isGet
    ? exchange.query.get("compression")
    : headerOf(exchange.request, encodingHeader);
  if (!name || name === "identity") return "identity";
  return compressions.has(name) ? name : undefined;
}

/** Returns an empty message in the same framing, for Connect to read. */
export function emptyMessage({ codec, isEnveloped }: Framing): Uint8Array {
  const message = Buffer.from(codec === "json" ? "{}" : "");
  if (!isEnveloped) return message;
  const head = Buffer.alloc(envelopeBytes);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

export type RpcMessage = {
  readonly message: Message;
  readonly bytes: Buffer;
  /** Whether the message has views of the bytes. */
  readonly holdsBytes: boolean;
};

/**
 * Reads and decodes the one message of a request. Fails with the reasons of REST bodies:
 * BODY_TOO_LARGE, BODY_TIMEOUT, OVERLOADED, MALFORMED_BODY.
 */
export async function readRpcMessage(
  exchange: Exchange,
  method: DescMethod,
  framing: Framing,
  compression: string,
  options: Pick<CallOptions, "bodyLimits" | "bodyStallMs"> & { readonly memory: Reservation },
): Promise<RpcMessage> {
  const { memory } = options;
  const bytesMax = options.bodyLimits[rpcBodyClassOf(method)];
  const limits = { bytesMax, stallMs: options.bodyStallMs, reservation: memory };
  const bytes =
    exchange.httpMethod === "GET"
      ? await inflate(messageOfQuery(exchange), compression, limits)
      : framing.isEnveloped
        ? await readEnvelope(exchange, compression, limits)
        : await readBody(exchange.request, {
            ...limits,
            encoding: compression,
            declaredBytes: headerOf(exchange.request, "content-length"),
          });
  const message = await decode(method.input, framing, bytes, memory);
  const holdsBytes = framing.codec === "proto" && holdsViews(method.input);
  if (!holdsBytes) memory.shrink(bytes.length);
  return { message, bytes, holdsBytes };
}

async function decode(
  desc: DescMessage,
  { codec }: Framing,
  bytes: Buffer,
  memory: Reservation,
): Promise<Message> {
  if (codec === "proto") return decodeProtobuf(desc, bytes, memory);
  return messageFromJson(desc, await decodeJson(bytes, memory), memory);
}

type Limits = {
  readonly bytesMax: number;
  readonly stallMs: number;
  readonly reservation: Reservation;
};

/** Reads a body of one envelope and inflates its message. */
async function readEnvelope(
  { request }: Exchange,
  compression: string,
  limits: Limits,
): Promise<Buffer> {
  const { bytesMax, reservation } = limits;
  const body = await readBody(request, {
    ...limits,
    frameBytes: envelopeBytes,
    encoding: undefined,
    declaredBytes: undefined,
  });
  if (body.length < envelopeBytes) throw malformed("there is no message");
  const flags = body.readUInt8(0);
  const length = body.readUInt32BE(1);
  if (length > bytesMax) throw tooLarge(bytesMax);
  const end = envelopeBytes + length;
  if (body.length < end) throw malformed("the message broke off");
  if (body.length > end) throw malformed("there is more than one message");
  if ((flags & ~compressedFlag) !== 0) throw malformed("its flags are not those of a request");
  const payload = body.subarray(envelopeBytes);
  if ((flags & compressedFlag) === 0) return payload;
  if (compression === "identity") throw malformed("it is compressed, and no header says how");
  const inflated = await inflate(payload, compression, limits);
  dropBody(body, reservation);
  return inflated;
}

async function inflate(bytes: Buffer, compression: string, limits: Limits): Promise<Buffer> {
  // Clients send no bytes for an empty message, compressed or not.
  if (compression === "identity" || bytes.length === 0) return bytes;
  const source = Readable.from([bytes], { objectMode: false });
  return readBody(source, { ...limits, encoding: compression, declaredBytes: undefined });
}

/** Returns the message of a GET from its query: text, or base64 for URLs. */
function messageOfQuery({ query }: Exchange): Buffer {
  const text = query.get("message") ?? "";
  return Buffer.from(text, query.get("base64") === "1" ? "base64url" : "utf8");
}

function malformed(what: string): ServiceError {
  return new ServiceError("MALFORMED_BODY", `the body must be one message: ${what}`);
}
