// Converts messages of the OpenAI API to a prompt of the Vercel AI SDK. Source:
// docs/generations.md.

import { createHash } from "node:crypto";
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { refuse } from "../../../base/errors.ts";
import { isJsonObject, type JsonValue } from "../../../base/json.ts";
import type { ProviderType } from "../../provider.ts";
import { toTexts, toUserParts, withoutEmpty } from "./content-parts.ts";
import { type Fields, itemFields, untranslatable } from "../../openai/fields.ts";

type AssistantParts = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** Context of the conversion: the provider, and the names of called tools by call id. */
type Conversation = { readonly type: ProviderType; readonly toolNames: Map<string, string> };

export function toPrompt(request: Fields, type: ProviderType): LanguageModelV4Prompt {
  const messages = request.list("messages") ?? request.refuse("messages", "must be given");
  if (messages.length === 0) request.refuse("messages", "must hold at least one message");
  const conversation: Conversation = { type, toolNames: new Map() };
  const converted = messages.flatMap((item) => {
    const message = itemFields(item);
    const role = message.needText("role");
    const convert = Object.hasOwn(converters, role) ? converters[role] : undefined;
    return convert
      ? convert(message, conversation)
      : message.refuse("role", `${untranslatable}: ${role}`);
  });
  return joinToolResults(withoutEmpty(converted, ({ content }) => content === ""));
}

/** Joins results of tools that follow each other: Gemini wants those of one turn together. */
function joinToolResults(messages: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const joined: LanguageModelV4Prompt = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === "tool" && last?.role === "tool") last.content.push(...message.content);
    else joined.push(message);
  }
  return joined;
}

type Converter = (message: Fields, conversation: Conversation) => LanguageModelV4Message[];

const converters: Readonly<Record<string, Converter>> = {
  system: toSystem,
  developer: toSystem,
  user(message, { type }) {
    message.only("role", "content");
    const content = toUserParts(message, type);
    if (content.length === 0) message.refuse("content", "must be given");
    return [{ role: "user", content }];
  },
  assistant: toAssistant,
  tool: toToolResult,
};

/** Creates one message for each text, as providers keep them separate too. */
function toSystem(message: Fields): LanguageModelV4Message[] {
  message.only("role", "content");
  const texts = toTexts(message);
  if (texts.length === 0) message.refuse("content", "must be given");
  return texts.map((content) => ({ role: "system", content }));
}

// No provider accepts reasoning without its signature, so `reasoning_content` is allowed but not
// sent; `extra_content` is this proxy's earlier answer with the signatures.
function toAssistant(message: Fields, { type, toolNames }: Conversation): LanguageModelV4Message[] {
  message.only(
    "role",
    "content",
    "refusal",
    "tool_calls",
    "reasoning_content",
    "extra_content",
    "annotations",
  );
  const calls = message.list("tool_calls") ?? [];
  const refusal = message.text("refusal");
  const texts = [
    ...toTexts(message, ["text", "refusal"]),
    ...(refusal === undefined ? [] : [refusal]),
  ];
  const content: AssistantParts = [
    ...toReasoningParts(message),
    ...texts.filter((text) => text !== "").map((text) => ({ type: "text" as const, text })),
    ...calls.map((item) => toToolCall(itemFields(item), type)),
  ];
  for (const part of content) {
    if (part.type === "tool-call") toolNames.set(part.toolCallId, part.toolName);
  }
  if (content.length === 0) message.refuse("content", "must be given");
  return [{ role: "assistant", content }];
}

function toReasoningParts(message: Fields): AssistantParts {
  const items = message.fields("extra_content")?.list("reasoning") ?? [];
  return items.map((item) => {
    const part = itemFields(item);
    const text = part.text("text") ?? "";
    return { type: "reasoning", text, ...providerOptionsOf(part) };
  });
}

function toToolCall(call: Fields, type: ProviderType): LanguageModelV4ToolCallPart {
  if ((call.text("type") ?? "function") !== "function") call.refuse("type", untranslatable);
  call.only("id", "type", "function", "extra_content");
  const called = call.needFields("function");
  return {
    type: "tool-call",
    toolCallId: toCallId(call.needText("id"), type),
    toolName: called.needText("name"),
    input: toInput(called),
    ...providerOptionsOf(call),
  };
}

/** Ids of calls that a provider takes. Source: the providers' API references. */
const callIds: { readonly [Type in ProviderType]?: RegExp } = {
  anthropic: /^[\w-]+$/,
  bedrock: /^[\w-]{1,64}$/,
  mistral: /^[a-zA-Z0-9]{9}$/,
};

/** Length of the ids that every provider takes. */
const callIdLength = 9;

/** Returns the id of a call, or one made of it: other providers may have begun the conversation. */
function toCallId(id: string, type: ProviderType): string {
  if (callIds[type]?.test(id) ?? true) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, callIdLength);
}

/** Parses the arguments, which are text for OpenAI and an object for all other providers. */
function toInput(called: Fields): JsonValue {
  const text = called.needText("arguments");
  if (text.trim() === "") return {};
  const path = `${called.path}.arguments`;
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (cause) {
    return refuse(path, `must be JSON (${cause instanceof Error ? cause.message : ""})`);
  }
  return isJsonObject(input) ? input : refuse(path, "must be a JSON object");
}

function toToolResult(
  message: Fields,
  { type, toolNames }: Conversation,
): LanguageModelV4Message[] {
  message.only("role", "content", "tool_call_id", "name");
  const toolCallId = toCallId(message.needText("tool_call_id"), type);
  const toolName =
    toolNames.get(toolCallId) ??
    message.refuse("tool_call_id", "must be that of a tool call in an earlier message");
  if (message.value("content") === undefined) message.refuse("content", "must be given");
  const value = toTexts(message).join("\n");
  return [
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }],
    },
  ];
}

/** Returns the provider's own metadata of a part, such as a signature, which it needs again. */
function providerOptionsOf(part: Fields): { readonly providerOptions?: SharedV4ProviderOptions } {
  const extra = part.fields("extra_content");
  if (!extra) return {};
  for (const provider of Object.keys(extra.object)) extra.fields(provider);
  return { providerOptions: extra.object as SharedV4ProviderOptions };
}
