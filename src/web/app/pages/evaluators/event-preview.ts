// The answer of an event in a line.

import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";

const charsMax = 160;

/** Returns the content of an answer, else its output as JSON, cut to a line. */
export function previewOf({ outputs, error }: Event): string {
  if (error) return `error: ${error.slice(0, charsMax)}`;
  const content = outputs?.["content"];
  if (typeof content === "string") return content.slice(0, charsMax);
  return JSON.stringify(outputs ?? {}).slice(0, charsMax);
}
