// One port for HTTP/1.1 and HTTP/2 without TLS, told apart by the first bytes of a connection. Owns
// the sockets, their time-outs, and the graceful end.
// Source: RFC 9113, 3.3 and 3.4; docs/decisions.md, 36.1.

import { createServer as createHttp1, type Server as Http1Server } from "node:http";
import { createServer as createHttp2, type Http2Server, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net";
import type { NodeResponse } from "./exchange.ts";
import { limitConnections } from "./connection-limit.ts";
import { createHttp1Connections, type Http1Connections } from "./http1-connections.ts";
import { addKeylessStream } from "./keyless-streams.ts";
import type { RequestListener } from "./routes.ts";
import { headTooLarge, writeUnreadAnswer } from "./unread-request.ts";
import { formatHttpAddress } from "../base/http-address.ts";
import type { Logger } from "../base/logger.ts";
import {
  headerBytesMax,
  headersTimeoutMs,
  http2IdleTimeoutMs,
  keepAliveTimeoutMs,
  requestTimeoutMs,
  sniffTimeoutMs,
  streamsOfConnectionMax,
} from "../base/tenant-limits.ts";

export type TransportServerOptions = {
  readonly listener: RequestListener;
  readonly logger: Logger;
  /** Maximum time that running requests may go on after `close` is called. */
  readonly drainTimeoutMs: number;
  /** Called when `close` begins. */
  readonly onLeaving: () => void;
  /** Called when the port closes, to end endless streams. */
  readonly onClosing: () => void;
  /** Called when the drain time is over, before the remaining calls are cut off. */
  readonly onDrainEnd: () => void;
};

export type TransportServer = {
  /** Starts accepting connections. Fails with the system's error if the address is taken. */
  listen(address: { readonly host: string; readonly port: number }): Promise<{ url: string }>;
  /**
   * Stops accepting, lets running requests end, and cuts off the rest after the drain time-out.
   * Until `left` settles, all go on, while a balancer sees that the service is not ready and each
   * answer asks its client for another connection.
   */
  close(left?: Promise<void>): Promise<void>;
};

/** First bytes that a client of HTTP/2 without TLS sends. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** Largest id of a stream: a GOAWAY with it refuses no stream. Source: RFC 9113, 6.8. */
const anyStream = 2 ** 31 - 1;

const connectionsCheckMs = 5_000;
/** Time after the drain time-out for sending errors to the clients of the calls that it ended. */
const lastWordsMs = 500;

export function createTransportServer(options: TransportServerOptions): TransportServer {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  let isLeaving = false;
  let isClosing = false;
  const http1Connections = createHttp1Connections();
  const http1 = createHttp1Server(options, http1Connections);
  const http2 = createHttp2Server(options, sessions, (session) => {
    if (isClosing) session.close();
    else if (isLeaving) session.goaway(0, anyStream);
  });
  const tcp = createTcp({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    sniff(socket, http1, http2);
  });

  return {
    async listen({ host, port }) {
      await limitConnections(tcp, options.logger);
      await listening(tcp, host, port);
      // http1 never listens itself; without this event Node never checks its time-outs.
      http1.emit("listening");
      const address = tcp.address() as AddressInfo;
      return { url: formatHttpAddress(address.address, address.port) };
    },

    async close(left) {
      options.onLeaving();
      if (left) {
        isLeaving = true;
        http1Connections.leave();
        for (const session of sessions) session.goaway(0, anyStream);
        await left;
      }
      isClosing = true;
      options.onClosing();
      const closed = new Promise<void>((resolve) => {
        tcp.close(() => resolve());
      });
      // Sends GOAWAY on HTTP/2: open streams end, and new ones need another connection.
      for (const session of sessions) session.close();
      http1Connections.drain();
      // Connections that clients opened in advance and that have sent nothing.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      const cut = (): void => {
        for (const socket of sockets) socket.destroy();
      };
      let timer = setTimeout(() => {
        options.onDrainEnd();
        timer = setTimeout(cut, lastWordsMs);
      }, options.drainTimeoutMs);
      await closed;
      clearTimeout(timer);
      // Only now: an earlier close would cut answers that are still being sent.
      http1.close();
    },
  };
}

