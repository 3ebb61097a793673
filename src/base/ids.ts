// Ids of records, for records without an id from the client. Source: RFC 9562 (UUIDv7);
// docs/decisions.md, 4 and 5.

import { hash, randomFillSync } from "node:crypto";
import { isLonger, isPrintable } from "./characters.ts";

export type ProjectId = string & { readonly brand: "ProjectId" };

/** Time of the newest UUID of this process, and its number in that millisecond. */
let newestMs = 0;
let newestNumber = 0;
const numberMax = 0xfff;
/** A clock that was set back by more than this is followed. */
const clockStepMs = 1_000;

/**
 * Returns a new UUIDv7: time-ordered, so that inserts touch neighbouring index pages. Those of one
 * process are in the order of their creation within a millisecond too, so that lists have rows of
 * one time in the order in which they came. Source: RFC 9562, 6.2, Method 1.
 */
export function createUuid(): string {
  const nowMs = Date.now();
  const isLater = nowMs > newestMs || nowMs < newestMs - clockStepMs;
  if (isLater) newestMs = nowMs;
  else if (newestNumber === numberMax) newestMs += 1;
  newestNumber = isLater || newestNumber === numberMax ? 0 : newestNumber + 1;
  const bytes = takeRandom(16);
  bytes.writeUIntBE(newestMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | newestNumber, 6);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return formatUuid(bytes.toString("hex"));
}

const pool = Buffer.alloc(4_096);
let poolAt = pool.length;

/**
 * Returns random bytes from a buffer that is filled for many ids at once. No byte is used twice.
 */
function takeRandom(count: number): Buffer {
  if (poolAt + count > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const taken = Buffer.from(pool.subarray(poolAt, poolAt + count));
  poolAt += count;
  return taken;
}

/**
 * Returns the UUID, in the form of version 5, that always belongs to a text, for ids that a retry
 * must find again.
 */
export function deriveUuid(text: string): string {
  const digest = hash("sha1", text);
  const variant = "89ab".charAt(parseInt(digest.charAt(16), 16) & 3);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    variant + digest.slice(17, 20),
    digest.slice(20, 32),
  ].join("-");
}

/** Returns 32 hexadecimal digits in UUID form. */
export function formatUuid(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns true if a text has UUID form, of any version. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

const idLengthMax = 128;

/** Returns true if a text is a valid event or session id: 1 to 128 printable characters. */
export function isRecordId(text: string): boolean {
  return text !== "" && !isLonger(text, idLengthMax) && isPrintable(text);
}
