// Ranges of start times as requests give them: bounds, or a length up to now.

import { refuse } from "../../base/errors.ts";
import type { Bounds } from "./instant.ts";

const relativePattern = /^([1-9]\d{0,4})([hdwM])$/;
const unitMs = { h: 3_600_000, d: 86_400_000, w: 604_800_000, M: 2_592_000_000 } as const;

/** Returns the milliseconds of a length such as `7d`. Throws INVALID_ARGUMENT naming the field. */
export function parseLength(field: string, text: string): number {
  const [, count, unit] =
    relativePattern.exec(text) ?? refuse(field, "must be a number and h, d, w or M, such as 7d");
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** Range as a request names it; times in Unix milliseconds. */
export type GivenDateRange = {
  readonly relative?: string | undefined;
  readonly gte?: number | undefined;
  readonly lte?: number | undefined;
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
};

/**
 * Returns the bounds of a date range, whose fields have two names each. Throws INVALID_ARGUMENT
 * unless it is a length up to now or has bounds.
 */
export function toBounds(dateRange: GivenDateRange | undefined): Bounds {
  const { relative, gte, lte, startTime, endTime } = dateRange ?? {};
  if (relative === undefined) return { fromMs: [gte, startTime], toMs: [lte, endTime] };
  const lengthMs = parseLength("dateRange.relative", relative);
  if ([gte, lte, startTime, endTime].some((bound) => bound !== undefined)) {
    refuse("dateRange", "must be relative or bounds");
  }
  const nowMs = Date.now();
  return { fromMs: [nowMs - lengthMs], toMs: [nowMs] };
}
