// Encodes a JSON value to the bytes of an answer: at once if it is small, member by member if it is
// large, so that other requests wait only milliseconds. Source: docs/limits.md.

import type { Reservation } from "../../base/byte-budget.ts";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import { charsLeft, isLarge, pieceCharsMax } from "./large.ts";

/** Maximum memory of a call whose answer is encoded at once, in about 5 ms. */
export const wholeBytesMax = 1_000_000;

/**
 * Returns the bytes of a JSON value. The memory of the call limits the size of its answer, so a
 * call with little memory encodes it at once.
 */
export async function encodeJson(value: unknown, memory: Reservation): Promise<Buffer> {
  if (memory.bytes() <= wholeBytesMax) return Buffer.from(JSON.stringify(value));
  return encodeJsonInPieces(value, memory.holder);
}

/**
 * Returns the bytes of a JSON value of any size. `holder` is the holder of the call's memory, whose
 * calls share their turns.
 */
export async function encodeJsonInPieces(value: unknown, holder?: string): Promise<Buffer> {
  const writer = createWriter(createPacer(holder));
  await writeValue(value, writer);
  return writer.end();
}

type Writer = {
  readonly pacer: Pacer;
  add(text: string): void;
  end(): Buffer;
};

function createWriter(pacer: Pacer): Writer {
  const pieces: Buffer[] = [];
  let text = "";
  const flush = (): void => {
    pieces.push(Buffer.from(text));
    text = "";
  };
  return {
    pacer,
    add(more) {
      text += more;
      if (text.length > pieceCharsMax) flush();
    },
    end() {
      flush();
      return Buffer.concat(pieces);
    },
  };
}

async function writeValue(value: unknown, writer: Writer): Promise<void> {
  if (writer.pacer.due()) await writer.pacer.rest();
  if (typeof value !== "object" || value === null || !isLarge(value)) {
    // As in JSON.stringify's lists, a value that JSON does not have becomes null.
    writer.add(JSON.stringify(value) ?? "null");
  } else if (Array.isArray(value)) {
    await writeList(value, writer);
  } else {
    await writeObject(value, writer);
  }
}

async function writeObject(object: object, writer: Writer): Promise<void> {
  let separator = "{";
  for (const [key, member] of Object.entries(object)) {
    // As in JSON.stringify, a member without a value is left out.
    if (member === undefined) continue;
    writer.add(`${separator}${JSON.stringify(key)}:`);
    await writeValue(member, writer);
    separator = ",";
  }
  writer.add(separator === "{" ? "{}" : "}");
}

async function writeList(list: readonly unknown[], writer: Writer): Promise<void> {
  writer.add("[");
  for (let at = 0; at < list.length;) {
    if (at > 0) writer.add(",");
    const end = endOfPiece(list, at);
    if (end === at) await writeValue(list[at], writer);
    // One call for many items: awaiting each would cost more than writing them.
    else writer.add(JSON.stringify(list.slice(at, end)).slice(1, -1));
    at = Math.max(end, at + 1);
    if (writer.pacer.due()) await writer.pacer.rest();
  }
  writer.add("]");
}

/** Returns the end of the items that make one piece of text; `at` if the first one is large. */
function endOfPiece(list: readonly unknown[], at: number): number {
  let left = pieceCharsMax;
  for (let end = at; end < list.length; end += 1) {
    left = charsLeft(list[end], left);
    if (left <= 0) return end;
  }
  return list.length;
}
