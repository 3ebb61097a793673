// The question and the answer of an event in a line each, whatever convention they came by: chat
// histories, messages, prompts, completions, choices, arguments and results of tools. Pure, and
// bounded: a payload of megabytes is read up to a few hundred characters.

import {
  type Fields,
  isFields,
  type MessagePart,
  toChatMessages,
} from "../../design/chat-message.ts";
import { mediaOf } from "../../design/preview.ts";

export type EventSummary = {
  /** The question; undefined for an event without inputs. */
  readonly question: string | undefined;
  /** The answer; undefined for an event without outputs. */
  readonly answer: string | undefined;
};

/** Maximum characters of a line. */
const lineMax = 280;
/** Maximum depth to which an envelope such as `{ data: { output: … } }` is opened. */
const depthMax = 4;
const membersMax = 6;

const questionKeys = [
  "chat_history",
  "messages",
  "input_messages",
  "history",
  "contents",
  "conversation",
  "question",
  "query",
  "prompt",
  "user_message",
  "message",
  "input",
  "inputs",
  "text",
  "content",
  "instruction",
  "instructions",
  "task",
  "request",
  "body",
  "data",
];

const answerKeys = [
  "content",
  "answer",
  "output_text",
  "completion",
  "response",
  "text",
  "message",
  "output_messages",
  "messages",
  "choices",
  "generations",
  "candidates",
  "output",
  "outputs",
  "result",
  "results",
  "tool_calls",
  "parts",
  "summary",
  "body",
  "data",
];

/** Returns the question and the answer of an event. */
export function summarizeEvent(event: { inputs?: unknown; outputs?: unknown }): EventSummary {
  return {
    question: toLine(read(event.inputs, questionKeys, "last-user", 0)),
    answer: toLine(read(event.outputs, answerKeys, "last", 0)),
  };
}

/** Which message of a list is meant. */
type Pick = "last-user" | "last";

function read(value: unknown, keys: readonly string[], pick: Pick, depth: number): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return readText(value, keys, pick, depth);
  if (typeof value !== "object") return formatScalar(value);
  if (depth > depthMax) return toOutline(value, 0);
  const messages = readMessages(value, pick);
  if (messages !== "") return messages;
  if (Array.isArray(value)) return readList(value, keys, pick, depth);
  const fields = value as Fields;
  const calls = readCalls(fields);
  for (const key of keys) {
    if (!Object.hasOwn(fields, key)) continue;
    const text = read(fields[key], keys, pick, depth + 1);
    if (text !== "") return text;
  }
  return calls === "" ? toOutline(fields, 0) : calls;
}

/** Opens a text that is JSON of an envelope; anything else is the text itself. */
function readText(text: string, keys: readonly string[], pick: Pick, depth: number): string {
  const media = mediaOf(text);
  if (media !== undefined) return media;
  const start = text.trimStart().slice(0, 1);
  const isShort = text.length <= textParsedMax;
  if ((start !== "{" && start !== "[") || !isShort || depth > depthMax) return text;
  try {
    return read(JSON.parse(text), keys, pick, depth + 1);
  } catch {
    // It only looked like JSON.
    return text;
  }
}

/** Maximum length of a text that is tried as JSON; a longer one is shown as it begins. */
const textParsedMax = 20_000;

function readList(list: readonly unknown[], keys: readonly string[], pick: Pick, depth: number) {
  const index = pick === "last" ? 0 : list.length - 1;
  const one = list[index];
  if (list.every((item) => typeof item === "string")) return list.slice(0, membersMax).join(" ");
  if (Array.isArray(one) || isFields(one)) return read(one, keys, pick, depth + 1);
  return toOutline(list, 0);
}

/** Returns the text of the picked message of a list of messages, or of one message. */
function readMessages(value: object, pick: Pick): string {
  // Long histories are read from their end.
  const list = Array.isArray(value) ? value.slice(-messagesMax) : value;
  const messages = toChatMessages(rolesNamed(list));
  if (!messages) return "";
  const asked = messages.findLast(({ role }) => role === "user" || role === "human");
  const message = (pick === "last-user" ? asked : undefined) ?? messages.at(-1);
  return message ? message.parts.map(partText).filter(Boolean).join(" ") : "";
}

const messagesMax = 100;

/** LangChain and others call the role `type`. */
function rolesNamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rolesNamed);
  if (!isFields(value) || "role" in value) return value;
  const { type, content, kwargs } = value;
  const isMessage = typeof type === "string" && /^(human|ai|system|tool)$/.test(type);
  if (isMessage && content !== undefined) return { ...value, role: type };
  if (isFields(kwargs) && kwargs["content"] !== undefined) return rolesNamed(kwargs);
  return value;
}

function partText(part: MessagePart): string {
  switch (part.kind) {
    case "text":
      return part.text.slice(0, lineMax * 2);
    case "media":
      return `[${part.media}]`;
    case "tool-call":
      return `→ ${part.name}(${toOutline(part.input ?? "", 0)})`;
    case "tool-result":
      return toOutline(part.output ?? "", 0);
    case "json":
      return toOutline(part.value, 0);
  }
}

/** Returns the tools that an answer without text calls. */
function readCalls(fields: Fields): string {
  const { tool_calls: calls } = fields;
  if (!Array.isArray(calls) || calls.length === 0) return "";
  const [message] = toChatMessages({ role: "assistant", tool_calls: calls }) ?? [];
  return message?.parts.map(partText).join(" ") ?? "";
}

/** Returns the first members of a value as `key: value, …`; never a whole payload. */
function toOutline(value: unknown, depth: number): string {
  if (typeof value === "string") return mediaOf(value) ?? value.slice(0, lineMax);
  if (typeof value !== "object" || value === null) return value === null ? "" : formatScalar(value);
  if (depth > 2) return "…";
  const isList = Array.isArray(value);
  const names = Object.keys(value).slice(0, membersMax);
  const members = names.flatMap((name) => {
    const inner = toOutline((value as Fields)[name], depth + 1);
    if (inner === "") return [];
    return isList ? [inner] : [`${name}: ${inner}`];
  });
  if (members.length === 0) return "";
  const text = members.join(", ");
  if (depth === 0 && !isList) return text;
  return isList ? `[${text}]` : `{${text}}`;
}

/** Formats a number or boolean; JSON has nothing else here. */
function formatScalar(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Data URLs inside of a text, such as a picture in Markdown. */
const dataUrls = /data:([\w.+-]+\/[\w.+-]+);base64,[A-Za-z0-9+/=]+/g;

/** Makes one line of a text: data URLs named, spaces joined, marks of direction left out, cut. */
function toLine(text: string): string | undefined {
  const line = text
    .slice(0, lineMax * 2)
    .replaceAll(dataUrls, (_, type: string) => `[${type}]`)
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  if (line === "") return undefined;
  return line.length > lineMax ? `${line.slice(0, lineMax).trimEnd()}…` : line;
}
