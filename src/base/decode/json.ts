// Decodes a body to a JSON value: UTF-8 only, counted first, and parsed in pieces if it is large,
// so that other requests wait only milliseconds. A worker thread would not help: cloning the value
// back costs as much as parsing it. Source: docs/limits.md.

import { isUtf8 } from "node:buffer";
import type { Reservation } from "../byte-budget.ts";
import { ServiceError } from "../errors.ts";
import { createPacer, type Pacer, startPacer } from "../pacer.ts";
import { describeJsonFault } from "./json-fault.ts";
import { countJson, type LargeValue, type ScanSizes, scanJson } from "./json-scan.ts";
import { reserveDecoded } from "./tally.ts";

/** Maximum bytes of a text that is parsed at once, in about 5 ms. */
const wholeBytesMax = 1_000_000;

/** Sizes for larger texts: a piece is parsed in 1 to 2 ms, and a step is scanned in less. */
const usualSizes: ScanSizes = { pieceBytes: 262_144, stepBytes: 65_536 };

/**
 * Maximum bytes of a text that is counted and parsed, in less than 1 ms, without waiting for a
 * turn.
 */
const smallBytesMax = 65_536;

/**
 * Returns the value of a JSON text. Fails with MALFORMED_BODY, or with BODY_TOO_LARGE or OVERLOADED
 * if there is no memory for the value. Tests pass smaller sizes.
 */
export async function decodeJson(
  body: Buffer,
  memory: Reservation,
  sizes: { readonly wholeBytes?: number; readonly sizes?: ScanSizes } = {},
): Promise<unknown> {
  try {
    return await decode(body, memory, sizes);
  } catch (error) {
    throw error instanceof TextFault ? await explain(error, createPacer(memory.holder)) : error;
  }
}

async function decode(
  body: Buffer,
  memory: Reservation,
  { wholeBytes = wholeBytesMax, sizes = usualSizes },
): Promise<unknown> {
  if (body.length <= Math.min(smallBytesMax, wholeBytes)) {
    assertUtf8(body);
    reserveDecoded(body.length + countJson(body).memory, memory);
    return parseText(body.toString("utf8"), 0);
  }
  const pacer = await startPacer(memory.holder);
  assertUtf8(body);
  const scanSizes = body.length <= wholeBytes ? { ...sizes, pieceBytes: Infinity } : sizes;
  const { tally, root, faultAt } = await scanJson(body, scanSizes, pacer);
  reserveDecoded(body.length + tally.memory, memory);
  if (body.length > wholeBytes && faultAt !== undefined) throw fault(unexpectedAt(body, faultAt));
  if (!root) return parseText(body.toString("utf8"), 0);
  for (const [start, end] of [
    [0, root.start],
    [root.end, body.length],
  ] as const) {
    if (skipSpace(body.subarray(0, end), start) < end) {
      throw fault(unexpectedAt(body, start));
    }
  }
  return parseLarge(body, root, pacer);
}

function assertUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw new ServiceError("MALFORMED_BODY", "the body must be UTF-8");
}

/** Container that receives the members of a large container. */
type Target = { readonly list: unknown[] } | { readonly object: Record<string, unknown> };

async function parseLarge(body: Buffer, node: LargeValue, pacer: Pacer): Promise<unknown> {
  if (body[node.start] === quote) return readText(body, node, pacer);
  const target: Target = body[node.start] === openBracket ? { list: [] } : { object: {} };
  const last = node.end - 1;
  const children = node.large.values().filter(({ end }) => body[skipSpace(body, end)] !== colon);
  const cuts = node.cuts.values();
  let child = children.next().value;
  let cut = cuts.next().value ?? last;
  let from = node.start + 1;
  while (from <= last) {
    if (pacer.due()) await pacer.rest();
    if (child && child.start < cut) {
      // `null` takes the child's place, so that the text around it is checked as it stands. Unlike
      // a digit, `null` cannot join a number before it.
      addPiece(target, `${body.toString("utf8", from, child.start)}null`, from);
      setLast(body, target, child, await parseLarge(body, child, pacer));
      const behind = skipSpace(body, child.end);
      if (behind === last) break;
      if (body[behind] !== comma) throw fault(unexpectedAt(body, behind));
      from = behind + 1;
      child = children.next().value;
    } else {
      const text = body.toString("utf8", from, cut);
      // A container with white space alone is empty and has no piece.
      if (from > node.start + 1 || cut < last || text.trim() !== "") addPiece(target, text, from);
      from = cut + 1;
    }
    while (cut < from && cut < last) cut = cuts.next().value ?? last;
  }
  return "list" in target ? target.list : target.object;
}

