// Components for reading: JSON, conversations, text, with hostile content among it.

import { toChatMessages } from "../../design/chat-message.ts";
import { JsonView } from "../../design/json-view.tsx";
import { MessageView } from "../../design/message-view.tsx";
import { TextView } from "../../design/text-view.tsx";
import { Shown } from "./controls.tsx";

const pixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8" +
  "z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const conversation = [
  { role: "system", content: "You help customers of a shop." },
  {
    role: "user",
    content: [
      { type: "text", text: "Where is my order? <script>alert(1)</script> [here](javascript:1)" },
      { type: "image_url", image_url: { url: pixel } },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "c1", type: "function", function: { name: "find_order", arguments: '{"id":4711}' } },
    ],
  },
  { role: "tool", tool_call_id: "c1", content: '{"state":"shipped","days":1}' },
  { role: "assistant", content: "It left our warehouse this morning. مرحبا 🐝" },
];

const deep = Array.from({ length: 200 }).reduce<unknown>((inside) => ({ inside }), "the end");

const json = { name: "triage", ok: true, none: null, count: 3, long: "word ".repeat(400), deep };

export function Reading() {
  return (
    <div className="shown">
      <Shown title="MessageView">
        <MessageView messages={toChatMessages(conversation) ?? []} />
      </Shown>
      <Shown title="JsonView">
        <JsonView label="Example" value={json} openDepth={1} />
      </Shown>
      <Shown title="TextView">
        <TextView text={"A line of a log. ".repeat(60)} previewChars={300} />
      </Shown>
    </div>
  );
}
