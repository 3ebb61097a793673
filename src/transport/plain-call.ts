// One call that comes as a plain HTTP request, by REST or by OTLP: gate, body, work, log and end
// are the same for both. Called by the transcoder and the OTLP route; rpc.ts has Connect's own
// framing. Source: ARCHITECTURE.md, "The way a request goes".

import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectError, ContextValues, Interceptor } from "@connectrpc/connect";
import type { ByteBudget } from "../base/byte-budget.ts";
import type { BodyClassName, BodyLimits } from "./access-rules.ts";
import { readBody } from "./body.ts";
import { type CallContext, createCallContext } from "./connect-adapter.ts";
import { type Exchange, credentialsOf, headersOf } from "./exchange.ts";
import type { Gate } from "./gate.ts";
import type { ErrorMapper } from "./interceptors/errors.ts";
import { type CallLog, protocolKey } from "./interceptors/log.ts";

/** What every protocol needs of the transport. */
export type CallOptions = {
  readonly gate: Gate;
  readonly interceptors: readonly Interceptor[];
  readonly mapError: ErrorMapper;
  readonly callLog: CallLog;
  readonly admission: ByteBudget;
  readonly bodyLimits: BodyLimits;
  readonly bodyStallMs: number;
  readonly shutdownSignal: AbortSignal;
};

export type PlainCall = {
  readonly method: DescMethod;
  readonly protocol: string;
  readonly values: ContextValues;
  /** Answers the call, once the gate let it pass. `readBody` reads up to the limit of a class. */
  readonly answer: (
    context: CallContext,
    readBody: (bodyClass: BodyClassName) => Promise<Buffer>,
  ) => Promise<void>;
  /** Answers a failure, of the gate as of the work. */
  readonly answerError: (error: ConnectError) => Promise<void>;
};

/** Made once: the stack of an error that nobody reads would cost more than the rest of an abort. */
const clientGone = new DOMException("the client went away", "AbortError");
const callEnded = new DOMException("the call has ended", "AbortError");

/** Serves a call to its end, whichever it is; throws only what `answerError` throws. */
export async function servePlainCall(
  options: CallOptions,
  exchange: Exchange,
  { method, protocol, values, answer, answerError }: PlainCall,
): Promise<void> {
  const startedAtMs = performance.now();
  values.set(protocolKey, protocol);
  const gone = new AbortController();
  const reservation = options.admission.open();
  exchange.response.once("close", () => {
    gone.abort(clientGone);
    reservation.release();
  });
  const context = createCallContext({
    method,
    protocol,
    httpMethod: exchange.httpMethod,
    url: exchange.request.url ?? "",
    header: headersOf(exchange.request),
    values,
    signal: gone.signal,
    shutdownSignal: options.shutdownSignal,
  });
  try {
    await options.gate({ method, protocol, credentials: credentialsOf(exchange), values });
    await answer(context, (bodyClass) =>
      readBody(exchange.request, exchange.request.headers, {
        bytesMax: options.bodyLimits[bodyClass],
        stallMs: options.bodyStallMs,
        reservation,
      }),
    );
  } catch (error) {
    const mapped = options.mapError(error);
    options.callLog.end({ method, protocol, values, startedAtMs, error: mapped });
    await answerError(mapped);
  } finally {
    context.abort(callEnded);
    // A client that never reads its answer must not hold the bytes of its request.
    reservation.release();
  }
}
