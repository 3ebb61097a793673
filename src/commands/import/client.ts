// Calls of a running service's public API, tried again while the service is busy or away.

import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { OperatorError } from "../../base/operator-error.ts";
import {
  adviceOn404,
  assertWaggle,
  isPassing,
  messageOf,
  reasonOf,
  retryAfterMsOf,
  toAnswer,
} from "../service-client.ts";

export type Answer = { readonly status: number; readonly body: JsonObject };

export type Client = {
  /**
   * Returns the answer to a call, 2xx or a 400, 413 or 422 that blames the request. Throws
   * OperatorError for any other: the key is wrong, or the service stayed away.
   */
  call(method: string, path: string, body: JsonValue | string): Promise<Answer>;
};

export type ClientOptions = {
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
  /** Maximum tries of a call. */
  readonly tries?: number;
  /** Is called with the reason before a wait for a further try, unless another call waits. */
  readonly onWait?: (why: string, waitMs: number) => void;
};

const triesDefault = 8;
const firstDelayMs = 500;
/** Maximum wait between tries, whatever Retry-After says. */
const delayMsMax = 60_000;
const callTimeoutMs = 120_000;
const blamesRequest = new Set([400, 413, 422]);

export function createClient(options: ClientOptions): Client {
  const { url, key, signal, tries = triesDefault, onWait = () => undefined } = options;
  let waiting = 0;
  return {
    async call(method, path, body) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      for (let tried = 1; ; tried += 1) {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)]);
        const request = { method, headers, body: text, signal: limit };
        const got = await attempt(new URL(path, url), request);
        signal.throwIfAborted();
        if ("body" in got && (got.status < 300 || blamesRequest.has(got.status))) return got;
        if ("body" in got && !isPassing(got.status)) throw refused(path, got);
        if (tried >= tries) throw gone(url, got);
        const wantedMs = got.retryAfterMs ?? firstDelayMs * 2 ** (tried - 1);
        const waitMs = Math.min(wantedMs, delayMsMax);
        if (waiting === 0) onWait(whyOf(got), waitMs);
        waiting += 1;
        await delay(waitMs, undefined, { signal }).finally(() => (waiting -= 1));
      }
    },
  };
}

type Got = (Answer | { readonly cause: Error }) & { readonly retryAfterMs?: number | undefined };

async function attempt(url: URL, request: RequestInit): Promise<Got> {
  try {
    const response = await fetch(url, { ...request, redirect: "manual" });
    assertWaggle(url.origin, response);
    const body = toAnswer(response, await response.text());
    return { status: response.status, body, retryAfterMs: retryAfterMsOf(response) };
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    // The next try may find the service again; the last one reports the cause.
    return { cause: cause as Error };
  }
}

function refused(path: string, { status, body }: Answer): OperatorError {
  const said = `${status}: ${messageOf(body)}${status === 404 ? adviceOn404 : ""}`;
  const hint = [401, 403, 404].includes(status) ? "; a project key is needed" : "";
  return new OperatorError(`the service answers ${path} with ${said}${hint}`);
}

function gone(url: string, got: Got): OperatorError {
  const cause = "cause" in got ? { cause: got.cause } : undefined;
  return new OperatorError(
    `${url} does not take the records: ${whyOf(got)}; run the import again to continue`,
    cause,
  );
}

function whyOf(got: Got): string {
  return "cause" in got ? reasonOf(got.cause) : `${got.status} ${messageOf(got.body)}`;
}
