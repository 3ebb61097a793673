// Watches the answers of providers as they come in: too late, too large, a redirect, or in an
// encoding that nobody asked for, and the request is ended. Called by outbound.ts, around undici's
// dispatch. Source: docs/decisions.md, 21.

import type { Dispatcher } from "undici";
import { OutboundError } from "./network-error.ts";

export type AnswerLimits = {
  /**
   * From handing the request over to the first byte of the answer's body, waiting for a socket too.
   */
  readonly firstByteTimeoutMs: number;
  /** Between two parts of an answer; the time that its reader takes does not count. */
  readonly idleTimeoutMs: number;
  /** Of an answer, however long it takes. */
  readonly bytesMax: number;
  /** What opens an object or array of JSON in an answer; parsed, each takes many times its byte. */
  readonly openingsMax: number;
};

/**
 * A part of an answer counts as so many bytes at least: kept until its answer is whole, it takes
 * more, so that an answer of parts of one byte would take gigabytes.
 */
const partBytesMin = 64;

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/** Returns what puts the watch around every request of a dispatcher. */
export function watchAnswers(limits: AnswerLimits): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, watch(handler, limits));
}

function watch(handler: Handler, limits: AnswerLimits): Handler {
  const { firstByteTimeoutMs, idleTimeoutMs, bytesMax, openingsMax } = limits;
  let controller: Controller | undefined;
  /** Why the request was ended before it began. */
  let reason: Error | undefined;
  let bytes = 0;
  let openings = 0;
  let timer = setTimeout(onTimeout, firstByteTimeoutMs);

  function onTimeout(): void {
    if (controller?.paused === true) {
      timer.refresh();
      return;
    }
    end(new OutboundError("timeout", bytes === 0 ? "did not answer in time" : "fell silent"));
  }

  function end(error: Error): void {
    clearTimeout(timer);
    if (controller) {
      controller.abort(error);
      return;
    }
    // It waits for a socket, which may take long: who asked is told at once.
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
      if (fault === undefined) handler.onResponseStart?.(started, status, headers, statusText);
      else end(new OutboundError("malformed", fault));
    },

    onResponseData(started, chunk) {
      if (bytes === 0) {
        clearTimeout(timer);
        timer = setTimeout(onTimeout, idleTimeoutMs);
      } else {
        timer.refresh();
      }
      bytes += Math.max(chunk.length, partBytesMin);
      openings += countOpenings(chunk);
      if (bytes > bytesMax) {
        end(new OutboundError("malformed", `answered more than ${bytesMax} bytes`));
      } else if (openings > openingsMax) {
        end(new OutboundError("malformed", `answered more than ${openingsMax} objects and arrays`));
      } else {
        handler.onResponseData?.(started, chunk);
      }
    },

    onResponseEnd(ended, trailers) {
      clearTimeout(timer);
      handler.onResponseEnd?.(ended, trailers);
    },

    onResponseError(failed, error) {
      clearTimeout(timer);
      if (!reason) handler.onResponseError?.(failed, error);
    },
  };
}

const openBracket = 0x5b;
const openBrace = 0x7b;

/** Those in texts count too, of which no answer has as many. */
function countOpenings(chunk: Uint8Array): number {
  let count = 0;
  for (const byte of chunk) if (byte === openBracket || byte === openBrace) count += 1;
  return count;
}

/** Says what is wrong with the head of an answer. */
function faultOf(status: number, encoding: string | string[] | undefined): string | undefined {
  const isRedirect = status >= 300 && status < 400;
  if (isRedirect) return "answered with a redirect, which is not followed";
  // Inflated it could be of any size; we never ask for one.
  if (encoding !== undefined && encoding !== "identity") return "answered in an unasked encoding";
  return undefined;
}

function endedController(reason: Error): Controller {
  return { aborted: true, paused: false, reason, abort() {}, pause() {}, resume() {} };
}
