// How the proxy calls a provider, whichever way: what goes to it and what comes back, both in the
// form of the OpenAI API. Kept by pass-through.ts and by translated/; called by proxy.ts.
// Source: docs/decisions.md, 21.

import type { JsonObject } from "../../base/json.ts";
import type { Target } from "../provider.ts";
import type { Usage } from "../usage.ts";

/** A request of the OpenAI API. */
export type ProxyRequest = {
  readonly operation: "chat" | "embedding";
  readonly body: JsonObject;
  /** What `body` was read from. */
  readonly bytes: Uint8Array;
  /** Whether the body asks for server-sent events. */
  readonly isStream: boolean;
};

export type WholeAnswer = {
  readonly kind: "whole";
  /** As the client gets it. */
  readonly bytes: Uint8Array;
  /** What `bytes` say. */
  readonly json: JsonObject;
  readonly contentType: string;
  /** Where the provider's own words tell more than the answer; else it is read from `json`. */
  readonly usage?: Usage | undefined;
};

export type StreamAnswer = {
  readonly kind: "stream";
  /**
   * Server-sent events of the OpenAI API, `data: [DONE]` last, cut anywhere. Fails with a
   * ProviderError where the provider breaks off; ends early, and ends the call, on `return`.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Asked at the end; where the provider's own words tell more than the events. */
  readonly usage?: () => Usage | undefined;
};

export type UpstreamAnswer = WholeAnswer | StreamAnswer;

/**
 * Calls a target. Resolves with the first byte of a stream, with all of any other answer.
 *
 * Fails with a ProviderError where the provider does, with INVALID_ARGUMENT where the request
 * cannot be put to this provider, and with the signal's reason once that is aborted.
 */
export type CallUpstream = (
  target: Target,
  request: ProxyRequest,
  signal: AbortSignal,
) => Promise<UpstreamAnswer>;
