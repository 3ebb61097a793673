// The answer of an event in a line.

import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { summarizeEvent } from "../traces/event-summary.ts";

const charsMax = 160;

/** Returns the error of an event, else its answer, cut to a line. */
export function previewOf(event: Event): string {
  const { error } = event;
  return (error ? `error: ${error}` : (summarizeEvent(event).answer ?? "")).slice(0, charsMax);
}
