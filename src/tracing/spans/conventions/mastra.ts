// Mastra: its exporter writes the input and the output of a span under keys with the span's type.
// Spans of model and tool calls have attributes of the GenAI conventions too.
// Source: npm @mastra/otel-exporter 1.4.

import { isJsonArray, isJsonObject, type JsonValue } from "../../../base/json.ts";
import { movePayload, type Draft } from "../draft.ts";
import { readMessages } from "../messages.ts";
import { parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const mastra: Convention = {
  fields: {
    "mastra.metadata.userId": "metadata.user_id",
    "mastra.metadata.sessionId": "metadata.session_id",
  },
  prepare: adoptMessages,
  read(draft) {
    const type = typeOf(draft);
    if (type === undefined) return;
    movePayload(draft, `mastra.${type}.input`, "inputs", "input");
    movePayload(draft, `mastra.${type}.output`, "outputs", "result");
  },
};

/** Types of spans whose input and output are a chat. */
const chats: ReadonlySet<string> = new Set(["agent_run", "model_generation", "model_step"]);

function typeOf(draft: Draft): string | undefined {
  const type = draft.attributes.get("mastra.span.type");
  return typeof type === "string" ? type.toLowerCase() : undefined;
}

// Mastra writes an agent's system prompt as an attribute of the GenAI conventions. The messages are
// renamed to attributes of these conventions, so that one chat is read from both.
function adoptMessages(draft: Draft): void {
  const type = typeOf(draft);
  if (type === undefined || !chats.has(type)) return;
  const attributes = new Map(draft.attributes);
  const [inputKey, outputKey] = [`mastra.${type}.input`, `mastra.${type}.output`];
  const input = attributes.get(inputKey) ?? null;
  if (isFree(draft, "gen_ai.input.messages") && readMessages(input, "user") !== undefined) {
    attributes.set("gen_ai.input.messages", input);
    attributes.delete(inputKey);
  }
  const output = parseJsonText(attributes.get(outputKey) ?? null);
  const reply = toReply(output);
  if (isFree(draft, "gen_ai.output.messages") && reply !== undefined) {
    attributes.set("gen_ai.output.messages", [reply]);
    if (isOnlyReply(output)) attributes.delete(outputKey);
  }
  draft.attributes = attributes;
}

function isFree(draft: Draft, key: string): boolean {
  return !draft.attributes.has(key);
}

function toReply(output: JsonValue): JsonValue | undefined {
  if (!isJsonObject(output) || typeof output["text"] !== "string") return undefined;
  const { text, toolCalls: calls } = output;
  const hasCalls = isJsonArray(calls) && calls.length > 0;
  return {
    role: "assistant",
    ...(text === "" && hasCalls ? {} : { content: text }),
    ...(hasCalls ? { tool_calls: calls } : {}),
  };
}

function isOnlyReply(output: JsonValue): boolean {
  if (!isJsonObject(output)) return false;
  const { text: _, toolCalls: __, ...rest } = output;
  return Object.values(rest).every(
    (value) => value === null || (isJsonArray(value) && value.length === 0),
  );
}
