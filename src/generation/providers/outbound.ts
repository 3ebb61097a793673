// Requests to providers: one socket pool of limited size for each connection, public addresses only
// for tenants, time-outs, no redirects. Source: docs/decisions.md, 21.5, 21.7.

import { LRUCache } from "lru-cache";
import { Agent, buildConnector, fetch as undiciFetch, Pool } from "undici";
import type { Dispatcher, RequestInit as UndiciRequestInit } from "undici";
import { createGuardedConnector, type SocketGuard } from "../../base/guarded-connect.ts";
import { containersMax } from "../../base/limits.ts";
import { modelAnswerBytesMax, modelStreamBytesMax } from "../../base/tenant-limits.ts";
import type { Connection } from "../provider.ts";
import { watchAnswers } from "./answer-watch.ts";

export type Outbound = {
  /**
   * Returns the dispatcher of a connection for `undici.request`. Ask for it before each request,
   * because unused ones are closed. It aborts an answer that is a redirect, encoded, too late or
   * too large; `toNetworkError` converts the errors of the request and of the answer's body.
   */
  dispatcher(connection: Connection): Dispatcher;
  /** Returns the same as `dispatcher` in the form that the AI SDK takes; it may be kept. */
  fetch(connection: Connection): typeof globalThis.fetch;
  /** Aborts all requests and closes all sockets. */
  close(): Promise<void>;
};

export type OutboundOptions = {
  readonly addressGuard: SocketGuard;
  /** Maximum time from sending a request to the first byte of the answer's body. */
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Maximum bytes of an answer, or of one event of a stream; a larger one is malformed. */
  readonly bytesMax?: number;
  readonly socketsMax?: number;
  readonly agentsMax?: number;
};

const connectTimeoutMs = 10_000;
/** Further requests wait for a socket. */
const socketsMaxDefault = 1_024;
const agentsMaxDefault = 256;
/** Lifetime of idle sockets; undici heeds a server that announces a shorter one. */
const keepAliveMs = 30_000;
/** Maximum origins of a connection: it has one address, but an SDK may use a second. */
const originsMax = 4;

export function createOutbound(options: OutboundOptions): Outbound {
  const { agentsMax = agentsMaxDefault } = options;
  const agents = new LRUCache<string, WatchedAgent>({
    max: agentsMax,
    dispose({ agent }, _id, reason) {
      // Running requests finish.
      if (reason === "evict") void agent.close();
    },
  });

  function dispatcher(connection: Connection): Dispatcher {
    const known = agents.get(connection.id) ?? createWatchedAgent(connection, options);
    agents.set(connection.id, known);
    return known.dispatcher;
  }

  return {
    dispatcher,

    fetch: (connection) => (input, init) => sendWith(dispatcher(connection), input, init),

    async close() {
      const closing = [...agents.values()].map(({ agent }) => agent.destroy());
      agents.clear();
      await Promise.all(closing);
    },
  };
}

type WatchedAgent = { readonly agent: Agent; readonly dispatcher: Dispatcher };

function createWatchedAgent(connection: Connection, options: OutboundOptions): WatchedAgent {
  const { firstByteTimeoutMs, idleTimeoutMs, bytesMax = modelAnswerBytesMax } = options;
  const pool = {
    // HTTP/1.1: each call has its own socket and waits for no other call.
    allowH2: false,
    connections: options.socketsMax ?? socketsMaxDefault,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The watch enforces the time-outs: undici's exclude the time before the request is sent.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const agent = new Agent({
    maxOrigins: originsMax,
    factory: (origin) =>
      new Pool(origin, { ...pool, connect: createConnector(connection, origin, options) }),
  });
  const watch = watchAnswers({
    firstByteTimeoutMs,
    idleTimeoutMs,
    bytesMax,
    streamBytesMax: modelStreamBytesMax,
    openingsMax: containersMax,
  });
  return { agent, dispatcher: agent.compose(watch) };
}

/** The address guard applies to tenants only, not to connections of the operator. */
function createConnector(
  { isOperators }: Connection,
  origin: string | URL,
  { addressGuard }: OutboundOptions,
): buildConnector.connector {
  if (isOperators) return buildConnector({ timeout: connectTimeoutMs, allowH2: false });
  return createGuardedConnector(addressGuard, origin, connectTimeoutMs);
}

async function sendWith(
  dispatcher: Dispatcher,
  input: Parameters<typeof globalThis.fetch>[0],
  init: RequestInit = {},
): Promise<Response> {
  // Method, headers and body of a Request would have to be unpacked; the SDK passes URLs.
  if (input instanceof Request) throw new TypeError("a Request in place of its address");
  const headers = new Headers(init.headers);
  // Otherwise undici asks for encodings, and the inflated size would have no limit.
  headers.set("accept-encoding", "identity");
  const sent = { ...init, headers: [...headers], redirect: "error", dispatcher };
  // undici's own fetch, so that fetch and dispatcher have one version; their types differ by name.
  return undiciFetch(input, sent as UndiciRequestInit);
}

/** Reads an answer's body up to `bytesMax` bytes, and ends a longer one. */
export async function readUpTo(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}
