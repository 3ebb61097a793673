// Ends a unary call at its deadline: the client's own, or the service's longest time. The work may
// go on to its end unseen; its handler sees the aborted signal.
// Source: docs/decisions.md, 10.

import type { Interceptor } from "@connectrpc/connect";
import { ServiceError } from "../../base/errors.ts";

/** Streams have no deadline but the client's: an export may rightly run for hours. */
export function createDeadlineInterceptor(unaryTimeoutMs: number): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const { signal } = request;
    signal.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    let onAbort: (() => void) | undefined;
    const ended = new Promise<never>((_, reject) => {
      const late = (): void => {
        reject(new ServiceError("DEADLINE_EXCEEDED", `no answer in ${unaryTimeoutMs} ms`));
      };
      timer = setTimeout(late, unaryTimeoutMs);
      onAbort = () => reject(toError(signal.reason));
      signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([next(request), ended]);
    } finally {
      clearTimeout(timer);
      if (onAbort) signal.removeEventListener("abort", onAbort);
    }
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException("the call was aborted", "AbortError");
}
