// Counts in requests, checked against their limits.

import { refuse } from "./errors.ts";

/** Throws INVALID_ARGUMENT naming the field, unless the number is whole and from 1 to `max`. */
export function assertCount(field: string, count: number, max: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= max) return;
  refuse(field, `must be from 1 to ${max}`);
}
