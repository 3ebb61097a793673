// One HTTP request of an attacker, over HTTP/1.1 or HTTP/2, and its answer: bodies of any size,
// answers cut off, connections that break.

import { request as requestHttp1 } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";

export type HttpRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

export type HttpAnswer = {
  /** 0 where none came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  /** Last bytes of the body; all of a small one. */
  readonly tail: Buffer;
  readonly bytes: number;
  /** Why the answer is not whole; empty where it is. */
  readonly failure: string;
};

/** Bytes of an answer that are kept. */
const tailBytesMax = 262_144;

const timeoutMsDefault = 30_000;

export type HttpClient = {
  /** Sends a request; never fails. */
  send(request: HttpRequest, timeoutMs?: number): Promise<HttpAnswer>;
  /** Breaks every connection. */
  close(): void;
};

/** Each request has a connection of its own. */
export function openHttp1(url: string): HttpClient {
  const open = new Set<{ destroy(): void }>();
  return {
    send: ({ method, path, headers, body }, timeoutMs = timeoutMsDefault) =>
      new Promise((resolve) => {
        const answer = createAnswer(resolve);
        const request = requestHttp1(url + path, {
          ...{ method, agent: false, timeout: timeoutMs },
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
        // What came of an answer before the connection broke still counts.
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

/** All requests share one connection, which is opened again where the service closed it. */
export function openHttp2(url: string): HttpClient {
  let session: ClientHttp2Session | undefined;
  const sessionOf = (): ClientHttp2Session => {
    if (!session || session.closed || session.destroyed) {
      session = connect(url);
      // The streams of a broken connection say so one by one.
      session.on("error", () => undefined);
    }
    return session;
  };
  return {
    send: ({ method, path, headers, body }, timeoutMs = timeoutMsDefault) =>
      new Promise((resolve) => {
        const answer = createAnswer(resolve);
        const sent = { ...headers, ":method": method, ":path": path };
        // Without being told, Node sends no body with a GET.
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
