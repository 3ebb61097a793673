// Files that commands read, or standard input, named `-`; compressed by gzip or not.

import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { OperatorError } from "../base/operator-error.ts";

/** The operand that names standard input. */
export const standardInput = "-";

/**
 * Opens a file and returns its bytes, decompressed if they begin as gzip does. Opening and reading
 * throw OperatorError if the file cannot be read.
 */
export async function openInput(path: string): Promise<AsyncGenerator<Buffer>> {
  const source = path === standardInput ? process.stdin : createReadStream(path);
  const chunks = source[Symbol.asyncIterator]() as AsyncGenerator<Buffer>;
  const head = await readHead(chunks).catch((cause: unknown) => fail(path, cause));
  async function* whole(): AsyncGenerator<Buffer> {
    yield head;
    yield* chunks;
  }
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  return orFail(path, isGzip ? pipeline(whole, createGunzip(), () => undefined) : whole());
}

/** Reads chunks until they have the two bytes that say what the file is, or to the end. */
async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done === true) return head;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

async function* orFail(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (cause) {
    fail(path, cause);
  }
}

function fail(path: string, cause: unknown): never {
  throw new OperatorError(`cannot read ${path}: ${(cause as Error).message}`, { cause });
}
