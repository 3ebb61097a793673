// Faults of a form beside the field that they are about: the service names the field at the start
// of its message. A trial of a metric names it within the metric.

import type { ApiError } from "./errors.ts";

/** Returns what the service says about a field or a part of it; undefined if that is not it. */
export function faultOf(error: ApiError | null, field: string): string | undefined {
  if (!error) return undefined;
  const at = error.message.indexOf(": ");
  if (at < 0) return undefined;
  const named = error.message.slice(0, at).replace(/^metric\./, "");
  const isIt = named === field || named.startsWith(`${field}.`) || named.startsWith(`${field}[`);
  return isIt ? error.message.slice(at + 2) : undefined;
}
