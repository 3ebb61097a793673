// CORS for browser clients: off unless origins are configured. Preflights are answered before
// authentication, since browsers send no credentials with them. Source: Fetch standard, CORS
// protocol.

import { cors as connectCors } from "@connectrpc/connect";
import { headerOf, type NodeRequest, type NodeResponse } from "./exchange.ts";

const allowedMethods = [...new Set([...connectCors.allowedMethods, "PUT", "PATCH", "DELETE"])];
/** `X-Waggle-` request headers of model calls: how the call is recorded, and its time-out. */
const placeHeaders = ["Session-Id", "Parent-Id", "Name", "User", "Metadata", "Timeout-Ms"];
const answeredHeaders = ["Generation-Id", "Session-Id", "Provider", "Model"];
/** `X-Stainless-` headers that OpenAI clients add; a browser asks for each by its name. */
const stainlessHeaders = [
  "Arch",
  "Lang",
  "OS",
  "Package-Version",
  "Runtime",
  "Runtime-Version",
  "Retry-Count",
  "Timeout",
  "Helper-Method",
  "Poll-Helper",
  "Custom-Poll-Interval",
];
const allowedHeaders = [
  ...connectCors.allowedHeaders,
  ...placeHeaders.map((name) => `X-Waggle-${name}`),
  ...stainlessHeaders.map((name) => `X-Stainless-${name}`),
  "OpenAI-Organization",
  "OpenAI-Project",
  "Anthropic-Beta",
  "Anthropic-Dangerous-Direct-Browser-Access",
  "Anthropic-Version",
  "X-Api-Key",
  "Authorization",
  "Idempotency-Key",
  "Traceparent",
  "X-Project-Id",
  "X-Request-Id",
  "X-Source",
];
const exposedHeaders = [
  ...connectCors.exposedHeaders,
  "Content-Disposition",
  "Deprecation",
  "Link",
  "Retry-After",
  "X-Request-Id",
  // Without it, OpenAI clients in browsers ask again when a budget is spent.
  "X-Should-Retry",
  ...answeredHeaders.map((name) => `X-Waggle-${name}`),
];

/** Time that browsers may cache a preflight's answer; Chromium caches for two hours at most. */
const preflightSeconds = 7_200;

export type Cors = {
  /**
   * Sets the headers of an answer. Returns true if the request was a preflight, which is then
   * answered.
   */
  handle(request: NodeRequest, response: NodeResponse): boolean;
};

/**
 * Returns the CORS handler. Each origin is exact, such as `https://app.example.org`; `*` means any
 * origin, and an empty list turns CORS off.
 */
export function createCors(origins: readonly string[]): Cors {
  const isAny = origins.includes("*");
  return {
    handle(request, response) {
      const origin = headerOf(request, "origin");
      if (origins.length === 0) return false;
      // Also without an origin: a cache could give that answer to a page, which cannot read it.
      if (!isAny) response.setHeader("vary", "origin");
      if (origin === undefined) return false;
      if (!isAny && !origins.includes(origin)) return false;
      response.setHeader("access-control-allow-origin", isAny ? "*" : origin);
      const asked = headerOf(request, "access-control-request-method");
      if (request.method !== "OPTIONS" || asked === undefined) {
        response.setHeader("access-control-expose-headers", exposedHeaders.join(", "));
        return false;
      }
      response.writeHead(204, {
        "access-control-allow-methods": allowedMethods.join(", "),
        "access-control-allow-headers": allowedHeaders.join(", "),
        "access-control-max-age": String(preflightSeconds),
      });
      response.end();
      return true;
    },
  };
}
