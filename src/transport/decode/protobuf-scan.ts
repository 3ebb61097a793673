// One pass over the tags of a Protobuf message before it is decoded: counts messages, values and
// list items as JSON would have them. Other requests run in between. Costs a few nanoseconds per
// field; texts are skipped. Source: docs/limits.md; Protobuf encoding specification.

import type { DescMessage } from "@bufbuild/protobuf";
import { listItemsMax, memberNameBytesMax, messageDepthMax } from "../../base/limits.ts";
import type { Pacer } from "../../base/pacer.ts";
import { type FieldShape, type Shape, shapeOf } from "./protobuf-shape.ts";
import {
  checkTally,
  type Tally,
  tooLongName,
  tooManyItems,
  tooManyLooseValues,
} from "../../base/decode/tally.ts";
import { type Cursor, lengthType, malformed, readEnd, readTag, skipValue } from "./wire.ts";

/** An open message. The next message at the same depth reuses its frame. */
type Frame = {
  readonly depth: number;
  readonly around: Frame | undefined;
  inner: Frame | undefined;
  shape: Shape;
  end: number;
  /** Number of items so far, by the field number of the list. */
  lists: Map<number, number> | undefined;
};

type Scan = {
  readonly cursor: Cursor;
  readonly tally: Tally;
  /** The innermost open message. */
  frame: Frame;
  looseValues: number;
};

/** Number of fields counted between two checks of the clock: well under a millisecond. */
const stepFields = 16_384;

/**
 * Counts the contents of a message. Throws MALFORMED_BODY if the message is cut, nests too deep, or
 * has more messages or values than the limits allow, and INVALID_ARGUMENT if a list is too long.
 */
export async function countProtobuf(
  desc: DescMessage,
  bytes: Uint8Array,
  pacer: Pacer,
): Promise<Tally> {
  const tally: Tally = { containers: 0, values: 0, memory: 0 };
  const frame = frameOf(shapeOf(desc), bytes.length, undefined);
  const scan: Scan = { cursor: { bytes, at: 0 }, tally, frame, looseValues: 0 };
  begin(scan, frame);
  while (advance(scan)) {
    checkTally(tally);
    if (pacer.due()) await pacer.rest();
  }
  checkTally(tally);
  return tally;
}

/** Counts one step; returns false at the end of the outermost message. */
function advance(scan: Scan): boolean {
  const { cursor } = scan;
  for (let count = 0; count < stepFields; count += 1) {
    while (cursor.at >= scan.frame.end) {
      if (cursor.at !== scan.frame.end) throw malformed("a field is longer than its message");
      if (!scan.frame.around) return false;
      scan.frame = scan.frame.around;
    }
    const { shape, end } = scan.frame;
    const tag = readTag(cursor);
    const field = shape.fields.get(tag >>> 3);
    if (!field) skipValue(cursor, tag, end);
    else if (field.message && (tag & 7) === lengthType) enter(scan, field, field.message());
    else countScalar(scan, field, tag);
  }
  return true;
}

function enter(scan: Scan, field: FieldShape, shape: Shape): void {
  const { cursor, frame, tally } = scan;
  countItems(scan, field, 1);
  tally.memory += field.bytes;
  const end = readEnd(cursor, frame.end);
  if (frame.depth >= messageDepthMax) {
    throw malformed(`messages nest deeper than ${messageDepthMax} levels`);
  }
  const inner = (frame.inner ??= frameOf(shape, end, frame));
  inner.shape = shape;
  inner.end = end;
  inner.lists = undefined;
  scan.frame = inner;
  begin(scan, inner);
}

function frameOf(shape: Shape, end: number, around: Frame | undefined): Frame {
  const depth = around === undefined ? 0 : around.depth + 1;
  return { depth, around, inner: undefined, shape, end, lists: undefined };
}

function begin({ tally }: Scan, { shape }: Frame): void {
  if (shape.isContainer) tally.containers += 1;
  tally.memory += shape.bytes;
}

function countScalar(scan: Scan, field: FieldShape, tag: number): void {
  const { cursor, tally, frame } = scan;
  const start = cursor.at;
  skipValue(cursor, tag, frame.end);
  if (field.isName && cursor.at - start > memberNameBytesMax) throw tooLongName();
  const { packedBytes } = field;
  const isPacked = packedBytes !== undefined && (tag & 7) === lengthType;
  const values = isPacked ? Math.ceil((cursor.at - start) / packedBytes) : field.values;
  countItems(scan, field, values);
  tally.values += values;
  tally.memory += values * field.bytes;
}

function countItems(scan: Scan, field: FieldShape, more: number): void {
  if (field.isLoose) {
    scan.looseValues += 1;
    if (scan.looseValues > listItemsMax) throw tooManyLooseValues();
  }
  if (!field.isList) return;
  const { frame } = scan;
  const items = (frame.lists?.get(field.number) ?? 0) + more;
  if (items > listItemsMax) throw tooManyItems(field.name);
  (frame.lists ??= new Map()).set(field.number, items);
}
