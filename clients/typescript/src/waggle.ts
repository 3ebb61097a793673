// Connects to Waggle: address, key, deadlines, and retries of what may be repeated. Messages and
// services are generated from the contract; this file holds what is written by hand.

import { create } from "@bufbuild/protobuf";
import {
  MethodOptions_IdempotencyLevel,
  NullValue,
  type Value,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import {
  type BadRequest_FieldViolation,
  BadRequestSchema,
  ErrorInfoSchema,
} from "../gen/google/rpc/error_details_pb.js";

export { Code, ConnectError, createClient } from "@connectrpc/connect";

export type ConnectOptions = {
  /** Address of the service, such as `https://waggle.example.org`; another is a TypeError. */
  readonly url: string;
  /**
   * White space around the key is removed; a key that is then empty or has anything but visible
   * ASCII is a TypeError.
   */
  readonly key: string;
  /**
   * Longest time of a call with its retries; default one minute. A call may set its own. Streams
   * have none by default.
   */
  readonly timeoutMs?: number;
  /** How often a call is sent again; default 3. */
  readonly retries?: number;
};

/** Returns the transport for `createClient`. */
export function connect({ url, key, timeoutMs = 60_000, retries = 3 }: ConnectOptions): Transport {
  assertAddress(url);
  const checkedKey = toCheckedKey(key);
  const transport = createConnectTransport({
    baseUrl: url,
    useBinaryFormat: true,
    binaryOptions: { recursionLimit },
    interceptors: [authorize(checkedKey), repeat(retries), nameHost(new URL(url).host)],
  });
  return {
    unary: (method, signal, ownTimeoutMs, ...call) =>
      transport.unary(method, signal, toTimerMs(ownTimeoutMs ?? timeoutMs), ...call),
    stream: (method, signal, ownTimeoutMs, ...call) =>
      transport.stream(method, signal, ownTimeoutMs && toTimerMs(ownTimeoutMs), ...call),
  };
}

/** Returns at most the longest time of a timer, 24 days; one of more ends at once. */
function toTimerMs(ms: number): number {
  return Math.min(ms, 2 ** 31 - 1);
}

/**
 * Messages in one another that an answer may have. A level of a payload takes several of them, and
 * the service stores payloads of 128 levels; the library's own limit is 100.
 */
const recursionLimit = 1_000;

/** Throws TypeError for an address that fetch would take for another, or refuse at every call. */
function assertAddress(url: string): void {
  const wanted = "url must be http:// or https://, a host, and perhaps a port and a path";
  const hasHost = /^https?:\/\/[^/]/i.test(url) && URL.canParse(url);
  // Messages are logged, and a password or a query may be secret.
  if (url.includes("@")) {
    throw new TypeError(`${wanted}, without user name and password`);
  }
  if (!hasHost || /[?#]/.test(url)) {
    const given = url.replace(/([?#]).*/s, "$1…");
    throw new TypeError(`${wanted}, such as https://waggle.example.org, not '${given}'`);
  }
}

/** Returns the key without the white space around it; TypeError where a header cannot carry it. */
function toCheckedKey(key: string | undefined): string {
  // process.env holds undefined for a variable that is not set.
  const trimmed = (key ?? "").replace(/^[\t-\r ]+/, "").replace(/[\t-\r ]+$/, "");
  if (trimmed === "") throw new TypeError("key is empty: give an API key of Waggle");
  const index = trimmed.search(/[^\x21-\x7e]/);
  if (index === -1) return trimmed;
  // Messages are logged, and the key is secret.
  throw new TypeError(
    `key: character ${index + 1} is not visible ASCII (0x21 to 0x7e): give one key and ` +
      "nothing beside it",
  );
}

const keyHeader = "idempotency-key";
const timeoutHeader = "connect-timeout-ms";

/** Wait before the next try where no answer says how long. */
const waitMsDefault = 1_000;

function authorize(key: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${key}`);
    return next(request);
  };
}

/**
 * Says which host gave no answer, and why. fetch throws TypeError where no connection is made or
 * one breaks, with a message that says neither.
 */
function nameHost(host: string): Interceptor {
  return (next) => async (request) => {
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: withHost(host, response.message) };
    } catch (error) {
      throw toUnavailable(host, error);
    }
  };
}

async function* withHost<Item>(host: string, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    throw toUnavailable(host, error);
  }
}

function toUnavailable(host: string, error: unknown): unknown {
  if (!(error instanceof TypeError)) return error;
  const message = `no answer from ${host}: ${causeOf(error)}`;
  return new ConnectError(message, Code.Unavailable, undefined, undefined, error);
}

/** Returns why fetch failed: Node says so in the cause, with an error for each address tried. */
function causeOf(error: TypeError): string {
  const cause = error.cause ?? error;
  const causes: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return causes.map((one) => (one instanceof Error ? one.message : String(one))).join(", ");
}

/**
 * Sends a call again after a failure that passes. All tries of a write have one Idempotency-Key, so
 * that it takes effect once; without one (the caller sets an empty key), a write is sent once. A
 * stream is sent once, since its reader has seen a part of it.
 */
function repeat(retries: number): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const { header, method, signal } = request;
    if (method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) {
      if (!header.has(keyHeader)) header.set(keyHeader, crypto.randomUUID());
      if (header.get(keyHeader) === "") {
        header.delete(keyHeader);
        return next(request);
      }
    }
    const deadline = Date.now() + Number(header.get(timeoutHeader) ?? Infinity);
    for (let retry = 0; ; retry += 1) {
      try {
        return await next(request);
      } catch (error) {
        const waitMs = signal.aborted || retry >= retries ? undefined : waitMsOf(error);
        if (waitMs === undefined || Date.now() + waitMs >= deadline) throw error;
        await waited(waitMs, signal);
        const leftMs = Math.max(deadline - Date.now(), 1);
        if (header.has(timeoutHeader)) header.set(timeoutHeader, String(leftMs));
      }
    }
  };
}

/** Returns how long to wait before a call is sent again; undefined where that cannot help. */
function waitMsOf(error: unknown): number | undefined {
  const failure = ConnectError.from(error);
  const reason = reasonOf(failure);
  // An earlier try still runs; its answer is kept for the next one.
  if (reason === "IDEMPOTENCY_IN_FLIGHT") return waitMsDefault;
  const isBusy = failure.code === Code.Unavailable || failure.code === Code.ResourceExhausted;
  const seconds = failure.metadata.get("retry-after") ?? "";
  if (isBusy && /^\d+$/.test(seconds)) return Number(seconds) * 1_000;
  if (reason !== undefined) return undefined;
  // The service was not reached, or a balancer answered, without a reason.
  return failure.code === Code.Unavailable ? waitMsDefault : undefined;
}

function waited(waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(ConnectError.from(signal.reason));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", leave);
      resolve();
    }, waitMs);
    signal.addEventListener("abort", leave, { once: true });
  });
}

/** Returns the reason of a refusal, such as `NOT_FOUND`; undefined if the service gave none. */
export function reasonOf(error: unknown): string | undefined {
  return ConnectError.from(error).findDetails(ErrorInfoSchema)[0]?.reason;
}

/** Returns the fields that a refusal names, each with what is wrong; empty where it names none. */
export function fieldsOf(error: unknown): BadRequest_FieldViolation[] {
  return ConnectError.from(error)
    .findDetails(BadRequestSchema)
    .flatMap(({ fieldViolations }) => fieldViolations);
}

/** Follows `next_cursor` and yields each page of a list, from the one that is asked for. */
export async function* pages<
  Request extends { cursor?: string | undefined },
  Page extends { nextCursor?: string | undefined },
>(list: (request: Request) => Promise<Page>, request: Request): AsyncGenerator<Page, void> {
  let asked = request;
  for (;;) {
    const page = await list(asked);
    yield page;
    if (page.nextCursor === undefined) return;
    // The service takes a number or a cursor, not both.
    asked = { ...request, page: undefined, cursor: page.nextCursor };
  }
}

/**
 * Returns a filter: a field, an operator and, for most operators, a value. `is` null matches where
 * the field is absent or null, `is not` null where it has a value.
 */
export function where(field: string, operator: string, value?: string | number | boolean | null) {
  return { field, operator, ...(value !== undefined && { value: toValue(value) }) };
}

function toValue(value: string | number | boolean | null): Value {
  if (value === null) {
    return create(ValueSchema, { kind: { case: "nullValue", value: NullValue.NULL_VALUE } });
  }
  switch (typeof value) {
    case "string":
      return create(ValueSchema, { kind: { case: "stringValue", value } });
    case "number":
      return create(ValueSchema, { kind: { case: "numberValue", value } });
    case "boolean":
      return create(ValueSchema, { kind: { case: "boolValue", value } });
  }
}
