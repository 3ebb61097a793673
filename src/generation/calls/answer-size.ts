// Counts what comes of an answer: of one that is kept until it is whole all of it, of a stream of
// events what is kept until an event is whole. Source: docs/decisions.md, 21.

import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { containerBytes, countOpenings } from "../../base/json-memory.ts";
import { OutboundError } from "./network-error.ts";

export type SizeLimits = {
  /** Of an answer that is kept until it is whole; of a stream, of one event. */
  readonly bytesMax: number;
  /** Of a stream of events, which is not kept. */
  readonly streamBytesMax: number;
  /** What opens an object or array of JSON in an answer; parsed, each takes many times its byte. */
  readonly openingsMax: number;
};

export type AnswerSize = {
  /** Takes the content type, before the first part. */
  begin(contentType: string | string[] | undefined): void;
  /** Adds a part; returns what is wrong with the answer then. */
  add(part: Buffer): OutboundError | undefined;
  /** The answer is not kept: others may have its memory at once. */
  drop(): void;
};

/**
 * A part of an answer counts as so many bytes at least: kept until its answer is whole, it takes
 * more, so that an answer of parts of one byte would take gigabytes.
 */
const partBytesMin = 64;

/** Events up to here come and go; a larger one counts in the call's memory until it is whole. */
const smallEventBytesMax = 65_536;

const eventStream = "text/event-stream";

/** `memory` is that of the generation that the answer is for, where it is for one. */
export function createAnswerSize(limits: SizeLimits, memory: Reservation | undefined): AnswerSize {
  const { bytesMax, streamBytesMax, openingsMax } = limits;
  let isStream = false;
  let bytes = 0;
  /** Of what is kept: the answer so far, or its last event. */
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
    // Parsed, it takes more than its bytes.
    const taken = Math.max(kept.length, partBytesMin) + keptOpenings * containerBytes;
    memory?.grow(taken);
    counted += taken;
  }

  function drop(): void {
    memory?.shrink(counted);
    counted = 0;
  }

  return {
    begin(contentType) {
      isStream = typeof contentType === "string" && contentType.startsWith(eventStream);
    },

    add(part) {
      try {
        count(part);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return new OutboundError("overloaded", "answered more than there is memory for now");
      }
      if (keptBytes > bytesMax) return tooMuch(`${bytesMax} bytes`);
      if (isStream && bytes > streamBytesMax) return tooMuch(`${streamBytesMax} bytes`);
      return openings > openingsMax ? tooMuch(`${openingsMax} objects and arrays`) : undefined;
    },

    drop,
  };
}

function tooMuch(limit: string): OutboundError {
  return new OutboundError("malformed", `answered more than ${limit}`);
}

/**
 * Returns where the last event that ends in a part ends; 0 where none does. One whose blank line
 * comes in two parts is taken for a part of the next.
 */
function endOfEvents(part: Buffer): number {
  const at = part.lastIndexOf("\n\n");
  if (at !== -1) return at + 2;
  const wide = part.lastIndexOf("\n\r\n");
  return wide === -1 ? 0 : wide + 3;
}
