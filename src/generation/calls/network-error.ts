// What sockets, undici and our own watch over answers fail with → ProviderError. Called by whatever
// sends requests through outbound.ts. Source: docs/decisions.md, 20, 21.

import { ProviderError, type ProviderFailure } from "../provider-error.ts";
import type { Connection } from "../provider.ts";

/** Before the first byte of an answer, or in the middle of one. */
export type Phase = "head" | "body";

/** A request that we end ourselves. */
export class OutboundError extends Error {
  readonly failure: ProviderFailure;

  /** `message` goes on after the provider's name, and tells no address. */
  constructor(failure: ProviderFailure, message: string) {
    super(message);
    this.name = "OutboundError";
    this.failure = failure;
  }
}

/** More would be a circle. */
const causesMax = 10;

/**
 * Returns what a request through `Outbound` failed with, wherever in the chain of causes that
 * stands; undefined where it is not the network's: an abort, a mistake of ours. A connection lost
 * in phase `body` is `broken`. Errors of the SDKs and of undici hold requests, so that none is kept
 * as cause; and the message tells no address, which may be the operator's to know alone.
 */
export function toNetworkError(
  error: unknown,
  connection: Connection,
  phase: Phase,
): ProviderError | undefined {
  for (const one of chainOf(error)) {
    if (one instanceof OutboundError) return faultOf(connection, one.failure, one.message);
    const code = codeOf(one);
    const kind = code === undefined ? undefined : kindOf(code);
    if (code === undefined || kind === undefined) continue;
    const isBroken = phase === "body" && kind === "connection";
    const what = isBroken ? "broke off" : words[kind];
    const cause = new Error(`${code}: ${one.message}`);
    return faultOf(connection, isBroken ? "broken" : kind, `${what} (${code})`, cause);
  }
  return undefined;
}

function faultOf(
  { name }: Connection,
  failure: ProviderFailure,
  what: string,
  cause?: Error,
): ProviderError {
  return new ProviderError({ failure, provider: name, message: `provider ${name} ${what}`, cause });
}

/** Errors of undici that have no code are told by their names and words. */
function codeOf(error: Error): string | undefined {
  const { code } = error as { readonly code?: unknown };
  if (typeof code === "string") return code;
  if (error.name === "HTTPParserError") return "HTTP_PARSER";
  // What fetch does not send at all, to a port of its block list.
  return error.message === "bad port" ? "BAD_PORT" : undefined;
}

function* chainOf(error: unknown): Generator<Error> {
  let one = error;
  for (let count = 0; one instanceof Error && count < causesMax; count += 1) {
    yield one;
    one = one.cause;
  }
}

type NetworkFailure = "timeout" | "malformed" | "connection";

const words: Readonly<Record<NetworkFailure, string>> = {
  timeout: "did not answer in time",
  malformed: "answered with what is no HTTP",
  connection: "cannot be reached",
};

const kinds: readonly (readonly [RegExp, NetworkFailure | undefined])[] = [
  [/^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$|^ETIMEDOUT$/, "timeout"],
  [/^HPE_|^HTTP_PARSER$|^UND_ERR_(HEADERS_OVERFLOW|RES_EXCEEDED_MAX_SIZE)$/, "malformed"],
  [/^BAD_PORT$|^UND_ERR_(SOCKET|CLOSED|DESTROYED|RES_CONTENT_LENGTH_MISMATCH)$/, "connection"],
  [/^E(CONN[A-Z]+|PIPE|PROTO|HOSTUNREACH|NETUNREACH|NETDOWN|ADDRNOTAVAIL)$/, "connection"],
  // Names that are not found, or not now; the second kind are the resolver's of dns.Resolver.
  [/^E(NOTFOUND|AI_AGAIN|NODATA|SERVFAIL|REFUSED|TIMEOUT|CANCELLED|BADRESP)$/, "connection"],
  [/^ERR_(SSL|TLS)_|CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/, "connection"],
];

function kindOf(code: string): NetworkFailure | undefined {
  return kinds.find(([pattern]) => pattern.test(code))?.[1];
}
