// Encodes streams as server-sent events: one JSON value per event, and `[DONE]` at the end. A
// failed stream ends with an error event.
// Source: docs/decisions.md, 20.1; HTML Standard, 9.2 (Server-sent events).

import type { DescMessage } from "@bufbuild/protobuf";
import { messageLines, type StreamEncoder } from "./stream.ts";

/** Returns the encoder of streams of a message type. */
export function eventStreamEncoder(output: DescMessage): StreamEncoder {
  const lines = messageLines(output, {
    isTextTimes: false,
    isNullFree: false,
    projections: undefined,
  });
  return {
    mediaType: "text/event-stream; charset=utf-8",
    output,
    isOnly: true,
    async *encode(messages) {
      for await (const line of lines(messages)) yield toEvent(line);
      yield toEvent("[DONE]");
    },
    encodeError: ({ reason }) => toEvent(JSON.stringify({ type: "error", errorCode: reason })),
  };
}

function toEvent(data: string): Buffer {
  return Buffer.from(`data: ${data}\n\n`);
}
