// CORS for browser clients: off unless origins are configured. A preflight is answered before any
// key is asked for, since browsers send none with it. Called by routes.ts.
// Source: Fetch standard, CORS protocol.

import { cors as connectCors } from "@connectrpc/connect";
import type { NodeRequest, NodeResponse } from "./exchange.ts";
import { headerOf } from "./exchange.ts";

const allowedMethods = [...new Set([...connectCors.allowedMethods, "PUT", "PATCH", "DELETE"])];
/** Of calls of models: where they are recorded. */
const placeHeaders = ["Session-Id", "Parent-Id", "Name", "User", "Metadata", "Timeout-Ms"];
const answeredHeaders = ["Generation-Id", "Session-Id", "Provider", "Model"];
/** What the OpenAI clients add of themselves; a browser asks for each by its name. */
const stainlessHeaders = [
  ...["Arch", "Lang", "OS", "Package-Version", "Runtime", "Runtime-Version"],
  ...["Retry-Count", "Timeout", "Helper-Method", "Poll-Helper", "Custom-Poll-Interval"],
];
const allowedHeaders = [
  ...connectCors.allowedHeaders,
  ...placeHeaders.map((name) => `X-Waggle-${name}`),
  ...stainlessHeaders.map((name) => `X-Stainless-${name}`),
  "OpenAI-Organization",
  "OpenAI-Project",
  "Authorization",
  "Idempotency-Key",
  "Traceparent",
  "X-Project-Id",
  "X-Request-Id",
  "X-Source",
];
const exposedHeaders = [
  ...connectCors.exposedHeaders,
  "Retry-After",
  "X-Request-Id",
  ...answeredHeaders.map((name) => `X-Waggle-${name}`),
];

/** Browsers may keep a preflight's answer this long; Chromium takes two hours at most. */
const preflightSeconds = 7_200;

export type Cors = {
  /** Sets the headers of an answer; returns true when the request was a preflight, now answered. */
  handle(request: NodeRequest, response: NodeResponse): boolean;
};

/** `origins` are exact, such as `https://app.example.org`; `*` is any; none turns CORS off. */
export function createCors(origins: readonly string[]): Cors {
  const isAny = origins.includes("*");
  return {
    handle(request, response) {
      const origin = headerOf(request, "origin");
      if (origins.length === 0 || origin === undefined) return false;
      if (!isAny) response.setHeader("vary", "origin");
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
