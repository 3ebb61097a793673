// Gemini CLI: attributes of the GenAI conventions with values of its own: a list of the chunks of a
// stream, a system prompt as JSON text, and requests and responses of tools in place of messages.
// Source: npm @google/gemini-cli 0.61.

import type { Draft } from "../draft.ts";
import { readMessages } from "../messages.ts";
import { parseJsonText, parseScalarText } from "../values.ts";
import type { Convention } from "./convention.ts";
import { joinChunks } from "./google-adk.ts";

export const geminiCli: Convention = {
  fields: {
    "gen_ai.tool.call_id": "metadata.tool_call_id",
  },
  prepare: adoptValues,
};

const instructions = "gen_ai.system_instructions";
const reply = "gen_ai.output.messages";

/** Attributes of messages, and those that steps without messages become. */
const payloads = [
  ["gen_ai.input.messages", "gen_ai.tool.call.arguments"],
  [reply, "gen_ai.tool.call.result"],
] as const;

function adoptValues(draft: Draft): void {
  if (draft.span.scope.name !== "gemini-cli") return;
  const attributes = new Map(draft.attributes);
  const system = attributes.get(instructions);
  if (system !== undefined) attributes.set(instructions, parseScalarText(system));
  const whole = joinChunks(parseJsonText(attributes.get(reply) ?? null));
  if (whole !== undefined) attributes.set(reply, [whole]);
  for (const [messages, payload] of payloads) {
    const value = attributes.get(messages);
    if (value === undefined || readMessages(value, "user") !== undefined) continue;
    attributes.delete(messages);
    attributes.set(payload, value);
  }
  draft.attributes = attributes;
}
