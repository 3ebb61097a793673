// Calls one rpc over each protocol of the service with a body of bytes, and reads the error in each
// protocol's answer.

import { type DescMethod, fromBinary } from "@bufbuild/protobuf";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.js";
import { isJsonObject } from "../../../src/base/json.ts";
import { compress, type Encoding, envelope, envelopeHeadBytes } from "./bytes.ts";
import { type HttpAnswer, type HttpClient, openHttp1, openHttp2 } from "./http.ts";

export type Codec = "json" | "proto";

type Protocol = {
  readonly kind: "rest" | "connect" | "grpc" | "grpc-web" | "otlp";
  readonly http: 1 | 2;
  readonly codec: Codec;
};

export const protocols = {
  "REST over HTTP/1.1": { kind: "rest", http: 1, codec: "json" },
  "REST over HTTP/2": { kind: "rest", http: 2, codec: "json" },
  "Connect JSON": { kind: "connect", http: 1, codec: "json" },
  "Connect Protobuf": { kind: "connect", http: 2, codec: "proto" },
  gRPC: { kind: "grpc", http: 2, codec: "proto" },
  "gRPC JSON": { kind: "grpc", http: 2, codec: "json" },
  "gRPC-Web": { kind: "grpc-web", http: 1, codec: "proto" },
  "OTLP/HTTP JSON": { kind: "otlp", http: 1, codec: "json" },
  "OTLP/HTTP Protobuf": { kind: "otlp", http: 2, codec: "proto" },
} as const satisfies Record<string, Protocol>;

export type ProtocolName = keyof typeof protocols;

export const rpcProtocols = [
  "Connect JSON",
  "Connect Protobuf",
  "gRPC",
  "gRPC JSON",
  "gRPC-Web",
] as const satisfies readonly ProtocolName[];

export type Call = {
  readonly protocol: ProtocolName;
  readonly method: DescMethod;
  /** HTTP method and path of the REST form. */
  readonly rest: string;
  readonly body: Buffer;
  readonly encoding?: Encoding;
  /** Project key; undefined for a call without a key. */
  readonly key?: string | undefined;
  readonly timeoutMs?: number;
};

/** Contents of an answer, in one form for all protocols. */
export type Answer = {
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** gRPC status; 0 for success, undefined if the protocol has none. */
  readonly code: number | undefined;
  /** Reason in `errorCode` or ErrorInfo; empty if there is none. */
  readonly reason: string;
  readonly message: string;
  readonly retryAfter: string | undefined;
  /** First characters of the kept end of the body, for partial success. */
  readonly text: string;
  readonly bytes: number;
  /** Reason why the answer is incomplete; empty if it is complete. */
  readonly failure: string;
};

export type AttackClient = {
  call(call: Call): Promise<Answer>;
  close(): void;
};

/** Opens an attacker's connections: one for HTTP/2, and one per request for HTTP/1.1. */
export function openAttackClient(url: string): AttackClient {
  const clients: Readonly<Record<1 | 2, HttpClient>> = { 1: openHttp1(url), 2: openHttp2(url) };
  return {
    async call(call) {
      const protocol: Protocol = protocols[call.protocol];
      const client = clients[protocol.http];
      const answer = await client.send(await toHttp(call), call.timeoutMs);
      return readAnswer(answer, protocol);
    },
    close() {
      clients[1].close();
      clients[2].close();
    },
  };
}

/** Returns the HTTP request of a call in its protocol. */
export async function toHttp(call: Call) {
  const { kind, codec }: Protocol = protocols[call.protocol];
  const { method, key, encoding = "identity" } = call;
  const authorization: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  const bytes = await compressOnce(encoding, call.body);
  const isStream = method.methodKind !== "unary";
  if (kind === "rest" || kind === "otlp") {
    const [httpMethod = "", path = ""] = (kind === "rest" ? call.rest : otlpRouteOf(method)).split(
      " ",
    );
    const type = codec === "json" ? "application/json" : "application/x-protobuf";
    const headers = { ...authorization, "content-type": type, "content-encoding": encoding };
    return { method: httpMethod, path, headers, body: bytes };
  }
  const path = `/${method.parent.typeName}/${method.name}`;
  if (kind === "connect" && !isStream) {
    const type = { "content-type": `application/${codec}`, "content-encoding": encoding };
    return { method: "POST", path, headers: { ...authorization, ...type }, body: bytes };
  }
  const body = envelope(encoding === "identity" ? 0 : 1, bytes);
  const encodingHeader = kind === "connect" ? "connect-content-encoding" : "grpc-encoding";
  const headers = {
    ...authorization,
    "content-type": `application/${kind}+${codec}`,
    [encodingHeader]: encoding,
    ...(kind === "grpc" ? { te: "trailers" } : {}),
  };
  return { method: "POST", path, headers, body };
}

