// Ends a unary call at its deadline: the client's own, or the service's longest time. The work may
// go on to its end unseen; its handler sees the aborted signal.
// Source: docs/decisions.md, 10.

import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor } from "@connectrpc/connect";
import { ServiceError } from "../../base/errors.ts";
import { accessRuleOf } from "../access-rules.ts";
import { type Work, workKey } from "../context.ts";

/** Longest times of unary calls. */
export type Deadlines = {
  /**
   * Of calls that write events: past it the database counts as away, and the client is told to try
   * again; what is stored all the same is merged with that.
   */
  readonly ingestionTimeoutMs: number;
  /** Of calls that run a model, which have time-outs of their own within it. */
  readonly generationTimeoutMs: number;
  /** Of all others. */
  readonly unaryTimeoutMs: number;
};

/** Streams have no deadline but the client's: an export may rightly run for hours. */
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

/** Notes the work for its call, whose memory it holds to its own end. */
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
