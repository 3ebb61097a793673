// Watches the answers of providers as they arrive, and aborts the request if the answer is late,
// too large, a redirect or encoded. Kept answers are charged to the memory of their call.
// Source: docs/decisions.md, 21.

import type { Dispatcher } from "undici";
import { currentAnswer } from "../calls/answer-memory.ts";
import { createAnswerSize, type SizeLimits } from "./answer-size.ts";
import { OutboundError } from "./network-error.ts";

export type AnswerLimits = SizeLimits & {
  /** Maximum time from sending, including the wait for a socket, to the first byte of the body. */
  readonly firstByteTimeoutMs: number;
  /** Maximum time between two parts of an answer, except while the reader is paused. */
  readonly idleTimeoutMs: number;
};

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/** Returns an interceptor that watches every request of a dispatcher. */
export function watchAnswers(limits: AnswerLimits): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, watch(handler, limits));
}

function watch(handler: Handler, limits: AnswerLimits): Handler {
  const { firstByteTimeoutMs, idleTimeoutMs } = limits;
  const size = createAnswerSize(limits, currentAnswer.getStore());
  let controller: Controller | undefined;
  /** Reason for an abort before the request began. */
  let reason: Error | undefined;
  let hasBegun = false;
  let timer = setTimeout(onTimeout, firstByteTimeoutMs);

  function onTimeout(): void {
    if (controller?.paused === true) {
      timer.refresh();
      return;
    }
    end(new OutboundError("timeout", hasBegun ? "fell silent" : "did not answer in time"));
  }

  function end(error: Error): void {
    clearTimeout(timer);
    if (controller) {
      controller.abort(error);
      return;
    }
    // The request waits for a socket, which may take long: report the error now.
    reason = error;
    handler.onResponseError?.(endedController(error), error);
  }

  return {
    onRequestStart(started, context) {
      controller = started;
      if (reason) started.abort(reason);
      else handler.onRequestStart?.(started, context);
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onBodySent: (chunk) => handler.onBodySent?.(chunk),
    onRequestSent: () => handler.onRequestSent?.(),
    onResponseStarted: () => handler.onResponseStarted?.(),

    onResponseStart(started, status, headers, statusText) {
      const fault = faultOf(status, headers["content-encoding"]);
      size.begin(headers["content-type"]);
      if (fault === undefined) handler.onResponseStart?.(started, status, headers, statusText);
      else end(new OutboundError("malformed", fault));
    },

    onResponseData(started, chunk) {
      if (hasBegun) {
        timer.refresh();
      } else {
        hasBegun = true;
        clearTimeout(timer);
        timer = setTimeout(onTimeout, idleTimeoutMs);
      }
      const fault = size.add(chunk);
      if (fault) end(fault);
      else handler.onResponseData?.(started, chunk);
    },

    onResponseEnd(ended, trailers) {
      clearTimeout(timer);
      handler.onResponseEnd?.(ended, trailers);
    },

    onResponseError(failed, error) {
      clearTimeout(timer);
      size.drop();
      if (!reason) handler.onResponseError?.(failed, error);
    },
  };
}

/** Returns the fault of an answer's status and encoding, or undefined. */
function faultOf(status: number, encoding: string | string[] | undefined): string | undefined {
  const isRedirect = status >= 300 && status < 400;
  if (isRedirect) return "answered with a redirect, which is not followed";
  // We never ask for an encoding: an inflated answer could have any size.
  if (encoding !== undefined && encoding !== "identity") return "answered in an unasked encoding";
  return undefined;
}

function endedController(reason: Error): Controller {
  return { aborted: true, paused: false, reason, abort() {}, pause() {}, resume() {} };
}