function listening(tcp: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    tcp.once("error", reject);
    tcp.listen(port, host, () => {
      tcp.off("error", reject);
      resolve();
    });
  });
}

/**
 * Hands a connection to HTTP/2 or HTTP/1.1 by its first bytes. It reads on `readable` and puts the
 * bytes back, since a `data` listener would leave the socket flowing and lose the next bytes.
 */
function sniff(socket: Socket, http1: Http1Server, http2: Http2Server): void {
  let seen = Buffer.alloc(0);
  const ignore = (): void => {
    socket.destroy();
  };
  const hand = (server: Http1Server | Http2Server): void => {
    socket.off("readable", onReadable).off("timeout", ignore).off("error", ignore);
    socket.off("end", ignore);
    socket.setTimeout(0);
    socket.unshift(seen);
    server.emit("connection", socket);
  };
  const onReadable = (): void => {
    for (;;) {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      seen = Buffer.concat([seen, chunk]);
      const length = Math.min(seen.length, preface.length);
      const isPrefix = preface.compare(seen, 0, length, 0, length) === 0;
      if (isPrefix && length < preface.length) continue;
      hand(isPrefix ? http2 : http1);
      return;
    }
  };
  socket.setTimeout(sniffTimeoutMs);
  socket.on("timeout", ignore).on("error", ignore).on("end", ignore).on("readable", onReadable);
}

function createHttp1Server(
  options: TransportServerOptions,
  connections: Http1Connections,
): Http1Server {
  const server = createHttp1({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: connectionsCheckMs,
  });
  server.on("request", (request, response) => {
    connections.begin(request, response);
    guard(options, () => options.listener(request, response));
  });
  // Without a handler Node writes a bare status.
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    socket.end(writeUnreadAnswer(error.code));
  });
  return server;
}

function createHttp2Server(
  options: TransportServerOptions,
  sessions: Set<ServerHttp2Session>,
  onSession: (session: ServerHttp2Session) => void,
): Http2Server {
  const server = createHttp2({
    settings: {
      maxConcurrentStreams: streamsOfConnectionMax,
      maxHeaderListSize: headerBytesMax,
    },
  });
  server.on("request", (request, response) => {
    if (headerBytesOf(request.rawHeaders) > headerBytesMax) {
      response.writeHead(headTooLarge.status, headTooLarge.headers).end(headTooLarge.body);
      return;
    }
    const { stream } = response;
    addKeylessStream(stream);
    // Begins after all frames that have arrived: of a flood of streams that their client resets at
    // once (CVE-2023-44487), none is served.
    setImmediate(() => {
      if (stream.closed) return;
      guard(options, () => options.listener(request, response as unknown as NodeResponse));
    });
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // `close` waits for open streams, so it ends only idle connections.
    session.setTimeout(http2IdleTimeoutMs, () => session.close());
    session.on("error", () => session.destroy());
    onSession(session);
  });
  server.on("sessionError", (error) => options.logger.debug({ err: error }, "HTTP/2 session"));
  return server;
}

/** Bytes added to each text: a header line counts 32 bytes more than its name and value. */
const overheadBytes = 16;

/**
 * Returns the size of a header list. Node advertises its limit but accepts larger lists.
 * Source: RFC 9113, 6.5.2.
 */
function headerBytesOf(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((bytes, text) => bytes + text.length + overheadBytes, 0);
}

/** Runs the listener and logs its exceptions, which would otherwise end the process. */
function guard(options: TransportServerOptions, listen: () => void): void {
  try {
    listen();
  } catch (error) {
    options.logger.error({ err: error }, "the request listener threw");
  }
}
