// Earlier forms of the GenAI conventions: numbered prompt and completion attributes, and messages
// as span events. Source: OpenTelemetry semantic conventions 1.27 to 1.36; OpenLLMetry until 0.20.

import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableObject,
  setOwn,
} from "../../../base/json.ts";
import { place, placeOrKeep, takeItems, type Draft } from "../draft.ts";
import type { SpanEvent } from "../span.ts";
import { hasHistory, hasReply, moveHistory, moveReply, parseParts } from "../messages.ts";
import { placeHistory, placeReply, readMessage, readMessages } from "../messages.ts";
import { readToolCall, type Message } from "../messages.ts";
import { itemsOf, parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const genAiLegacy: Convention = {
  fields: {
    "gen_ai.system": "metadata.system",
    // Semantic Kernel's, whose reasons are one text.
    "gen_ai.response.finish_reason": "metadata.finish_reason",
    "gen_ai.openai.request.seed": "config.hyperparameters.seed",
    "gen_ai.openai.request.response_format": "config.response_format",
  },
  usage: {
    "gen_ai.usage.prompt_tokens": "metadata.prompt_tokens",
    "gen_ai.usage.completion_tokens": "metadata.completion_tokens",
  },
  read(draft) {
    readNumbered(draft);
    if (draft.events.length > 0) {
      readContentEvents(draft);
      readMessageEvents(draft);
    }
    readFunctions(draft);
    readFunctionCalls(draft);
  },
};

function readNumbered(draft: Draft): void {
  if (draft.buckets.metadata["request_type"] === "embedding") readNumberedTexts(draft);
  if (!hasHistory(draft) && !moveHistory(draft, "gen_ai.prompt")) {
    placeHistory(draft, readNumberedMessages(draft, "gen_ai.prompt.", "user"));
  }
  if (!hasReply(draft) && !moveReply(draft, "gen_ai.completion")) {
    placeReply(draft, readNumberedMessages(draft, "gen_ai.completion.", "assistant"));
  }
}

// Embedded texts are numbered like messages but are not a chat.
function readNumberedTexts(draft: Draft): void {
  const items = takeItems(draft, "gen_ai.prompt.");
  if (items.length === 0) return;
  const texts = items.flatMap((item) =>
    readTexts(isJsonObject(item) ? (item["content"] ?? item) : item),
  );
  placeOrKeep(draft, "inputs", "texts", texts, "gen_ai.prompt");
}

// OpenLLMetry lists all texts of a call of Cohere as parts of one.
function readTexts(content: JsonValue): readonly JsonValue[] {
  const parts = itemsOf(parseParts(content)).map((part) =>
    isJsonObject(part) ? (part["text"] ?? null) : null,
  );
  const areTexts = parts.length > 0 && parts.every((text) => typeof text === "string");
  return areTexts ? parts : [content];
}

function readNumberedMessages(draft: Draft, prefix: string, role: string): Message[] {
  return takeItems(draft, prefix).flatMap((item) =>
    readMessage(toMessage(isJsonObject(item) ? item : { content: item }), role),
  );
}

function toMessage(item: JsonObject): JsonObject {
  const { content } = item;
  return content === undefined ? item : { ...item, content: parseParts(content) };
}

// Reads the tools offered to the model, as numbered by OpenLLMetry.
function readFunctions(draft: Draft): void {
  const functions = takeItems(draft, "llm.request.functions.");
  if (functions.length === 0) return;
  placeOrKeep(draft, "config", "tools", functions.map(readFunction), "llm.request.functions");
}

// Reads the calls of LiteLLM, which numbers them in place of completions and leaves them out of its
// messages. Other numbered completions repeat the reply and stay unread.
function readFunctionCalls(draft: Draft): void {
  if (!hasReply(draft) || Object.hasOwn(draft.buckets.outputs, "tool_calls")) return;
  const keys = [...draft.left.keys()].filter((key) => key.startsWith("gen_ai.completion."));
  if (keys.length === 0 || !keys.every((key) => functionCallKey.test(key))) return;
  const items = takeItems(draft, "gen_ai.completion.").filter(isJsonObject);
  const calls = items.map((item) => readToolCall(item["function_call"] ?? null));
  if (calls.length > 0) place(draft, "outputs", "tool_calls", calls);
}

const functionCallKey = /^gen_ai\.completion\.\d+\.function_call\.(name|arguments)$/;

function readFunction(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const { parameters } = value;
  return parameters === undefined ? value : { ...value, parameters: parseJsonText(parameters) };
}

function readContentEvents(draft: Draft): void {
  const history: Message[] = [];
  const reply: Message[] = [];
  const takesHistory = !hasHistory(draft);
  const takesReply = !hasReply(draft);
  draft.events = draft.events.filter((event) => {
    if (event.name === "gen_ai.content.prompt" && takesHistory) {
      return !append(history, readMessages(event.attributes.get("gen_ai.prompt"), "user"));
    }
    if (event.name === "gen_ai.content.completion" && takesReply) {
      return !append(reply, readMessages(event.attributes.get("gen_ai.completion"), "assistant"));
    }
    return true;
  });
  placeHistory(draft, history);
  placeReply(draft, reply);
}

function append(messages: Message[], more: readonly Message[] | undefined): boolean {
  if (more === undefined || more.length === 0) return false;
  for (const one of more) messages.push(one);
  return true;
}

/** Roles of messages to the model, by the name of their event; of a span or a log. */
export const messageEvents: ReadonlyMap<string, string> = new Map([
  ["gen_ai.system.message", "system"],
  ["gen_ai.user.message", "user"],
  ["gen_ai.assistant.message", "assistant"],
  ["gen_ai.tool.message", "tool"],
]);

/** Name of the event with a message from the model. */
export const choiceEvent = "gen_ai.choice";

function readMessageEvents(draft: Draft): void {
  const history: Message[] = [];
  const reply: Message[] = [];
  const takesHistory = !hasHistory(draft);
  const takesReply = !hasReply(draft);
  draft.events = draft.events.filter((event) => {
    const role = messageEvents.get(event.name);
    if (role !== undefined && takesHistory) {
      return !append(history, readMessage(bodyOf(event, role), role));
    }
    if (event.name === choiceEvent && takesReply) {
      return !append(reply, readMessage(bodyOf(event, "assistant"), "assistant"));
    }
    return true;
  });
  placeHistory(draft, history);
  placeReply(draft, reply);
}

/** Attributes of events that describe the call instead of the message. */
const notMessage = new Set(["gen_ai.system", "gen_ai.provider.name", "event.name", "index"]);

// The body is spread over the attributes, or is JSON text in one of them.
function bodyOf(event: SpanEvent, role: string): JsonObject {
  const body: MutableObject = {};
  for (const [key, value] of event.attributes) {
    if (notMessage.has(key)) continue;
    const read = key === "content" ? parseParts(value) : parseJsonText(value);
    const isBody = key === "gen_ai.event.content" || key === "message";
    if (isBody && isJsonObject(read)) setAll(body, read);
    else if (key === "id" && role === "tool") body["tool_call_id"] = read;
    else if (key === "message") body["content"] = read;
    else setOwn(body, key, read);
  }
  const { message } = body;
  if (isJsonObject(message)) {
    setAll(body, message);
    body["message"] = null;
  }
  return body;
}

function setAll(body: MutableObject, values: JsonObject): void {
  for (const [key, value] of Object.entries(values)) setOwn(body, key, value);
}
