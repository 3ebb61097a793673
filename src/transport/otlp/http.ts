// OTLP over HTTP: decodes request bodies to messages, and encodes answers and errors in the
// encoding of the request. Source: OpenTelemetry protocol, "OTLP/HTTP".

import { create, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.js";
import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { decodeJson } from "../../base/decode/json.ts";
import { decodeProtobuf } from "../decode/protobuf.ts";
import type { ReadRequest, Signal } from "./signals.ts";

/**
 * Reads an export request in the encoding of its content type. Fails with MALFORMED_BODY if the
 * body is not valid or the content type is neither JSON nor Protobuf, and with BODY_TOO_LARGE or
 * OVERLOADED if there is no memory for it.
 */
export async function parseExportRequest(
  { method, readJson }: Signal,
  contentType: string,
  body: Buffer,
  memory: Reservation,
): Promise<ReadRequest> {
  const encoding = encodingOf(contentType);
  if (encoding === undefined) {
    throw new ServiceError(
      "MALFORMED_BODY",
      "content type must be application/x-protobuf or application/json",
    );
  }
  if (encoding === "json") {
    const json = await decodeJson(body, memory);
    memory.shrink(body.length);
    return readJson(json, memory);
  }
  // Ids of spans are views of the body, so the body counts until the call is over.
  const request = await decodeProtobuf(method.input, body, memory);
  return { request, rejected: [] };
}

/** Body and content type of an answer. */
export type Encoded = { readonly contentType: string; readonly body: Uint8Array<ArrayBuffer> };

/**
 * Encodes the answer in the encoding of the request, or in Protobuf if its content type is unknown.
 */
export function formatExportResponse(
  { method }: Signal,
  contentType: string,
  response: Message,
): Encoded {
  return encodingOf(contentType) === "json"
    ? jsonBody(toJsonString(method.output, response))
    : protobufBody(toBinary(method.output, response));
}

/** RPC code in the `google.rpc.Status` of an HTTP status. */
const codes: Readonly<Record<number, Code>> = {
  400: Code.InvalidArgument,
  404: Code.NotFound,
  408: Code.DeadlineExceeded,
  413: Code.ResourceExhausted,
  415: Code.InvalidArgument,
  422: Code.InvalidArgument,
  429: Code.ResourceExhausted,
  503: Code.Unavailable,
};

/** Encodes an error as the `google.rpc.Status` that OTLP requires; `message` may be empty. */
export function formatExportError(contentType: string, status: number, message: string): Encoded {
  const body = create(StatusSchema, { code: codes[status] ?? Code.Internal, message });
  return encodingOf(contentType) === "json"
    ? jsonBody(toJsonString(StatusSchema, body))
    : protobufBody(toBinary(StatusSchema, body));
}

/** Returns the encoding that a content type names; undefined if it names neither. */
export function encodingOf(contentType = ""): "json" | "protobuf" | undefined {
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (type === "application/json") return "json";
  return type === "application/x-protobuf" || type === "application/protobuf"
    ? "protobuf"
    : undefined;
}

function jsonBody(text: string): Encoded {
  return { contentType: "application/json", body: new TextEncoder().encode(text) };
}

function protobufBody(body: Uint8Array<ArrayBuffer>): Encoded {
  return { contentType: "application/x-protobuf", body };
}