function otlpRouteOf({ parent }: DescMethod): string {
  return parent.name === "LogsService" ? "POST /v1/logs" : "POST /v1/traces";
}

const compressed = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>();

/** Compresses a repeated body once, so that the sender works less than the service. */
export function compressOnce(encoding: Encoding, body: Buffer): Promise<Buffer> {
  const known = compressed.get(body) ?? new Map<Encoding, Promise<Buffer>>();
  compressed.set(body, known);
  const bytes = known.get(encoding) ?? compress(encoding, body);
  known.set(encoding, bytes);
  return bytes;
}

const textCharactersMax = 400;

function readAnswer(answer: HttpAnswer, { kind }: Protocol): Answer {
  const { status, headers, bytes, failure } = answer;
  const retryAfter = headers["retry-after"];
  const text = answer.tail.toString("latin1", 0, textCharactersMax);
  return { status, code: undefined, retryAfter, text, bytes, failure, ...wordsOf(answer, kind) };
}

type Words = Partial<Answer> & Pick<Answer, "reason" | "message">;

const noWords: Words = { reason: "", message: "" };

function wordsOf(answer: HttpAnswer, kind: Protocol["kind"]): Words {
  const type = answer.headers["content-type"] ?? "";
  switch (kind) {
    case "rest":
      return wordsOfJson(answer);
    case "otlp":
      return type.includes("json") ? wordsOfJson(answer) : wordsOfStatus(answer);
    case "connect":
      return type.startsWith("application/connect") ? wordsOfEnd(answer) : wordsOfJson(answer);
    case "grpc":
      return wordsOfTrailers({ ...answer.headers, ...answer.trailers });
    case "grpc-web":
      return wordsOfTrailers({ ...answer.headers, ...trailersInBody(answer.tail) });
  }
}

function wordsOfJson({ status, tail }: HttpAnswer): Words {
  if (status === 200 || status === 0) return noWords;
  return wordsOfJsonError(parseJson(tail.toString()));
}

function wordsOfJsonError(json: unknown): Words {
  if (!isJsonObject(json)) return noWords;
  const { errorCode, message, details } = json;
  const [detail] = Array.isArray(details) ? (details as readonly unknown[]) : [];
  const value = isJsonObject(detail) ? detail["value"] : undefined;
  const reason = typeof value === "string" ? reasonOf(Buffer.from(value, "base64")) : errorCode;
  return { reason: textOf(reason), message: textOf(message) };
}

/** Reads an error of OTLP over HTTP: google.rpc.Status, which has no reason of ours. */
function wordsOfStatus({ status, tail }: HttpAnswer): Words {
  if (status === 200 || status === 0) return noWords;
  try {
    return { reason: "", message: fromBinary(StatusSchema, tail).message };
  } catch {
    // A denial has the same JSON body on every route.
    return wordsOfJsonError(parseJson(tail.toString()));
  }
}

/** Reads the last envelope of a Connect stream, which contains the error. */
function wordsOfEnd({ tail }: HttpAnswer): Words {
  const end = tail.toString("latin1").lastIndexOf('{"error"');
  const json = end < 0 ? undefined : parseJson(tail.subarray(end).toString());
  return isJsonObject(json) ? wordsOfJsonError(json["error"]) : noWords;
}

function wordsOfTrailers(trailers: Readonly<Record<string, string>>): Words {
  const code = trailers["grpc-status"];
  const details = trailers["grpc-status-details-bin"];
  const status = details ? fromBinary(StatusSchema, Buffer.from(details, "base64")) : undefined;
  const retryAfter = trailers["retry-after"];
  return {
    ...(code === undefined ? {} : { code: Number(code) }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    reason: reasonOf(status?.details[0]?.value),
    message: decodeURIComponent(trailers["grpc-message"] ?? ""),
  };
}

const trailerFlag = 0x80;

function trailersInBody(body: Buffer): Readonly<Record<string, string>> {
  for (let at = 0; at + envelopeHeadBytes <= body.length;) {
    const end = at + envelopeHeadBytes + body.readUInt32BE(at + 1);
    if (body[at] !== trailerFlag) at = end;
    else {
      const lines = body
        .toString("latin1", at + envelopeHeadBytes, end)
        .trim()
        .split("\r\n");
      return Object.fromEntries(
        lines.map((line) => [
          line.slice(0, line.indexOf(":")).toLowerCase(),
          line.slice(line.indexOf(":") + 1).trim(),
        ]),
      );
    }
  }
  return {};
}

function reasonOf(bytes: Uint8Array | undefined): string {
  return bytes ? fromBinary(ErrorInfoSchema, bytes).reason : "";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The answer was cut off.
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
