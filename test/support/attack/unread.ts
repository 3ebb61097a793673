// Requests of an attacker who does not read the answers, or reads them slowly.

import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import type { Socket } from "node:net";

export type UnreadRequest = {
  readonly path: string;
  readonly key: string;
  readonly json: object;
};

export type Unread = {
  /** First bytes of each answer, at most the system's buffer; the rest stays unread. */
  heads(): readonly string[];
  /** Reads `bytes` bytes of each answer every second. */
  drip(bytes: number): void;
  close(): void;
};

type Open = { readonly socket: Socket; head: string };

/** Sends a request on `count` connections and reads only the first bytes of each answer. */
export function openUnread(url: string, request: UnreadRequest, count: number): Unread {
  const { hostname, port } = new URL(url);
  const opened = Array.from({ length: count }, () => {
    const socket = connect({ host: hostname, port: Number(port) });
    const open: Open = { socket, head: "" };
    socket.once("data", (chunk: Buffer) => {
      open.head = chunk.toString("latin1");
      socket.pause();
    });
    socket.on("error", () => undefined);
    socket.write(textOf(request));
    return open;
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    heads: () => opened.map(({ head }) => head),
    drip(bytes) {
      timer = setInterval(() => {
        for (const { socket } of opened) socket.read(bytes);
      }, 1_000);
    },
    close() {
      clearInterval(timer);
      for (const { socket } of opened) socket.destroy();
    },
  };
}

function textOf({ path, key, json }: UnreadRequest): string {
  const body = JSON.stringify(json);
  return [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "",
    body,
  ].join("\r\n");
}

export type UnreadStreams = {
  /** Statuses of the answers that have begun. */
  statuses(): readonly number[];
  /** Number of streams that the service ended with an error. */
  brokenOff(): number;
  close(): void;
};

/** Sends a request on `count` HTTP/2 streams of one connection with a window of zero bytes. */
export function openUnreadStreams(
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: Buffer },
  count: number,
): UnreadStreams {
  const session = connectHttp2(url, { settings: { initialWindowSize: 0 } });
  session.on("error", () => undefined);
  const statuses: number[] = [];
  let broken = 0;
  for (let at = 0; at < count; at += 1) {
    const stream = session.request({ ...headers, ":method": method });
    stream.on("error", () => (broken += 1));
    stream.on("response", (got) => statuses.push(Number(got[":status"])));
    stream.end(body);
  }
  return { statuses: () => statuses, brokenOff: () => broken, close: () => session.destroy() };
}
