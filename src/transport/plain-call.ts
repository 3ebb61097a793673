// Serves a call that comes as a plain HTTP request, by REST or OTLP: gate, body, work, log and end.
// rpc.ts does the same for Connect's framing.
// Source: ARCHITECTURE.md, "The way a request goes".

import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import type { Reservation } from "../base/byte-budget.ts";
import { ServiceError } from "../base/errors.ts";
import type { BodyClassName, BodyLimits } from "./access-rules.ts";
import { readBody } from "./body.ts";
import { type CallContext, createCallContext } from "./connect-adapter.ts";
import { memoryKey, principalKey, releaseAfterWork, workKey } from "../access/call.ts";
import { type Exchange, credentialsOf, headerOf, headersOf } from "./exchange.ts";
import type { Gate } from "./gate.ts";
import { removeKeylessStream } from "./keyless-streams.ts";
import type { Memory } from "./memory.ts";
import { type ErrorMapper, serviceErrorOf } from "./interceptors/errors.ts";
import { type CallLog, protocolKey } from "./interceptors/log.ts";

/** Parts of the transport that every protocol needs. */
export type CallOptions = {
  readonly gate: Gate;
  readonly interceptors: readonly Interceptor[];
  readonly mapError: ErrorMapper;
  readonly callLog: CallLog;
  readonly memory: Memory;
  readonly bodyLimits: BodyLimits;
  readonly bodyStallMs: number;
  readonly shutdownSignal: AbortSignal;
};

export type PlainCall = {
  readonly method: DescMethod;
  readonly protocol: string;
  readonly values: ContextValues;
  /** Answers the call after the gate has let it pass. */
  readonly answer: (context: CallContext, body: CallBody) => Promise<void>;
  /** Answers an error of the gate or of the work; `memory` counts the written bytes. */
  readonly answerError: (error: unknown, memory: Reservation | undefined) => Promise<void>;
};

/** Body of a call with its memory. */
export type CallBody = {
  readonly memory: Reservation;
  /** Reads the body up to the limit of its class. */
  read(bodyClass: BodyClassName): Promise<Buffer>;
};

/** Created once: an unused stack would cost more than the rest of an abort. */
const clientGone = new DOMException("the client went away", "AbortError");
const callEnded = new DOMException("the call has ended", "AbortError");

/** Serves a call to its end, error or not; throws only if `answerError` throws. */
export async function servePlainCall(
  options: CallOptions,
  exchange: Exchange,
  { method, protocol, values, answer, answerError }: PlainCall,
): Promise<void> {
  const startedAtMs = performance.now();
  values.set(protocolKey, protocol);
  const context = createCallContext({
    method,
    protocol,
    httpMethod: exchange.httpMethod,
    url: exchange.request.url ?? "",
    header: headersOf(exchange.request),
    values,
    shutdownSignal: options.shutdownSignal,
  });
  exchange.response.once("close", () => context.abort(clientGone));
  let memory: Reservation | undefined;
  try {
    await options.gate({ method, protocol, credentials: credentialsOf(exchange), values });
    memory = openMemory(options, exchange, { values });
    await answer(context, bodyOf(options, exchange, memory));
  } catch (error) {
    const mapped = options.mapError(error);
    // Frees the memory before the answer is written, so that a refused call makes room for others.
    // Not if the error has details (the errors of a batch), which live until then, or if work still
    // runs.
    const isOver = values.get(workKey)?.isEnded ?? true;
    if (isOver && serviceErrorOf(mapped).details === undefined) memory?.shrink(memory.bytes());
    options.callLog.end({ method, protocol, values, startedAtMs, error: mapped });
    await writeFailure(mapped, answerError, memory);
  } finally {
    context.abort(callEnded);
    releaseAfterWork(values, memory);
  }
}

/** Opens the memory of a call that has passed the gate, and keeps it in the call's values. */
export function openMemory(
  options: Pick<CallOptions, "memory">,
  { response }: Exchange,
  { values, bodyClass }: { readonly values: ContextValues; readonly bodyClass?: BodyClassName },
): Reservation {
  const principal = values.get(principalKey);
  if (principal) removeKeylessStream(response);
  const memory = options.memory.open(principal, bodyClass);
  values.set(memoryKey, memory);
  return memory;
}

/** Answers with an error, or, if there is no memory for that answer, with OVERLOADED. */
async function writeFailure(
  error: unknown,
  answerError: PlainCall["answerError"],
  memory: Reservation | undefined,
): Promise<void> {
  try {
    await answerError(error, memory);
  } catch (late) {
    if (!(late instanceof ServiceError)) throw late;
    memory?.release();
    await answerError(late, undefined);
  }
}

function bodyOf(options: CallOptions, { request }: Exchange, memory: Reservation): CallBody {
  return {
    memory,
    read: (bodyClass) =>
      readBody(request, {
        bytesMax: options.bodyLimits[bodyClass],
        stallMs: options.bodyStallMs,
        reservation: memory,
        encoding: headerOf(request, "content-encoding"),
        declaredBytes: headerOf(request, "content-length"),
      }),
  };
}
