// The bytes of a message to a sandbox process. Source: docs/sandbox.md.

import { randomBytes } from "node:crypto";

export type Message = {
  /** Beginning of the answer's line; the code cannot know it in advance. */
  readonly id: string;
  /** Parts in order; not joined, because an event may have megabytes. */
  readonly parts: readonly Uint8Array[];
};

/** Puts lengths before the texts, so that neither text is encoded again as a JSON string. */
export function composeMessage(operation: "run" | "inspect", code: string, event: string): Message {
  const id = randomBytes(16).toString("hex");
  // Python's text and UTF-8 do not allow lone surrogates.
  const codePart = Buffer.from(code.toWellFormed());
  const eventPart = Buffer.from(event);
  const head = {
    id,
    operation,
    codeBytes: codePart.length,
    eventBytes: eventPart.length,
  };
  const headPart = Buffer.from(`${JSON.stringify(head)}\n`);
  return { id, parts: [headPart, codePart, eventPart] };
}
