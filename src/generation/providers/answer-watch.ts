// Watches the answers of providers as they arrive, and aborts the request if the answer is late,
// too large, a redirect or encoded. Kept answers are charged to the memory of their call.
// Source: docs/decisions.md, 21.4, 21.7.

import type { Dispatcher } from "undici";
import { currentAnswer } from "../calls/answer-memory.ts";
import { isOfType, streamType } from "./media-type.ts";
import { OutboundError } from "./network-error.ts";
import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { containerBytes, countOpenings } from "../../base/json-memory.ts";

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
  const control = new Control();
  let reason: Error | undefined;
  let hasBegun = false;
  let timer = setTimeout(onTimeout, firstByteTimeoutMs);

  function onTimeout(): void {
    if (control.of?.paused === true) {
      timer.refresh();
      return;
    }
    end(new OutboundError("timeout", hasBegun ? "fell silent" : "did not answer in time"));
  }

  function end(error: Error): void {
    clearTimeout(timer);
    if (control.of) {
      control.of.abort(error);
      return;
    }
    // The request waits for a socket, which may take long: report the error now.
    reason = error;
    handler.onResponseError?.(endedController(error), error);
  }

  return {
    onRequestStart(started, context) {
      control.of = started;
      if (reason) started.abort(reason);
      else handler.onRequestStart?.(control, context);
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
      control.of = undefined;
      handler.onResponseEnd?.(ended, trailers);
    },

    onResponseError(failed, error) {
      clearTimeout(timer);
      control.of = undefined;
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

/**
 * Control of a request while it runs. undici keeps it in a function that it assigns to a property:
 * V8 makes such a function an old object, so that all to which its control leads, here nothing
 * after the end, stays in memory until the whole heap is collected. A class, since an object with
 * accessors of its own takes a kilobyte.
 */
class Control implements Controller {
  /** Undefined before the request begins and after it has ended. */
  of: Controller | undefined;

  get aborted(): boolean {
    return this.of?.aborted ?? false;
  }
  get paused(): boolean {
    return this.of?.paused ?? false;
  }
  get reason(): Error | null {
    return this.of?.reason ?? null;
  }
  abort(reason: Error): void {
    this.of?.abort(reason);
  }
  pause(): void {
    this.of?.pause();
  }
  resume(): void {
    this.of?.resume();
  }
}

function endedController(reason: Error): Controller {
  return { aborted: true, paused: false, reason, abort() {}, pause() {}, resume() {} };
}

export type SizeLimits = {
  /** Maximum bytes of an answer; of a stream, of one event. */
  readonly bytesMax: number;
  /** Maximum bytes of a whole stream of events, which is not kept. */
  readonly streamBytesMax: number;
  /** Maximum opening brackets and braces: each object or array takes many times its byte. */
  readonly openingsMax: number;
};

/**
 * Minimum bytes that a part of an answer counts as. A kept part has overhead: an answer in parts of
 * one byte would take gigabytes.
 */
const partBytesMin = 64;

/** Maximum size of an event that is not charged; a larger one is charged until it is complete. */
const smallEventBytesMax = 65_536;

/** `memory` belongs to the generation that the answer is for, if there is one. */
export function createAnswerSize(limits: SizeLimits, memory: Reservation | undefined) {
  const { bytesMax, streamBytesMax, openingsMax } = limits;
  let isStream = false;
  let bytes = 0;
  /** Bytes that are kept: the answer so far, or the last event. */
  let keptBytes = 0;
  let openings = 0;
  let counted = 0;

  function count(part: Buffer): void {
    const end = isStream ? endOfEvents(part) : 0;
    if (end > 0) {
      drop();
      keptBytes = 0;
      openings = 0;
    }
    const kept = end > 0 ? part.subarray(end) : part;
    const keptOpenings = countOpenings(kept);
    bytes += Math.max(part.length, partBytesMin);
    keptBytes += Math.max(kept.length, partBytesMin);
    openings += keptOpenings;
    if (isStream && keptBytes <= smallEventBytesMax) return;
    // Parsed JSON takes more than its bytes.
    const taken = Math.max(kept.length, partBytesMin) + keptOpenings * containerBytes;
    memory?.grow(taken);
    counted += taken;
  }

  /** Returns the limit of memory that the last part exceeds. */
  function memoryLimit(): string {
    const { bytesMax: callBytesMax } = memory ?? { bytesMax: Infinity };
    const isAlone = keptBytes + openings * containerBytes > callBytesMax;
    if (!isAlone) return "there is memory for now";
    const each = `each of its ${openings} objects and arrays so far counts as ${containerBytes}`;
    return `a call may ever hold, ${callBytesMax} bytes: ${each}`;
  }

  function drop(): void {
    memory?.shrink(counted);
    counted = 0;
  }

  return {
    /** Sets the content type; called before the first part. */
    begin(contentType: string | string[] | undefined): void {
      isStream = isOfType(contentType, streamType);
    },

    /** Adds a part; returns an error if the answer is over a limit. */
    add(part: Buffer): OutboundError | undefined {
      try {
        count(part);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return new OutboundError("overloaded", `answered more than ${memoryLimit()}`);
      }
      if (keptBytes > bytesMax) return tooMuch(`${bytesMax} bytes`);
      if (isStream && bytes > streamBytesMax) return tooMuch(`${streamBytesMax} bytes`);
      return openings > openingsMax ? tooMuch(`${openingsMax} objects and arrays`) : undefined;
    },

    /** Releases the memory of an answer that is not kept. */
    drop,
  };
}

function tooMuch(limit: string): OutboundError {
  return new OutboundError("malformed", `answered more than ${limit}`);
}

/**
 * Returns the end of the last event that ends in a part, or 0. An event whose blank line is split
 * over two parts counts as part of the next event.
 */
function endOfEvents(part: Buffer): number {
  const at = part.lastIndexOf("\n\n");
  if (at !== -1) return at + 2;
  const wide = part.lastIndexOf("\n\r\n");
  return wide === -1 ? 0 : wide + 3;
}