const quote = 0x22;
const openBracket = 0x5b;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const space = 0x20;

/**
 * Returns a large text. Without escapes it is cut out of the body, which avoids two copies of it.
 */
async function readText(body: Buffer, { start, end }: LargeValue, pacer: Pacer): Promise<unknown> {
  for (let from = start + 1; from < end - 1; from += textStepBytes) {
    const isPlain = body.subarray(from, Math.min(from + textStepBytes, end - 1)).every(isPlainByte);
    if (!isPlain) return parseText(body.toString("utf8", start, end), start);
    if (pacer.due()) await pacer.rest();
  }
  return body.toString("utf8", start + 1, end - 1);
}

const textStepBytes = 65_536;

function isPlainByte(byte: number): boolean {
  return byte >= space && byte !== backslash;
}

function skipSpace(body: Buffer, start: number): number {
  let at = start;
  while (at < body.length && isSpace(body[at] as number)) at += 1;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Adds the members in a piece of a container's text; a piece has at least one. */
function addPiece(target: Target, text: string, at: number): void {
  if (text.trim() === "") throw fault(`unexpected character at byte ${at}`);
  const isList = "list" in target;
  const piece = parseText(isList ? `[${text}]` : `{${text}}`, at - 1);
  if (isList) for (const item of piece as unknown[]) target.list.push(item);
  else for (const key of Object.keys(piece as object)) setMember(target.object, key, piece);
}

function setMember(object: Record<string, unknown>, key: string, piece: unknown): void {
  const value = (piece as Record<string, unknown>)[key];
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { ...dataProperty, value });
}

/** Replaces the `null` of a large child by the child's value. */
function setLast(body: Buffer, target: Target, { name }: LargeValue, value: unknown): void {
  if ("list" in target) {
    target.list[target.list.length - 1] = value;
    return;
  }
  const key = JSON.parse(body.toString("utf8", ...name)) as string;
  Object.defineProperty(target.object, key, { ...dataProperty, value });
}

const dataProperty = { enumerable: true, configurable: true, writable: true };

/** Error of JSON.parse for a text that begins at a byte of the body. */
class TextFault extends Error {
  readonly text: string;
  readonly at: number;

  constructor(text: string, at: number, cause: unknown) {
    super("the text is no JSON", { cause });
    this.text = text;
    this.at = at;
  }
}

function parseText(text: string, at: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TextFault(text, at, cause);
  }
}

/**
 * Maximum characters of a text in which an error is located: locating may take 20 times as long as
 * parsing.
 */
const describedCharsMax = 1_000_000;

async function explain({ text, at, cause }: TextFault, pacer: Pacer): Promise<ServiceError> {
  const isShort = text.length <= describedCharsMax;
  const what = isShort ? await describeJsonFault(text, pacer) : "a value cannot be read";
  return fault(`${what}${at <= 0 ? "" : ` behind byte ${at}`}`, cause);
}

function unexpectedAt(body: Buffer, at: number): string {
  return `unexpected ${at >= body.length ? "end" : "character"} at byte ${at}`;
}

function fault(what: string, cause?: unknown): ServiceError {
  return new ServiceError("MALFORMED_BODY", `the body must be JSON: ${what}`, { cause });
}
