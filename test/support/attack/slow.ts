// Slow bodies of an attacker: each announces a large size and sends a few bytes per second.

import { request as requestHttp1 } from "node:http";
import { connect, type IncomingHttpHeaders } from "node:http2";
import type { Readable, Writable } from "node:stream";

export type SlowBody = {
  readonly http: 1 | 2;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** First bytes; spaces follow. */
  readonly start?: Uint8Array;
};

/** End of a slow request. */
export type SlowAnswer = {
  /** HTTP status; 0 if the connection or stream was closed without one. */
  readonly status: number;
  /** Body and trailers of the answer, as text. */
  readonly text: string;
};

export type SlowBodies = {
  /** Returns how each request ended, after all have ended. */
  answers(): Promise<readonly SlowAnswer[]>;
  close(): void;
};

const dripMs = 1_000;
const dripBytes = Buffer.from(" ".repeat(10));

/** Sends a slow body `count` times at ten bytes per second; HTTP/2 uses one connection for all. */
export function sendSlowBodies(url: string, body: SlowBody, count: number): SlowBodies {
  const opened = body.http === 1 ? openHttp1(url, body, count) : openHttp2(url, body, count);
  const timer = setInterval(() => {
    for (const { writable } of opened.requests) if (writable.writable) writable.write(dripBytes);
  }, dripMs);
  return {
    async answers() {
      const got = await Promise.all(opened.requests.map(({ answer }) => answer));
      clearInterval(timer);
      return got;
    },
    close() {
      clearInterval(timer);
      opened.close();
    },
  };
}

type SlowRequest = { readonly writable: Writable; readonly answer: Promise<SlowAnswer> };
type Opened = { readonly requests: readonly SlowRequest[]; close(): void };

function openHttp1(url: string, { path, headers, start }: SlowBody, count: number): Opened {
  const open = Array.from({ length: count }, () => {
    const request = requestHttp1(url + path, { method: "POST", agent: false, headers });
    request.write(start ?? dripBytes);
    const answer = new Promise<SlowAnswer>((resolve) => {
      request.on("response", (response) => {
        readText(response, (text) => resolve({ status: response.statusCode ?? 0, text }));
      });
      request.on("error", () => resolve({ status: 0, text: "" }));
    });
    return { writable: request, answer, request };
  });
  return {
    requests: open,
    close: () => {
      for (const { request } of open) request.destroy();
    },
  };
}

function openHttp2(url: string, { path, headers, start }: SlowBody, count: number): Opened {
  const session = connect(url);
  session.on("error", () => undefined);
  const requests = Array.from({ length: count }, () => {
    const stream = session.request({ ...headers, ":method": "POST", ":path": path });
    stream.write(start ?? dripBytes);
    const answer = new Promise<SlowAnswer>((resolve) => {
      let status = 0;
      let trailers = "";
      stream.on("response", (got) => {
        status = Number(got[":status"]);
        trailers += decodeURIComponent(String(got["grpc-message"] ?? ""));
      });
      stream.on("trailers", (got: IncomingHttpHeaders) => {
        trailers += decodeURIComponent(String(got["grpc-message"] ?? ""));
      });
      readText(stream, (text) => resolve({ status, text: text + trailers }));
      stream.on("error", () => undefined);
    });
    return { writable: stream, answer };
  });
  return { requests, close: () => session.destroy() };
}

/** Reads to the end, or until the answer breaks off. */
function readText(source: Readable, onEnd: (text: string) => void): void {
  const chunks: Buffer[] = [];
  source.on("data", (chunk: Buffer) => chunks.push(chunk));
  source.on("close", () => onEnd(Buffer.concat(chunks).toString()));
}
