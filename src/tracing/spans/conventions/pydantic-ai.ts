// Pydantic AI: the conversation and the result of an agent's run, and earlier tool spans. Its model
// spans send the GenAI conventions. Source: Pydantic AI 1 and 2, instrumentation formats 2 to 5.

import { isJsonArray, isJsonObject } from "../../../base/json.ts";
import { movePayload, type Draft } from "../draft.ts";
import { readMessages } from "../messages.ts";
import { parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const pydanticAi: Convention = {
  usage: {
    "operation.cost": "metadata.cost",
    "gen_ai.usage.details.cache_read_tokens": "metadata.cache_read_input_tokens",
    "gen_ai.usage.details.cache_write_tokens": "metadata.cache_write_input_tokens",
    "gen_ai.usage.details.reasoning_tokens": "metadata.reasoning_tokens",
    // Gemini's.
    "gen_ai.usage.details.thoughts_tokens": "metadata.reasoning_tokens",
  },
  prepare: splitConversation,
  read(draft) {
    // Other senders may use these plain names for something else.
    if (draft.span.scope.name !== "pydantic-ai") return;
    const isReply = draft.left.get("final_result") === draft.buckets.outputs["content"];
    if (isReply) draft.left.delete("final_result");
    movePayload(draft, "final_result", "outputs", "result");
    movePayload(draft, "tool_arguments", "inputs", "input");
    movePayload(draft, "tool_response", "outputs", "result");
  },
};

const conversationKey = "pydantic_ai.all_messages";

// The conversation becomes GenAI input messages; a closing message of the model the output.
function splitConversation(draft: Draft): void {
  const raw = draft.attributes.get(conversationKey);
  if (raw === undefined) return;
  const messages = parseJsonText(raw);
  if (!isJsonArray(messages) || readMessages(messages, "user") === undefined) return;
  const last = messages.at(-1);
  const isReply = isJsonObject(last) && last["role"] === "assistant";
  const history = isReply ? messages.slice(0, -1) : messages;
  const added = new Map(history.length > 0 ? [["gen_ai.input.messages", history]] : []);
  if (isReply) added.set("gen_ai.output.messages", [last]);
  if ([...added.keys()].some((key) => draft.attributes.has(key))) return;
  const attributes = new Map([...draft.attributes, ...added]);
  attributes.delete(conversationKey);
  draft.attributes = attributes;
}
