// Reads a time from a JSON request to Unix milliseconds. Called by json-reader.ts for `(unix_ms)`
// fields. Source: docs/decisions.md, 2.

import { parseTimeMs } from "../../base/iso-time.ts";
import { FieldFault } from "./field-fault.ts";

/** Returns Unix milliseconds. Throws FieldFault on anything that is no time. */
export function parseTime(value: unknown): number {
  const timeMs = parseTimeMs(value);
  if (timeMs !== undefined) return timeMs;
  throw new FieldFault("must be a number (Unix milliseconds) or ISO 8601 text");
}
