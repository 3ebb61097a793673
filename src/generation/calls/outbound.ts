// Requests to providers: one bounded pool of sockets for each connection, which leads a tenant's to
// public addresses only; time-outs; no redirects. Called by chat, the proxy and the lists of
// models. Source: docs/decisions.md, 21.

import { Agent, buildConnector, fetch as undiciFetch, Pool } from "undici";
import type { Dispatcher, RequestInit as UndiciRequestInit } from "undici";
import { containersMax } from "../../base/limits.ts";
import { modelAnswerBytesMax, modelStreamBytesMax } from "../../base/tenant-limits.ts";
import type { Connection } from "../provider.ts";
import { type AddressGuard, defaultPort } from "./address-guard.ts";
import { watchAnswers } from "./answer-watch.ts";

export type Outbound = {
  /**
   * Returns what `undici.request` sends requests of a connection with; to be asked for anew at each
   * request. It ends an answer that is a redirect, encoded, too late or too large; what a request
   * or the body of an answer fails with is for `toNetworkError`.
   */
  dispatcher(connection: Connection): Dispatcher;
  /** As `dispatcher`, in the form that the AI SDK takes; may be kept. */
  fetch(connection: Connection): typeof globalThis.fetch;
  /** Ends all requests and closes all sockets. */
  close(): Promise<void>;
};

export type OutboundOptions = {
  readonly addressGuard: Pick<AddressGuard, "assertAddress" | "lookupFor">;
  /** From sending a request to the first byte of the answer's body. */
  readonly firstByteTimeoutMs: number;
  /** Between two parts of an answer. */
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs?: number;
  /** Of an answer, and of one event of a stream; more of it is a malformed answer. */
  readonly bytesMax?: number;
  readonly streamBytesMax?: number;
  /** Sockets to one provider. */
  readonly socketsMax?: number;
  /** Connections whose sockets are kept. */
  readonly agentsMax?: number;
};

const connectTimeoutMsDefault = 10_000;
/** Requests beyond it wait for one. */
const socketsMaxDefault = 1_024;
const agentsMaxDefault = 256;
/** Idle sockets; servers that close earlier say so, and undici heeds them. */
const keepAliveMs = 30_000;
/** A connection has one address; an SDK may ask a second one. */
const originsMax = 4;

export function createOutbound(options: OutboundOptions): Outbound {
  const { agentsMax = agentsMaxDefault } = options;
  // A Map keeps insertion order: the first entry is the least recently used.
  const agents = new Map<string, { readonly agent: Agent; readonly dispatcher: Dispatcher }>();

  function dispatcher(connection: Connection): Dispatcher {
    const known = agents.get(connection.id) ?? createWatchedAgent(connection, options);
    agents.delete(connection.id);
    agents.set(connection.id, known);
    for (const [id, { agent }] of agents) {
      if (agents.size <= agentsMax) break;
      agents.delete(id);
      // Requests that run on it come to their end.
      void agent.close();
    }
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

function createWatchedAgent(
  connection: Connection,
  options: OutboundOptions,
): { readonly agent: Agent; readonly dispatcher: Dispatcher } {
  const { firstByteTimeoutMs, idleTimeoutMs, bytesMax = modelAnswerBytesMax } = options;
  const pool = {
    // HTTP/1.1: a call has a socket of its own, and no other call waits for it.
    allowH2: false,
    connections: options.socketsMax ?? socketsMaxDefault,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The watch has these times: undici's own do not count what goes before the request is sent.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const agent = new Agent({
    maxOrigins: originsMax,
    factory: (origin) =>
      new Pool(origin, { ...pool, connect: createConnector(connection, origin, options) }),
  });
  const { streamBytesMax = modelStreamBytesMax } = options;
  const watch = watchAnswers({
    ...{ firstByteTimeoutMs, idleTimeoutMs, bytesMax, streamBytesMax },
    openingsMax: containersMax,
  });
  return { agent, dispatcher: agent.compose(watch) };
}

/** A tenant's sockets are guarded; the operator's go where the operator says. */
function createConnector(
  { isOperators }: Connection,
  origin: string | URL,
  { addressGuard, connectTimeoutMs = connectTimeoutMsDefault }: OutboundOptions,
): buildConnector.connector {
  const plain = { timeout: connectTimeoutMs, allowH2: false };
  if (isOperators) return buildConnector(plain);
  const url = new URL(origin);
  const port = url.port === "" ? defaultPort(url.protocol) : url.port;
  const connect = buildConnector({ ...plain, lookup: addressGuard.lookupFor(port) });
  return (options, callback) => {
    try {
      addressGuard.assertAddress(options.hostname, port);
    } catch (error) {
      process.nextTick(callback, error, null);
      return;
    }
    connect(options, callback);
  };
}

async function sendWith(
  dispatcher: Dispatcher,
  input: Parameters<typeof globalThis.fetch>[0],
  init: RequestInit = {},
): Promise<Response> {
  // Its parts would have to be taken from it; the SDK gives addresses.
  if (input instanceof Request) throw new TypeError("a Request in place of its address");
  const headers = new Headers(init.headers);
  // Else undici asks for encodings, whose size when inflated nothing bounds.
  headers.set("accept-encoding", "identity");
  const sent = { ...init, headers: [...headers], redirect: "error", dispatcher };
  // undici's own fetch, so that it and the dispatcher are of one version; the types differ in name.
  return undiciFetch(input, sent as UndiciRequestInit);
}
