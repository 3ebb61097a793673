// Streams as server-sent events: one JSON value an event, `[DONE]` at the end, an event that says
// so where the stream failed. Given to stream.ts by app.ts for the rpcs that answer so.
// Source: docs/decisions.md, 20; HTML Standard, 9.2 (Server-sent events).

import type { DescMessage } from "@bufbuild/protobuf";
import { messageLines } from "./stream.ts";
import type { StreamEncoder } from "./stream.ts";

/** Returns the encoder of the streams of a message. */
export function eventStreamEncoder(output: DescMessage): StreamEncoder {
  const lines = messageLines(output, { isTextTimes: false, projections: undefined });
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
