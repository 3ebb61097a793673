// Types of a call to a provider: request and answer have the form of the OpenAI API, also for
// providers with another API. Source: docs/decisions.md, 21.

import type { JsonObject } from "../../base/json.ts";
import type { Target } from "../provider.ts";
import type { Usage } from "../usage.ts";

/** Request of the OpenAI API. */
export type ProxyRequest = {
  readonly operation: "chat" | "embedding";
  readonly body: JsonObject;
  /** Unparsed bytes of `body`. */
  readonly bytes: Uint8Array;
  /** Whether the body asks for server-sent events. */
  readonly isStream: boolean;
};

export type WholeAnswer = {
  readonly kind: "whole";
  /** Answer bytes for the client. */
  readonly bytes: Uint8Array;
  /** Parsed `bytes`. */
  readonly json: JsonObject;
  readonly contentType: string;
  /** Usage from the provider's own answer, if that tells more; else usage is read from `json`. */
  readonly usage?: Usage | undefined;
};

export type StreamAnswer = {
  readonly kind: "stream";
  /**
   * Server-sent events of the OpenAI API, `data: [DONE]` last, in arbitrary pieces. Fails with a
   * ProviderError if the provider breaks off; `return` ends the call.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Returns the usage at the end, if the provider's own answer tells more than the events. */
  readonly usage?: () => Usage | undefined;
};

export type UpstreamAnswer = WholeAnswer | StreamAnswer;

/**
 * Calls a target. Resolves with the first byte of a stream, or with the whole of another answer.
 *
 * Fails with a ProviderError if the provider fails, with INVALID_ARGUMENT if this provider cannot
 * take the request, and with the signal's reason if it is aborted.
 */
export type CallUpstream = (
  target: Target,
  request: ProxyRequest,
  signal: AbortSignal,
) => Promise<UpstreamAnswer>;
