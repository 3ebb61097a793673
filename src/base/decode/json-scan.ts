// One pass over the bytes of a JSON text before it is parsed: counts its values and marks positions
// at which a large text can be cut into pieces. Other requests run in between. JSON.parse reports
// errors of the text itself. Source: RFC 8259; docs/limits.md.

import { ServiceError } from "../errors.ts";
import { bodyDepthMax, listItemsMax, memberNameBytesMax } from "../limits.ts";
import type { Pacer } from "../pacer.ts";
import {
  checkTally,
  containerBytes,
  type Tally,
  tooLongName,
  tooManyMembers,
  valueBytes,
} from "./tally.ts";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** A value larger than a piece: a text, or an object or array with the positions of its cuts. */
export type LargeValue = {
  readonly start: number;
  /** Start and end of the text before the value: its name, if it is a member of an object. */
  readonly name: readonly [start: number, end: number];
  /** Index after the closing bracket or quote. */
  readonly end: number;
  /** Indexes of commas between its members, about one piece apart. */
  readonly cuts: readonly number[];
  /** Large values among its members, and large names of members, in order. */
  readonly large: readonly LargeValue[];
};

export type JsonScan = {
  readonly tally: Tally;
  /** Outermost container; undefined if it is no larger than a piece. */
  readonly root: LargeValue | undefined;
  /** Index of the first bracket that does not match, or the length if a bracket is not closed. */
  readonly faultAt: number | undefined;
};

/** Bytes that are processed at once. */
export type ScanSizes = {
  /** Size above which a container is marked. */
  readonly pieceBytes: number;
  /** Bytes scanned between two checks of the clock. */
  readonly stepBytes: number;
};

/**
 * Counts the objects, arrays and single values of a JSON text, and marks containers larger than a
 * piece. Throws MALFORMED_BODY if their number or depth exceeds a limit.
 */
export async function scanJson(
  body: Buffer,
  { pieceBytes, stepBytes }: ScanSizes,
  pacer: Pacer,
): Promise<JsonScan> {
  const scan = createScan(body, pieceBytes);
  while (scan.at < body.length && scan.faultAt === undefined) {
    advance(scan, Math.min(body.length, scan.at + stepBytes));
    checkTally(scan.tally);
    if (scan.at < body.length && pacer.due()) await pacer.rest();
  }
  const { tally, root, depth } = scan;
  tally.memory = memoryOf(tally);
  return { tally, root, faultAt: scan.faultAt ?? (depth > 0 ? body.length : undefined) };
}

/**
 * Counts the objects, arrays and single values of a JSON text that is too short for a list of
 * `listItemsMax` items. Throws MALFORMED_BODY if it nests too deep.
 */
export function countJson(body: Buffer): Tally {
  const tally: Tally = { containers: 0, values: 1, memory: 0 };
  let depth = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === quote) {
      const end = endOfText(body, at + 1, body.length);
      if (end < 0) break;
      at = end;
    } else if (byte === comma) tally.values += 1;
    else if (byte === openBrace || byte === openBracket) {
      tally.containers += 1;
      depth += 1;
      if (depth > bodyDepthMax) throw tooDeep();
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  checkTally(tally);
  tally.memory = memoryOf(tally);
  return tally;
}

function memoryOf({ containers, values }: Tally): number {
  return containers * containerBytes + values * valueBytes;
}

/** Open containers as lists of numbers, one entry per level: cheaper than one object per level. */
type Levels = {
  readonly start: number[];
  readonly commas: number[];
  readonly nameStart: number[];
  readonly nameEnd: number[];
  readonly lastCut: number[];
  readonly cuts: (number[] | undefined)[];
  readonly large: (LargeValue[] | undefined)[];
};

type Scan = {
  readonly body: Buffer;
  readonly pieceBytes: number;
  readonly tally: Tally;
  readonly levels: Levels;
  depth: number;
  /** Number of commas so far in the innermost open container. */
  commas: number;
  at: number;
  /** Whether `at` is inside a text; `at` is then not the escaped character after a backslash. */
  isInText: boolean;
  /** Positions of the last text and of the text before it. */
  textStart: number;
  textEnd: number;
  priorStart: number;
  priorEnd: number;
  root: LargeValue | undefined;
  faultAt: number | undefined;
};

function createScan(body: Buffer, pieceBytes: number): Scan {
  const levels = {
    start: [],
    commas: [],
    nameStart: [],
    nameEnd: [],
    lastCut: [],
    cuts: [],
    large: [],
  };
  const tally: Tally = { containers: 0, values: 1, memory: 0 };
  const text = { isInText: false, textStart: 0, textEnd: 0, priorStart: 0, priorEnd: 0 };
  const outcome = { root: undefined, faultAt: undefined };
  return { body, pieceBytes, tally, levels, depth: 0, commas: 0, at: 0, ...text, ...outcome };
}

