// Converts errors of sockets, of undici and of our own watch over answers to ProviderError.
// Source: docs/decisions.md, 21.4.

import { AddressError } from "../../base/address-guard.ts";
import { ProviderError, type ProviderFailure } from "../provider-error.ts";
import type { Connection } from "../provider.ts";

/** Whether the failure came before the first byte of an answer or in the middle of it. */
export type Phase = "head" | "body";

/** Error of a request that we abort ourselves. */
export class OutboundError extends Error {
  readonly failure: ProviderFailure;

  /** `message` follows the provider's name and contains no address. */
  constructor(failure: ProviderFailure, message: string) {
    super(message);
    this.name = "OutboundError";
    this.failure = failure;
  }
}

/** Longest chain of causes that is followed; a longer one is a cycle. */
const causesMax = 10;

/**
 * Returns the failure of a request through `Outbound`, found anywhere in the chain of causes;
 * undefined for an error outside the network, such as an abort or a bug. A connection lost in phase
 * `body` is `broken`. Errors of the SDKs and of undici contain requests, so none of them is kept as
 * the cause. The message contains no address, which may be known to the operator only.
 */
export function toNetworkError(
  error: unknown,
  connection: Connection,
  phase: Phase,
): ProviderError | undefined {
  const provider = connection.name;
  for (const one of causesOf(error)) {
    if (one instanceof OutboundError) {
      return new ProviderError({ failure: one.failure, provider, what: one.message });
    }
    if (one instanceof AddressError) {
      return new ProviderError({ failure: "address", provider, what: one.message });
    }
    const code = codeOf(one);
    const kind = code === undefined ? undefined : kindOf(code);
    if (code === undefined || kind === undefined) continue;
    const isBroken = phase === "body" && kind === "connection";
    const failure = isBroken ? "broken" : kind;
    const what = `${isBroken ? "broke off" : words[kind]} (${code})`;
    const cause = new Error(`${code}: ${one.message}`);
    return new ProviderError({ failure, provider, what, cause });
  }
  return undefined;
}

/** Returns the code of an error. Errors of undici without one are recognized by name or message. */
function codeOf(error: Error): string | undefined {
  const { code } = error as { readonly code?: unknown };
  if (typeof code === "string") return code;
  if (error.name === "HTTPParserError") return "HTTP_PARSER";
  // fetch refuses a port of its block list.
  return error.message === "bad port" ? "BAD_PORT" : undefined;
}

/** Returns an error and its chain of causes. */
export function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < causesMax; one = one.cause) {
    chain.push(one);
  }
  return chain;
}

type NetworkFailure = "timeout" | "malformed" | "connection";

const words: Readonly<Record<NetworkFailure, string>> = {
  timeout: "did not answer in time",
  malformed: "answered with something other than HTTP",
  connection: "cannot be reached",
};

const kinds: readonly (readonly [RegExp, NetworkFailure | undefined])[] = [
  [/^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$|^ETIMEDOUT$/, "timeout"],
  [/^HPE_|^HTTP_PARSER$|^UND_ERR_(HEADERS_OVERFLOW|RES_EXCEEDED_MAX_SIZE)$/, "malformed"],
  [/^BAD_PORT$|^UND_ERR_(SOCKET|CLOSED|DESTROYED|RES_CONTENT_LENGTH_MISMATCH)$/, "connection"],
  [/^E(CONN[A-Z]+|PIPE|PROTO|HOSTUNREACH|NETUNREACH|NETDOWN|ADDRNOTAVAIL|[MN]FILE)$/, "connection"],
  // Names that are unknown or cannot be resolved now; from ENODATA on, codes of dns.Resolver.
  [/^E(NOTFOUND|AI_AGAIN|NODATA|SERVFAIL|REFUSED|TIMEOUT|CANCELLED|BADRESP)$/, "connection"],
  [/^ERR_(SSL|TLS)_|CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/, "connection"],
];

function kindOf(code: string): NetworkFailure | undefined {
  return kinds.find(([pattern]) => pattern.test(code))?.[1];
}
