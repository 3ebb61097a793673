// The one way to the service: Connect over HTTP with the cookie of the sign-in. A page calls it
// through the hooks of `query.ts` and the functions below, never through `fetch`.
//
// A call about a project's data names the project; its id goes out as `x-project-id`. When the
// sign-in has ended, the service answers as if nothing were there; the call then waits until the
// person has signed in again, and goes on (`session/sign-in-state.ts`), so that nothing typed is
// lost.

import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { noteServiceTime } from "./clock.ts";
import { toApiError } from "./errors.ts";

export type CallOptions = {
  /** Project that the call is about; undefined for calls about the control plane. */
  readonly projectId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Lets the call go on when its tab closes; browsers then take 64 KiB at most. */
  readonly outlivesPage?: boolean | undefined;
};

type Guard = (signal: AbortSignal) => Promise<boolean>;

/**
 * Called when a call found nothing: resolves to true when the sign-in had ended and the person has
 * signed in again, to false when the person is signed in and there is truly nothing.
 */
let guard: Guard = () => Promise.resolve(false);

/** Sets the guard; `session/sign-in-state.ts` does, so that this module does not depend on it. */
export function guardCalls(newGuard: Guard): void {
  guard = newGuard;
}

/**
 * Waits, after an answer that found nothing, for the next sign-in. Resolves to whether the call is
 * worth sending again.
 */
export function hasSignedInAgain(signal: AbortSignal): Promise<boolean> {
  return guard(signal);
}

/** Leaves streams to `streamSignedIn`: their failure arrives while they are read. */
const signedIn: Interceptor = (next) => async (request) => {
  if (request.stream) return next(request);
  try {
    return await next(request);
  } catch (error) {
    if (!isAbsent(error) || request.service.typeName === "waggle.v1.MeService") throw error;
    if (!(await guard(request.signal))) throw error;
    return next(request);
  }
};

function isAbsent(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.NotFound;
}

/**
 * Messages in one another that an answer may have. A level of a payload takes two of them, and the
 * service stores payloads of 128 levels; the library's own limit is 100.
 */
const recursionLimit = 1_000;

const timedFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await globalThis.fetch(input, init);
  noteServiceTime(response.headers.get("date"));
  return response;
};

const transportOptions = {
  baseUrl: globalThis.location.origin,
  // JSON is readable in the browser's network panel, and as small as binary once compressed.
  useBinaryFormat: false,
  jsonOptions: { recursionLimit },
  interceptors: [signedIn],
  fetch: timedFetch,
};

const transport = createConnectTransport(transportOptions);
const outlivingTransport = createConnectTransport({
  ...transportOptions,
  fetch: (input, init) => timedFetch(input, { ...init, keepalive: true }),
});

/** Calls an rpc. Fails with an ApiError. */
export async function callRpc<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  { projectId, signal, outlivesPage = false }: CallOptions = {},
): Promise<MessageShape<O>> {
  try {
    const headers = headersOf(projectId);
    const used = outlivesPage ? outlivingTransport : transport;
    const answer = await used.unary(method, signal, undefined, headers, input);
    return answer.message;
  } catch (error) {
    throw toApiError(error);
  }
}

/**
 * Calls a streaming rpc; yields messages as they arrive. Fails with an ApiError, also in the middle
 * of the stream. The stream ends early when `signal` is aborted or the caller leaves its loop. If
 * the sign-in has ended, the call is sent again after the next sign-in.
 */
export async function* streamRpc<I extends DescMessage, O extends DescMessage>(
  method: DescMethodServerStreaming<I, O>,
  input: MessageInitShape<I>,
  { projectId, signal }: CallOptions = {},
): AsyncGenerator<MessageShape<O>> {
  const leaving = new AbortController();
  const either = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
  const send = async function* () {
    const messages = (async function* () {
      yield input;
    })();
    const headers = headersOf(projectId);
    const answer = await transport.stream(method, either, undefined, headers, messages);
    yield* answer.message;
  };
  try {
    yield* streamSignedIn(send, either);
  } catch (error) {
    throw toApiError(error);
  } finally {
    leaving.abort();
  }
}

/** Sends a stream once more after the next sign-in, unless a message of it has arrived. */
async function* streamSignedIn<T>(
  send: () => AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  let hasBegun = false;
  try {
    for await (const message of send()) {
      hasBegun = true;
      yield message;
    }
  } catch (error) {
    if (hasBegun || !isAbsent(error) || !(await guard(signal))) throw error;
    yield* send();
  }
}

function headersOf(projectId: string | undefined): HeadersInit {
  return projectId === undefined ? {} : { "x-project-id": projectId };
}
