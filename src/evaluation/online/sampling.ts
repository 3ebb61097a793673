// Sampling: selects the share of events that an evaluator runs on.
// Source: docs/decisions.md, 22.2.

import { hash } from "node:crypto";

/**
 * Returns an event's number, from 0 up to 100, exclusive: percentages above it include the event.
 * It is the same at any time and for every evaluator, so evaluators of one percentage score the
 * same events, and a raised percentage adds events to the earlier ones.
 */
export function samplingNumber(eventId: string): number {
  const digest = hash("sha256", eventId);
  // 48 bits, which a number represents exactly.
  return (parseInt(digest.slice(0, 12), 16) / 2 ** 48) * 100;
}

/** Returns whether an evaluator with a sampling percentage runs on an event. */
export function isSampled(eventId: string, samplingPercentage: number): boolean {
  return samplingPercentage >= 100 || samplingNumber(eventId) < samplingPercentage;
}
