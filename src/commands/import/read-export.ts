// Reads the records of an export file. JSON Lines are read as a stream; a JSON document must be a
// list of records.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { tryParseJson } from "../../base/json.ts";
import { OperatorError } from "../../base/operator-error.ts";
import { openInput } from "../input.ts";

/** Maximum bytes of a line, and of a file that is one document: they are held in memory. */
const lineBytesMax = 50_000_000;

/** A record with its place in the file, or the reason why there is none. */
export type ReadRecord = {
  /** Line, from 1; in a document of many lines, the number of the record. */
  readonly line: number;
  readonly text: string;
  readonly record: JsonObject | undefined;
  readonly reason?: string;
};

/** Reads a file's records; throws OperatorError if the file cannot be read. */
export async function* readExport(path: string): AsyncGenerator<ReadRecord> {
  const lines = readLines(await openInput(path));
  let isFirst = true;
  for await (const line of lines) {
    if (isFirst && isDocumentStart(line.text)) {
      yield* await readDocument(path, line.text, lines);
      return;
    }
    isFirst = false;
    if (line.reason !== undefined) yield { ...line, record: undefined };
    else yield* toRecords(line.text, line.line);
  }
  // A list without records is an export; nothing at all is one that failed.
  if (isFirst) throw new OperatorError(`cannot read ${path}: it is empty`);
}

/**
 * Returns whether a first line is the beginning of a document of many lines: a list that does not
 * end on it, such as DuckDB's, whose first record stands behind the bracket, or an object without
 * a value.
 */
function isDocumentStart(text: string): boolean {
  if (/^\s*\[/.test(text)) return !text.trimEnd().endsWith("]");
  return /^\s*\{[\s[{]*("\w+":\s*[[{]*)?\s*$/.test(text);
}

// Pages of APIs hold their records in `data` or `runs`.
function* toRecords(text: string, line: number): Generator<ReadRecord> {
  const value = tryParseJson(text);
  if (value === undefined) {
    yield { line, text: "", record: undefined, reason: "is not JSON" };
    return;
  }
  const list = listIn(value);
  if (list === undefined) yield toRecord(value, line, text);
  else for (const item of list) yield toRecord(item, line, JSON.stringify(item));
}

function toRecord(value: JsonValue, line: number, text: string): ReadRecord {
  if (isJsonObject(value)) return { line, text, record: value };
  return { line, text: "", record: undefined, reason: "is not a JSON object" };
}

function listIn(value: JsonValue): readonly JsonValue[] | undefined {
  if (isJsonArray(value)) return value;
  const inner = isJsonObject(value) ? (value["data"] ?? value["runs"]) : undefined;
  return isJsonArray(inner) ? inner : undefined;
}

/** Reads the document that begins with a first line; the other lines are the rest of the file. */
async function readDocument(
  path: string,
  first: string,
  others: AsyncIterable<Line>,
): Promise<readonly ReadRecord[]> {
  const texts = [first];
  let bytes = Buffer.byteLength(first);
  for await (const { text, reason } of others) {
    texts.push(text);
    bytes += Buffer.byteLength(text) + 1;
    if (reason !== undefined || bytes > lineBytesMax) {
      throw new OperatorError(
        `${path} is one JSON document of more than ${lineBytesMax} bytes; make JSON Lines of it, ` +
          "for example with jq -c '.[]'",
      );
    }
  }
  const value = tryParseJson(texts.join("\n"));
  if (value === undefined) {
    return [{ line: 1, text: "", record: undefined, reason: "the document is not JSON" }];
  }
  const records = listIn(value) ?? [value];
  return records.map((record, index) => toRecord(record, index + 1, JSON.stringify(record)));
}

type Line = { readonly line: number; readonly text: string; readonly reason?: string };

/** Leaves out a byte order mark, which no JSON begins with. */
const utf8 = new TextDecoder();

/** Splits a stream into its lines that are not blank; a line too long is passed over. */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let line = 0;
  const end = (): Line | undefined => {
    line += 1;
    const isTooLong = bytes > lineBytesMax;
    const text = isTooLong ? "" : utf8.decode(Buffer.concat(parts));
    parts = [];
    bytes = 0;
    if (isTooLong) return { line, text, reason: `is longer than ${lineBytesMax} bytes` };
    return text.trim() === "" ? undefined : { line, text };
  };
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= lineBytesMax) parts.push(part);
    else parts = [];
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, at));
      const ended = end();
      if (ended !== undefined) yield ended;
      from = at + 1;
    }
    add(chunk.subarray(from));
  }
  const last = end();
  if (last !== undefined) yield last;
}
