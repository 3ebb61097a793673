// Splits a stream of server-sent events into whole events. The events joined are exactly the bytes
// of the stream. Source: HTML Standard, 9.2.6 (Interpreting an event stream).

/** Event with the blank line that ends it. */
export type SseEvent = {
  readonly bytes: Uint8Array;
  /** Undefined without data, such as for comments that keep the connection alive. */
  readonly data: string | undefined;
  /** Event name; empty if absent. */
  readonly name: string;
};

const carriageReturn = 0x0d;
const twoLineFeeds = Buffer.from("\n\n");
const blankLine = /(?:\r\n|\n|\r(?!\n)){2}/g;
/** Maximum bytes of a blank line that may precede a chunk: the longest blank line less one. */
const overlapBytes = 3;

export function createSseReader() {
  // Joined only when an event is complete: joining at each chunk would cost quadratic time.
  let waiting: Buffer[] = [];

  return {
    /** Adds bytes, and returns the events that they complete. */
    push(chunk: Uint8Array): readonly SseEvent[] {
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
    /** Returns the rest at the end of the stream: an event without its blank line. */
    end(): SseEvent | undefined {
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

function endsOf(bytes: Buffer): number[] {
  const ends: number[] = [];
  if (bytes.includes(carriageReturn)) {
    // Latin-1, so that character positions are byte positions.
    for (const match of bytes.toString("latin1").matchAll(blankLine)) {
      ends.push(match.index + match[0].length);
    }
    return ends;
  }
  for (let at = bytes.indexOf(twoLineFeeds); at !== -1; at = bytes.indexOf(twoLineFeeds, at + 2)) {
    ends.push(at + 2);
  }
  return ends;
}

function readEvent(bytes: Buffer): SseEvent {
  const decoded = bytes.toString("utf8");
  // A stream may begin with a byte order mark, which is ignored.
  const text = decoded.startsWith("\uFEFF") ? decoded.slice(1) : decoded;
  // Fast path for the most frequent form: one line of data.
  const isPlain = text.indexOf("\n") === text.length - 2 && !text.includes("\r");
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
