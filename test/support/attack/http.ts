// One HTTP request of an attacker, over HTTP/1.1 or HTTP/2, and its answer: bodies of any size,
// truncated answers, broken connections.

import { request as requestHttp1 } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";

export type HttpRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

export type HttpAnswer = {
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  /** Last bytes of the body; the whole body if it is small. */
  readonly tail: Buffer;
  readonly bytes: number;
  /** Reason why the answer is incomplete; empty if it is complete. */
  readonly failure: string;
};

/** Minimum bytes of the end of an answer that are kept. */
const tailBytesMax = 262_144;

const timeoutMsDefault = 30_000;

export type HttpClient = {
  /** Sends a request; never fails. */
  send(request: HttpRequest, timeoutMs?: number): Promise<HttpAnswer>;
  /** Breaks every connection. */
  close(): void;
};

/** Returns a client with one connection per request. */
export function openHttp1(url: string): HttpClient {
  const open = new Set<{ destroy(): void }>();
  return {
    send: ({ method, path, headers, body }, timeoutMs = timeoutMsDefault) =>
      new Promise((resolve) => {
        const answer = createAnswer(resolve);
        const request = requestHttp1(url + path, {
          method,
          agent: false,
          timeout: timeoutMs,
          headers: { ...headers, "content-length": body.length },
        });
        open.add(request);
        request.on("response", (response) => {
          answer.begin(response.statusCode ?? 0, plain(response.headers));
          response.on("data", (chunk: Buffer) => answer.add(chunk));
          response.on("end", () => answer.end("", plain(response.trailers)));
          response.on("error", (error) => answer.end(error.message));
        });
        request.on("timeout", () => request.destroy(new Error("no answer in time")));
        // The part of an answer that arrived before the connection broke still counts.
        request.on("error", (error) => setImmediate(() => answer.end(error.message)));
        request.on("close", () => {
          open.delete(request);
          setImmediate(() => answer.end("the connection closed"));
        });
        request.end(body);
      }),
    close() {
      for (const request of open) request.destroy();
    },
  };
}

/** Returns a client with one connection for all requests, reopened if the service closed it. */
export function openHttp2(url: string): HttpClient {
  let session: ClientHttp2Session | undefined;
  const sessionOf = (): ClientHttp2Session => {
    if (!session || session.closed || session.destroyed) {
      session = connect(url);
      // Each stream of a broken connection reports the error itself.
      session.on("error", () => undefined);
    }
    return session;
  };
  return {
    send: ({ method, path, headers, body }, timeoutMs = timeoutMsDefault) =>
      new Promise((resolve) => {
        const answer = createAnswer(resolve);
        const sent = { ...headers, ":method": method, ":path": path };
        // By default Node sends no body with a GET.
        const stream = sessionOf().request(sent, { endStream: false });
        let trailers: Readonly<Record<string, string>> = {};
        stream.setTimeout(timeoutMs, () => {
          answer.end("no answer in time");
          stream.close();
        });
        stream.on("response", (got) => answer.begin(Number(got[":status"]), plain(got)));
        stream.on("data", (chunk: Buffer) => answer.add(chunk));
        stream.on("trailers", (got: object) => (trailers = plain(got)));
        stream.on("end", () => answer.end("", trailers));
        stream.on("error", (error: Error) => answer.end(error.message));
        stream.on("close", () => answer.end("the stream closed", trailers));
        stream.end(body);
      }),
    close: () => session?.destroy(),
  };
}

type AnswerBuilder = {
  begin(status: number, headers: Readonly<Record<string, string>>): void;
  add(chunk: Buffer): void;
  end(failure: string, trailers?: Readonly<Record<string, string>>): void;
};

function createAnswer(resolve: (answer: HttpAnswer) => void): AnswerBuilder {
  let status = 0;
  let headers: Readonly<Record<string, string>> = {};
  let chunks: Buffer[] = [];
  let kept = 0;
  let bytes = 0;
  return {
    begin(gotStatus, gotHeaders) {
      status = gotStatus;
      headers = gotHeaders;
    },
    add(chunk) {
      chunks.push(chunk);
      kept += chunk.length;
      bytes += chunk.length;
      if (kept < 2 * tailBytesMax) return;
      chunks = [Buffer.concat(chunks).subarray(-tailBytesMax)];
      kept = tailBytesMax;
    },
    end(failure, trailers = {}) {
      resolve({ status, headers, trailers, tail: Buffer.concat(chunks), bytes, failure });
    },
  };
}

function plain(headers: object): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value)] as const),
  );
}
