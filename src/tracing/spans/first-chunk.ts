// Time from the start of a model's call to the first part of its answer, under the name that it has
// in the service's own generations. Senders give it in seconds, in milliseconds or as an instant.

import { place, type Draft } from "./draft.ts";
import { parseScalarText, toNumber } from "./values.ts";

type Unit = "seconds" | "milliseconds" | "instant";

/** Attributes with that time; the first that says one wins. */
const firstChunkUnits: Readonly<Record<string, Unit>> = {
  "gen_ai.response.time_to_first_chunk": "seconds",
  // The AI SDK 7's.
  "gen_ai.client.operation.time_to_first_chunk": "seconds",
  // OpenLIT's and Strands'.
  "gen_ai.server.time_to_first_token": "seconds",
  "ai.response.msToFirstChunk": "milliseconds",
  "langfuse.observation.completion_start_time": "instant",
  "mastra.completion_start_time": "instant",
};

/**
 * Places the time to the first part of a model's answer, to the microsecond. An attribute in
 * seconds or milliseconds is moved; an instant is copied. Spans of agents are left out, because
 * their time covers more than one call.
 */
export function placeFirstChunk(draft: Draft): void {
  if (draft.eventType !== "model") return;
  for (const [key, unit] of Object.entries(firstChunkUnits)) {
    const ms = toMs(draft, key, unit);
    if (ms === undefined || !(ms >= 0)) continue;
    const isPlaced = place(draft, "metadata", "time_to_first_byte_ms", Math.round(ms * 1e3) / 1e3);
    if (isPlaced && unit !== "instant") draft.left.delete(key);
  }
}

function toMs({ attributes, span }: Draft, key: string, unit: Unit): number | undefined {
  const value = parseScalarText(attributes.get(key) ?? null);
  if (unit === "instant") {
    return typeof value === "string" ? Date.parse(value) - span.startMs : undefined;
  }
  const time = toNumber(value);
  // Strands gives milliseconds under this key, other senders seconds.
  const isOfStrands =
    key === "gen_ai.server.time_to_first_token" && span.scope.name === "strands.telemetry.tracer";
  return time === undefined || unit === "milliseconds" || isOfStrands ? time : time * 1e3;
}
