// Messages of a recorded event as the API takes them, whatever provider they were sent to. Each
// part that the API does not take becomes a note, so that no run differs unnoticed. Pure functions.

import type { JsonObject } from "@bufbuild/protobuf";
import { type Fields, isFields, type MessagePart } from "../../design/chat-message.ts";
import type { ReadMessage } from "../session/event-messages.ts";
import { type DraftMessage, newMessage, toDraftMessages } from "./draft.ts";

export type Carried = {
  readonly messages: readonly DraftMessage[];
  /** Parts that the messages do not hold, as parts of a sentence. */
  readonly notes: readonly string[];
};

/** Calls of tools without an id get one here, and their results take it in the same order. */
type Ids = { readonly open: string[]; count: number };

const apiRoles = ["system", "developer", "user", "assistant", "tool"];
const roleNames: ReadonlyMap<string, string> = new Map([
  ["model", "assistant"],
  ["ai", "assistant"],
  ["human", "user"],
]);

export function carryMessages(read: readonly ReadMessage[]): Carried {
  const ids: Ids = { open: [], count: 0 };
  const all = read.map((one, index) => {
    const isAsTaken = one.sent !== undefined && isApiMessage(one.sent);
    const carried = isAsTaken
      ? { messages: toDraftMessages([one.sent]), notes: [] }
      : carryParts(one.message.role, one.message.parts, ids);
    return { ...carried, notes: carried.notes.map((note) => `${note} of message ${index + 1}`) };
  });
  return {
    messages: all.flatMap(({ messages }) => messages),
    notes: all.flatMap(({ notes }) => notes),
  };
}

/** Returns whether the API takes a message as it was logged, and the playground shows it well. */
function isApiMessage({ role, content, tool_calls: calls = null }: Fields): boolean {
  if (typeof role !== "string" || !apiRoles.includes(role)) return false;
  if (calls !== null && !(Array.isArray(calls) && calls.every(isApiCall))) return false;
  if (typeof content === "string") return true;
  if (content === null || content === undefined) return calls !== null;
  if (role !== "user" || !Array.isArray(content)) return false;
  return content.every(isApiPart) && content.some(({ type }) => type !== "text");
}

function isApiCall(call: unknown): boolean {
  return isFields(call) && isFields(call["function"]) && typeof call["id"] === "string";
}

function isApiPart(part: unknown): part is Fields {
  if (!isFields(part)) return false;
  const { type, text, image_url: image, input_audio: audio, file } = part;
  if (type === "text") return typeof text === "string";
  return (type === "image_url" && isFields(image)) || isFields(audio) || isFields(file);
}

function carryParts(role: string, parts: readonly MessagePart[], ids: Ids): Carried {
  const apiRole = roleNames.get(role) ?? role;
  const notes: string[] = [];
  const content: Fields[] = [];
  const calls: JsonObject[] = [];
  const results: DraftMessage[] = [];
  for (const part of parts) {
    if (part.kind === "tool-call") {
      calls.push(toApiCall(part, ids));
    } else if (part.kind === "tool-result") {
      const id = part.id ?? ids.open.shift();
      if (id === undefined) notes.push("the result of an unknown tool call");
      else results.push({ ...newMessage("tool", toText(part.output)), rest: { tool_call_id: id } });
    } else {
      const found = toApiPart(part);
      const isTaken = found !== undefined && (apiRole === "user" || found["type"] === "text");
      if (isTaken) content.push(found);
      else notes.push(nameOf(part));
    }
  }
  const isOnlyResults = results.length > 0 && content.length + calls.length === 0;
  const rest: JsonObject = calls.length > 0 ? { tool_calls: calls } : {};
  const message = { ...toMessage(apiRole, content), ...(calls.length > 0 && { rest }) };
  if (message.isJson !== true && content.length > 1) {
    notes.push(`the border between the ${content.length} texts`);
  }
  return { messages: isOnlyResults ? results : [...results, message], notes };
}

function toMessage(role: string, content: readonly Fields[]): DraftMessage {
  const isText = content.every(({ type }) => type === "text");
  if (isText) return newMessage(role, content.map(({ text }) => text).join("\n\n"));
  return { ...newMessage(role, JSON.stringify(content, null, 2)), isJson: true };
}

function toApiCall(part: MessagePart & { readonly kind: "tool-call" }, ids: Ids): JsonObject {
  const { name, input } = part;
  let { id } = part;
  if (id === undefined) {
    ids.count += 1;
    id = `call_${ids.count}`;
    ids.open.push(id);
  }
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
  return { id, type: "function", function: { name, arguments: text } };
}

function toApiPart(part: MessagePart): Fields | undefined {
  if (part.kind === "text") return { type: "text", text: part.text };
  if (part.kind === "json") return isApiPart(part.value) ? part.value : undefined;
  if (part.kind !== "media") return undefined;
  if (part.media === "image") return { type: "image_url", image_url: { url: part.url } };
  const [, format, data] = /^data:audio\/(mpeg|mp3|wav);base64,(.*)$/s.exec(part.url) ?? [];
  if (format === undefined) return undefined;
  return { type: "input_audio", input_audio: { data, format: format === "wav" ? "wav" : "mp3" } };
}

/** Names a part that was left out. */
function nameOf(part: MessagePart): string {
  if (part.kind === "media") return part.media === "image" ? "an image" : "a sound";
  const value = part.kind === "json" ? part.value : undefined;
  const type = isFields(value) ? (value["type"] ?? Object.keys(value)[0]) : undefined;
  return typeof type === "string" ? `a part of type ${type}` : "an unknown part";
}

/** Results of tools are texts to the API. */
function toText(output: unknown): string {
  if (typeof output === "string") return output;
  const isTexts = Array.isArray(output) && output.every((part) => isFields(part) && "text" in part);
  if (isTexts) return output.map(({ text }: Fields) => String(text)).join("\n");
  return JSON.stringify(output ?? "");
}
