// Strands Agents: spans of tool calls, whose arguments and result are messages. Its other spans
// send the GenAI conventions. Source: strands-agents 1, earlier and latest conventions.

import { isJsonArray, isJsonObject, type JsonValue } from "../../../base/json.ts";
import type { Draft } from "../draft.ts";
import { unwrapOutput } from "../messages.ts";
import { parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const strands: Convention = {
  prepare: splitToolMessages,
};

/** Where each kind of payload is: a span event's attribute, or a key of a message's only part. */
const payloads = [
  {
    event: "gen_ai.tool.message",
    key: "content",
    messages: "gen_ai.input.messages",
    part: "arguments",
    attribute: "gen_ai.tool.call.arguments",
  },
  {
    event: "gen_ai.choice",
    key: "message",
    messages: "gen_ai.output.messages",
    part: "response",
    attribute: "gen_ai.tool.call.result",
  },
];

// On a tool's span the message of the tool is its arguments, and the choice its result.
function splitToolMessages(draft: Draft): void {
  if (draft.eventType !== "tool" || draft.span.scope.name !== "strands.telemetry.tracer") return;
  const attributes = new Map(draft.attributes);
  for (const { event: name, key, messages, part, attribute } of payloads) {
    const event = draft.events.find((one) => one.name === name);
    const ofPart = partOf(attributes.get(messages) ?? null, part);
    const payload = ofPart ?? event?.attributes.get(key);
    const value = parseJsonText(payload ?? attributes.get(attribute) ?? null);
    if (value !== null) attributes.set(attribute, unwrapOutput(value));
    if (payload === undefined) continue;
    if (ofPart === undefined) draft.events = draft.events.filter((one) => one !== event);
    else attributes.delete(messages);
  }
  draft.attributes = attributes;
}

function partOf(payload: JsonValue, key: string): JsonValue | undefined {
  const part = onlyItem(objectOf(onlyItem(parseJsonText(payload)))["parts"]);
  return objectOf(part)[key];
}

function onlyItem(list: JsonValue | undefined): JsonValue | undefined {
  return isJsonArray(list) && list.length === 1 ? list[0] : undefined;
}

function objectOf(value: JsonValue | undefined): { readonly [key: string]: JsonValue } {
  return isJsonObject(value) ? value : {};
}
