// Human-readable descriptions of runs and filters for answers to why.

import { formatVersion } from "../../base/versions.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import type { RunRecord } from "../scores/scores.ts";

const valueCharactersMax = 200;

/** Returns a human-readable filter: `metadata.env is prod`. */
export function describeFilter({ field, operator, value }: FilterInput): string {
  if (value === undefined || operator === "exists" || operator === "not exists") {
    return `${field} ${operator}`;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const isLong = text.length > valueCharactersMax;
  return `${field} ${operator} ${isLong ? `${cutText(text)}…` : text}`;
}

/** The cut may leave a lone surrogate, which is not valid text. */
function cutText(text: string): string {
  return text.slice(0, valueCharactersMax).toWellFormed();
}

/** Describes the result of a run, or its state. */
export function describeRun({ version, state, failure, endedAt, queuedAt }: RunRecord): string {
  const name = formatVersion(version);
  switch (state) {
    case "scored":
      return `Scored by ${name}${endedAt ? ` at ${endedAt.toISOString()}` : ""}.`;
    case "failed":
      return (
        `${name} failed on the event: ${failure ?? "for no reason that is known"}. ` +
        "A backfill with include_failed runs it again."
      );
    case "queued":
      return `Waits for ${name} since ${queuedAt.toISOString()}.`;
    case "running":
      return `${name} runs on it now.`;
  }
}