/** Scans up to a limit, or a little further. */
function advance(scan: Scan, limit: number): void {
  const { body, pieceBytes, tally, levels } = scan;
  let at = scan.isInText ? passText(scan, scan.at, limit) : scan.at;
  let lastCut = levels.lastCut[scan.depth - 1] ?? Infinity;
  for (; at < limit; at += 1) {
    const byte = body[at] as number;
    if (byte === quote) {
      scan.priorStart = scan.textStart;
      scan.priorEnd = scan.textEnd;
      scan.textStart = at;
      at = passText(scan, at + 1, limit) - 1;
    } else if (byte === comma) {
      tally.values += 1;
      scan.commas += 1;
      if (at - lastCut <= pieceBytes) continue;
      (levels.cuts[scan.depth - 1] ??= []).push(at);
      lastCut = levels.lastCut[scan.depth - 1] = at;
    } else if (byte === openBrace || byte === openBracket) {
      open(scan, at);
      lastCut = at;
    } else if (byte === closeBrace || byte === closeBracket) {
      close(scan, at, byte);
      lastCut = levels.lastCut[scan.depth - 1] ?? Infinity;
    } else if (byte === colon && scan.textEnd - scan.textStart > memberNameBytesMax + 2) {
      throw tooLongName();
    }
  }
  scan.at = at;
}

/**
 * Returns the index after the text that contains `start`, or an index in it if it reaches the
 * limit.
 */
function passText(scan: Scan, start: number, limit: number): number {
  const end = endOfText(scan.body, start, limit);
  scan.isInText = end < 0;
  if (end < 0) return ~end;
  scan.textEnd = end + 1;
  if (scan.textEnd - scan.textStart > scan.pieceBytes) noteLargeText(scan);
  return end + 1;
}

function noteLargeText({ levels, depth, ...scan }: Scan): void {
  if (depth === 0) return;
  const name = [scan.priorStart, scan.priorEnd] as const;
  const text = { start: scan.textStart, end: scan.textEnd, name, cuts: [], large: [] };
  (levels.large[depth - 1] ??= []).push(text);
}

function open(scan: Scan, at: number): void {
  const { levels, depth } = scan;
  if (depth >= bodyDepthMax) throw tooDeep();
  levels.start[depth] = at;
  levels.commas[depth] = scan.commas;
  scan.commas = 0;
  levels.nameStart[depth] = scan.textStart;
  levels.nameEnd[depth] = scan.textEnd;
  levels.lastCut[depth] = at;
  levels.cuts[depth] = undefined;
  levels.large[depth] = undefined;
  scan.depth += 1;
  scan.tally.containers += 1;
}

function close(scan: Scan, at: number, byte: number): void {
  const { body, levels } = scan;
  const depth = scan.depth - 1;
  const start = levels.start[Math.max(0, depth)] ?? 0;
  // In ASCII the closing brackets of `{` and `[` are two codes after the opening ones.
  if (depth < 0 || (body[start] as number) + 2 !== byte) {
    scan.faultAt ??= at;
    return;
  }
  if (byte === closeBrace && scan.commas >= listItemsMax) throw tooManyMembers();
  scan.commas = levels.commas[depth] ?? 0;
  scan.depth = depth;
  if (at - start <= scan.pieceBytes) return;
  const container: LargeValue = {
    start,
    end: at + 1,
    name: [levels.nameStart[depth] ?? 0, levels.nameEnd[depth] ?? 0],
    cuts: levels.cuts[depth] ?? [],
    large: levels.large[depth] ?? [],
  };
  if (depth === 0) scan.root ??= container;
  else (levels.large[depth - 1] ??= []).push(container);
}

/**
 * Bytes of a text that are searched for its end here; then native code searches, at a cost per
 * call.
 */
const shortTextBytes = 48;

/**
 * Returns the index of the quote that ends a text. If the text does not end before the limit,
 * returns the complement of an index in it that is not an escaped character.
 */
function endOfText(body: Buffer, start: number, limit: number): number {
  let at = start;
  while (at < limit) {
    const near = Math.min(body.length, at + shortTextBytes);
    for (; at < near; at += 1) {
      const byte = body[at];
      if (byte === quote) return at;
      if (byte === backslash) at += 1;
    }
    if (at >= body.length) break;
    const end = body.indexOf(quote, at);
    if (end < 0) return ~body.length;
    let escapes = 0;
    while (end - escapes > at && body[end - escapes - 1] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
    at = end + 1;
  }
  return ~Math.min(at, body.length);
}

function tooDeep(): ServiceError {
  return new ServiceError("MALFORMED_BODY", `the body nests deeper than ${bodyDepthMax} levels`);
}
