// Thread that reads a file into rows, so that a file that expands to more memory than it may ends
// the thread and nothing else. Posts rows in batches; the next batch follows an answer.

import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { Readable } from "node:stream";
import { parentPort, workerData } from "node:worker_threads";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { CsvError, parse } from "csv-parse";
import {
  type Compressors,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  snappyUncompress,
} from "hyparquet";
import { isJsonObject, type JsonValue, tryParseJson } from "../../../base/json.ts";
import { hasMoreContainers } from "../../../base/json-containers.ts";
import { containersMax } from "../../../base/limits.ts";
import { datapointBytesMax, datapointsOfDatasetMax } from "../../../base/tenant-limits.ts";
import {
  assertColumns,
  type FileFormat,
  type FileMessage,
  fromTextCell,
  rowsOfBatch,
  RowFault,
} from "./file-format.ts";
import { exactParsers, takeDecimals, toDecimal } from "./parquet-values.ts";

const { bytes, format, isExport, bytesMax } = workerData as {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly format: FileFormat;
  /** Whether the file has the columns of an export. */
  readonly isExport: boolean;
  /** Maximum bytes of a file after decompression, and maximum characters of its rows as JSON. */
  readonly bytesMax: number;
};

/** Whether a file without rows is the export of an empty dataset. */
let isWholeWithoutRows = false;

const linePieceBytes = 65_536;

/** Throws if a text has bytes that would be read as U+FFFD. */
function assertUtf8(): void {
  if (!isUtf8(bytes)) throw new RowFault("must be UTF-8");
}

async function* readLines(): AsyncGenerator<unknown, void> {
  assertUtf8();
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let line = 0;
  let rows = 0;
  for (let from = 0; from < file.length;) {
    const end = file.indexOf(10, from);
    const text = file.toString("utf8", from, end === -1 ? file.length : end).trim();
    from = end === -1 ? file.length : end + 1;
    line += 1;
    if (text === "") continue;
    const row = tryParseJson(line === 1 ? text.replace(/^\uFEFF/, "") : text);
    if (row === undefined) throw new RowFault(`line ${line} is not JSON`);
    if (isExport && isEndOfExport(row)) {
      assertCount(row, rows);
      isWholeWithoutRows = true;
      continue;
    }
    rows += 1;
    yield row;
  }
}

type EndOfExport = { readonly count: number };

/** Returns whether a line is the end mark of an exported file. */
function isEndOfExport(row: JsonValue): row is JsonValue & EndOfExport {
  if (!isJsonObject(row) || row["done"] !== true || typeof row["count"] !== "number") return false;
  return Object.keys(row).every((key) => ["done", "count", "version"].includes(key));
}

/** Throws if an exported file has lost rows, or has more. */
function assertCount({ count }: EndOfExport, rows: number): void {
  if (count === rows) return;
  const hint = "send the whole file, or leave that line out";
  throw new RowFault(`the file has ${rows} rows before the line that counts ${count}; ${hint}`);
}

async function* readCsv(): AsyncGenerator<unknown, void> {
  // The parser reads UTF-16 of this byte order, which spreadsheets write.
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  if (!isUtf16) assertUtf8();
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += linePieceBytes) {
      yield bytes.subarray(at, at + linePieceBytes);
    }
  };
  const columns = (names: string[]): string[] => {
    noteColumns(names);
    return names;
  };
  const cast = (cell: string, { column }: { readonly column: string | number }): string =>
    isExport && column === "linked_event" ? fromTextCell(cell) : cell;
  const options = { columns, bom: true, cast, skip_empty_lines: true };
  const parser = Readable.from(pieces()).pipe(parse(options));
  try {
    yield* parser as AsyncIterable<unknown>;
  } catch (error) {
    if (error instanceof CsvError) throw new RowFault(error.message);
    throw error;
  }
}

function noteColumns(names: readonly string[]): void {
  assertColumns(names, isExport);
  isWholeWithoutRows = isExport;
}

async function* readParquet(): AsyncGenerator<unknown, void> {
  boundArrays();
  refuseNoOffset();
  const { buffer, byteOffset, byteLength } = bytes;
  const file = buffer.slice(byteOffset, byteOffset + byteLength);
  let from = 0;
  try {
    const metadata = await parquetMetadataAsync(file);
    const columns = parquetSchema(metadata).children;
    noteColumns(columns.map(({ element }) => element.name));
    const decimals = [...takeDecimals(columns)];
    const total = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
    assertRows(total);
    // The reader leaves rows out, or adds empty ones, where a damaged file has another number.
    if (total !== Number(metadata.num_rows)) {
      throw new RowFault(`the file says ${metadata.num_rows} rows, and its row groups ${total}`);
    }
    const compressors = guardedCompressors();
    for (const { num_rows: rows } of metadata.row_groups) {
      const to = from + Number(rows);
      const range = { rowStart: from, rowEnd: to };
      const options = { file, metadata, compressors, parsers: exactParsers };
      for (const row of await parquetReadObjects({ ...options, ...range })) {
        for (const [name, scale] of decimals) row[name] = toDecimal(row[name], scale);
        yield row;
      }
      from = to;
    }
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof RowFault || memoryFault.test(message)) throw error;
    throw new RowFault(`the file is not Parquet that can be read: ${message}`);
  }
}

