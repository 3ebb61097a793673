// Sampling: which events an evaluator runs on when it does not run on all. Called by the router,
// and by explanations. Source: docs/decisions.md, 22.

import { hash } from "node:crypto";

/**
 * Returns an event's number, from 0 up to 100: it is sampled where a percentage is greater. The
 * same at any time and for every evaluator, so that evaluators of one percentage score the same
 * events and a raised one scores those before and more.
 */
export function samplingNumber(eventId: string): number {
  const digest = hash("sha256", eventId);
  // 48 bits, which a number holds exactly.
  return (parseInt(digest.slice(0, 12), 16) / 2 ** 48) * 100;
}

/** Tells whether an evaluator of a sampling percentage runs on an event. */
export function isSampled(eventId: string, samplingPercentage: number): boolean {
  return samplingPercentage >= 100 || samplingNumber(eventId) < samplingPercentage;
}
