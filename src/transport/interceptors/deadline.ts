// Ends a unary call at its deadline: the client's, or the service's maximum time. The handler sees
// the aborted signal, but its work may run on to its end. Source: docs/decisions.md, 10.

import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import { ServiceError } from "../../base/errors.ts";
import { accessRuleOf } from "../access-rules.ts";
import { type Work, workKey } from "../../access/call.ts";

/** Maximum times of unary calls. */
export type Deadlines = {
  /**
   * Maximum time of calls that write events. After it the database counts as unavailable, and the
   * client is asked to retry; the retry is merged with events that were stored anyway.
   */
  readonly ingestionTimeoutMs: number;
  /** Maximum time of calls that run a model; it includes their own time-outs. */
  readonly generationTimeoutMs: number;
  /** Maximum time of all other calls. */
  readonly unaryTimeoutMs: number;
};

/**
 * Returns the interceptor. Streams have only the client's deadline: an export may run for hours.
 */
export function createDeadlineInterceptor(deadlines: Deadlines): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const { signal } = request;
    signal.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    const ended = new Promise<never>((_, reject) => {
      const { isIngestion } = accessRuleOf(request.method);
      const timeoutMs = timeoutOf(request.method, deadlines);
      const reason = isIngestion ? "DATABASE_UNAVAILABLE" : "DEADLINE_EXCEEDED";
      const late = () => reject(new ServiceError(reason, `no answer in ${timeoutMs} ms`));
      timer = setTimeout(late, timeoutMs);
      onAbort = () => reject(toError(signal.reason));
      signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([started(next(request), request.contextValues), ended]);
    } finally {
      clearTimeout(timer);
      if (onAbort) signal.removeEventListener("abort", onAbort);
    }
  };
}

/** Registers the work of a call, whose memory it keeps until it ends. */
function started<T>(ended: Promise<T>, values: ContextValues): Promise<T> {
  const work: Work = { ended, isEnded: false };
  const end = (): void => void (work.isEnded = true);
  ended.then(end, end);
  values.set(workKey, work);
  return ended;
}

function timeoutOf(method: DescMethod, deadlines: Deadlines): number {
  const { isIngestion, isGeneration } = accessRuleOf(method);
  const { ingestionTimeoutMs, generationTimeoutMs, unaryTimeoutMs } = deadlines;
  if (isGeneration) return generationTimeoutMs;
  return isIngestion ? Math.min(ingestionTimeoutMs, unaryTimeoutMs) : unaryTimeoutMs;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException("the call was aborted", "AbortError");
}
