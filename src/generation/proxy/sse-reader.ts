// Cuts the bytes of a stream of server-sent events into whole events. No byte is changed or lost:
// what comes out, put together, is what went in. Called by stream-reader.ts. Source: HTML Standard,
// 9.2.6 (Interpreting an event stream).

/** One event, with the blank line that ends it. */
export type SseEvent = {
  readonly bytes: Uint8Array;
  /** Undefined where it has none, as comments that keep a connection alive. */
  readonly data: string | undefined;
  /** Empty where it has none. */
  readonly name: string;
};

export type SseReader = {
  /** Takes bytes, and returns the events that they complete. */
  push(chunk: Uint8Array): readonly SseEvent[];
  /** Returns what is left at the end of the stream: an event without its blank line. */
  end(): SseEvent | undefined;
};

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const blankLine = /(?:\r\n|\n|\r(?!\n)){2}/g;
/** Bytes of the longest blank line, less one: what of it may stand before a chunk. */
const overlapBytes = 3;

export function createSseReader(): SseReader {
  // Kept apart until the event is whole: joining at every chunk would cost the square of its
  // length.
  let waiting: Buffer[] = [];

  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const last = waiting.at(-1);
      if (last && endsOf(Buffer.concat([tailOf(waiting), bytes])).length === 0) {
        waiting.push(bytes);
        return [];
      }
      const all = last ? Buffer.concat([...waiting, bytes]) : bytes;
      const ends = endsOf(all);
      const rest = all.subarray(ends.at(-1) ?? 0);
      waiting = rest.length > 0 ? [rest] : [];
      return ends.map((end, index) => readEvent(all.subarray(ends[index - 1] ?? 0, end)));
    },
    end() {
      const bytes = Buffer.concat(waiting);
      waiting = [];
      return bytes.length > 0 ? readEvent(bytes) : undefined;
    },
  };
}

function tailOf(chunks: readonly Buffer[]): Buffer {
  const tails = chunks.slice(-overlapBytes).map((chunk) => chunk.subarray(-overlapBytes));
  return Buffer.concat(tails).subarray(-overlapBytes);
}

/** Returns where events have ended. */
function endsOf(bytes: Buffer): number[] {
  const ends: number[] = [];
  if (bytes.includes(carriageReturn)) {
    // One character a byte, so that its places are the bytes'.
    for (const match of bytes.toString("latin1").matchAll(blankLine)) {
      ends.push(match.index + match[0].length);
    }
    return ends;
  }
  let at = bytes.indexOf("\n\n");
  while (at !== -1) {
    ends.push(at + 2);
    at = bytes.indexOf("\n\n", at + 2);
  }
  return ends;
}

function readEvent(bytes: Buffer): SseEvent {
  // A stream may begin with a byte order mark, which says nothing.
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  // As nearly all are: one line of data.
  const isPlain = bytes.indexOf(lineFeed) === bytes.length - 2 && !bytes.includes(carriageReturn);
  if (isPlain && text.startsWith("data: ")) {
    return { bytes, data: text.slice("data: ".length, -2), name: "" };
  }
  const data: string[] = [];
  let name = "";
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [, field, value = ""] = /^(data|event)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
  }
  return { bytes, data: data.length > 0 ? data.join("\n") : undefined, name };
}
