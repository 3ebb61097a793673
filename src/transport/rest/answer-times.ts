// The format of times in REST answers: integer milliseconds, or text on the paths for which the API
// document shows text, except for generated clients that require integers.
// Source: docs/decisions.md, 3; docs/spec.md, POST /events/export.

/** Returns whole Unix milliseconds, rounded down so that a time never moves later. */
export function formatTimeNumber(timeMs: number): number {
  return Math.floor(timeMs);
}

/** Returns `YYYY-MM-DD HH:MM:SS` in UTC. */
export function formatTimeText(timeMs: number): string {
  return new Date(Math.floor(timeMs))
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "");
}
