// Answers to requests whose head cannot be read: no route is known for them.
// Source: RFC 9110, 15.5; RFC 6585, 5.

import { headerBytesMax } from "../base/tenant-limits.ts";

/** Headers and body of an answer, after which the connection is closed. */
export type UnreadAnswer = {
  readonly status: number;
  /** Reason phrase of HTTP/1.1. */
  readonly phrase: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

function answer(status: number, phrase: string, message: string): UnreadAnswer {
  const json = { success: false, statusCode: status, errorCode: "INVALID_ARGUMENT", message };
  const body = JSON.stringify(json);
  const length = String(Buffer.byteLength(body));
  return {
    status,
    phrase,
    body,
    headers: { "content-type": "application/json", "content-length": length },
  };
}

/** Answer to a request whose head is too large. */
export const headTooLarge = answer(
  431,
  "Request Header Fields Too Large",
  `the address and the header lines have more than ${headerBytesMax} bytes; filters of any ` +
    "length can be sent in the body of POST /v1/events/export",
);

const answers: Readonly<Record<string, UnreadAnswer>> = {
  ERR_HTTP_REQUEST_TIMEOUT: answer(408, "Request Timeout", "the request did not arrive in time"),
  HPE_HEADER_OVERFLOW: headTooLarge,
};

const malformed = answer(400, "Bad Request", "the request is not HTTP/1.1");

/** Returns the answer of HTTP/1.1 for an error code of Node's parser, as text. */
export function writeUnreadAnswer(code = ""): string {
  const { status, phrase, headers, body } = answers[code] ?? malformed;
  const lines = Object.entries({ ...headers, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${status} ${phrase}\r\n${lines.join("")}\r\n${body}`;
}
