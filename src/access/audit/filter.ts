// The filters of a request for the audit log.

import { refuse } from "../../base/errors.ts";
import { toStorableText } from "../../base/storable-text.ts";
import type { AuditFilter } from "./store.ts";

/** The earliest and the latest time of a Timestamp. */
const timeMinMs = Date.parse("0001-01-01T00:00:00Z");
const timeMaxMs = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Returns the filter as rows are compared with it: text as it is stored, times that Postgres knows;
 * undefined if it has no condition. Throws INVALID_ARGUMENT if a time is not a number.
 */
export function parseFilter(asked: AuditFilter): AuditFilter | undefined {
  const filter = {
    actor: toText(asked.actor),
    action: toText(asked.action),
    resource: toText(asked.resource),
    fromMs: toTime("start_time", asked.fromMs),
    toMs: toTime("end_time", asked.toMs),
  };
  return Object.values(filter).some((condition) => condition !== undefined) ? filter : undefined;
}

function toText(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : toStorableText(text);
}

function toTime(name: string, timeMs: number | undefined): number | undefined {
  if (timeMs === undefined) return undefined;
  if (Number.isNaN(timeMs)) refuse(name, "must be Unix milliseconds");
  // Rows have microseconds; Postgres cannot divide the smallest of finer fractions.
  return Math.round(Math.max(timeMinMs, Math.min(timeMaxMs, timeMs)) * 1_000) / 1_000;
}
