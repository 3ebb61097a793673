// Reads a `(unix_ms)` field of a JSON request. Source: docs/decisions.md, 2.

import { parseTimeMs } from "../../base/iso-time.ts";
import { FieldFault } from "./field-fault.ts";

/**
 * Returns Unix milliseconds, like `parseTime`, or another finite number: the service says which
 * times the field takes, in the same words over every protocol.
 */
export function parseUnixMs(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : parseTime(value);
}

/** Returns Unix milliseconds. Throws FieldFault if the value is not a time. */
export function parseTime(value: unknown): number {
  const timeMs = parseTimeMs(value);
  if (timeMs !== undefined) return timeMs;
  throw new FieldFault("must be a number (Unix milliseconds) or ISO 8601 text");
}