/** Matches errors of an allocation; other range errors are of offsets and lengths in the file. */
const memoryFault = /allocation failed|string length/;

/**
 * Bounds the bytes of all arrays of numbers that this thread creates. By runs, deltas and shared
 * prefixes a file may claim any number of values in a few bytes. The reader holds such values in
 * arrays outside of the heap, whose limit ends the thread.
 */
function boundArrays(): void {
  let left = bytesMax;
  for (const array of [Uint8Array, Int32Array, BigInt64Array]) {
    const bounded = new Proxy(array, {
      construct(target, given: readonly unknown[], made) {
        if (typeof given[0] === "number") left -= given[0] * array.BYTES_PER_ELEMENT;
        if (left < 0) throw new RowFault(`the file has more than ${bytesMax} bytes unpacked`);
        return Reflect.construct(target, given, made) as object;
      },
    });
    Object.assign(globalThis, { [array.name]: bounded });
  }
}

/**
 * Makes DataView refuse the offset NaN in this thread. The reader's offset is NaN after the header
 * of a page without a length, and DataView reads NaN as 0: the reader would never end.
 */
function refuseNoOffset(): void {
  function getUint8At(this: DataView, at: number): number {
    if (Number.isNaN(at)) throw new RowFault("the file is not Parquet: a page lacks its length");
    return this.getInt8(at) & 0xff;
  }
  DataView.prototype.getUint8 = getUint8At;
}

/** Decompressors that together return no more than a file may have. */
function guardedCompressors(): Compressors {
  let left = bytesMax;
  const guarded =
    (decompress: (input: Uint8Array, bytesOut: number) => Uint8Array) =>
    (input: Uint8Array, bytesOut: number): Uint8Array => {
      left -= bytesOut;
      if (left < 0) throw new RowFault(`the file has more than ${bytesMax} bytes unpacked`);
      return decompress(input, bytesOut);
    };
  return {
    SNAPPY: guarded((input, bytesOut) => {
      const output = new Uint8Array(bytesOut);
      snappyUncompress(input, output);
      return output;
    }),
    GZIP: guarded((input, maxOutputLength) => gunzipSync(input, { maxOutputLength })),
    BROTLI: guarded((input, maxOutputLength) => brotliDecompressSync(input, { maxOutputLength })),
    ZSTD: guarded((input, maxOutputLength) => zstdDecompressSync(input, { maxOutputLength })),
  };
}

function assertRows(rows: number): void {
  if (rows <= datapointsOfDatasetMax) return;
  throw new RowFault(`the file has more than ${datapointsOfDatasetMax} rows`);
}

/** Returns a value of a Parquet file as JSON has it. */
function toJson(value: unknown): unknown {
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  }
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array, toJson);
  if (Array.isArray(value)) return value.map(toJson);
  // The reader has undefined for the null of a list or a record, which JSON would leave out.
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toJson(one)]));
}

/** Returns a row as JSON. Throws if a number such as 1e400 would become null. */
function toText(row: unknown, path: string): string {
  const text = JSON.stringify(row);
  const at = text.includes("null") ? findNotFinite(row) : undefined;
  if (at) throw new RowFault(`${path}: ${at.join(".")}: must be a finite number`);
  return text;
}

/** Returns the keys that lead to a number that is not finite; undefined without one. */
function findNotFinite(value: unknown): readonly string[] | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) return [];
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = findNotFinite(inner);
    if (found) return [key, ...found];
  }
  return undefined;
}

const readers = { jsonl: readLines, csv: readCsv, parquet: readParquet } as const;

async function read(port: NonNullable<typeof parentPort>): Promise<void> {
  const post = async (message: FileMessage): Promise<void> => {
    port.postMessage(message);
    await once(port, "message");
  };
  let rows: string[] = [];
  let characters = 0;
  let seen = 0;
  let left = bytesMax;
  try {
    for await (const row of readers[format]()) {
      seen += 1;
      assertRows(seen);
      if (typeof row !== "object" || row === null || Array.isArray(row)) {
        throw new RowFault(`row ${seen} is not an object`);
      }
      const text = toText(format === "parquet" ? toJson(row) : row, `row ${seen}`);
      if (text.length > datapointBytesMax || hasMoreContainers(Buffer.from(text), containersMax)) {
        throw new RowFault(`row ${seen} has too many bytes, or too many lists and objects`);
      }
      left -= text.length;
      if (left < 0) throw new RowFault(`the rows have more than ${bytesMax} characters as JSON`);
      characters += text.length;
      rows.push(text);
      if (rows.length < rowsOfBatch && characters < linePieceBytes) continue;
      await post({ rows });
      rows = [];
      characters = 0;
    }
    if (rows.length > 0) await post({ rows });
    if (seen === 0 && !isWholeWithoutRows) throw new RowFault("has no rows");
    port.postMessage({ isEnd: true } satisfies FileMessage);
  } catch (error) {
    if (!(error instanceof RowFault)) throw error;
    port.postMessage({ fault: error.message } satisfies FileMessage);
  }
}

if (parentPort) await read(parentPort);
parentPort?.close();
