// The chat in an event's payload: the messages that went in and those that came out, by whichever
// convention they were logged; and the images and audio that stand in other payloads. Pure
// functions.

import {
  type ChatMessage,
  type Fields,
  isFields,
  toChatMessage,
  toChatMessages,
} from "../../design/chat-message.ts";

export type EventPayload = {
  /** Texts without a role, such as `{question}`, are messages of model events alone. */
  readonly eventType?: string | undefined;
  readonly inputs?: Fields | undefined;
  readonly outputs?: Fields | undefined;
};

export type EventMessages = {
  readonly inputs: readonly ChatMessage[];
  readonly outputs: readonly ChatMessage[];
};

/** A message with the form in which it was logged; undefined for one made of a text. */
export type ReadMessage = { readonly message: ChatMessage; readonly sent: Fields | undefined };

export type ReadInputs = {
  readonly messages: readonly ReadMessage[];
  /** Names of the inputs that the messages were read from. */
  readonly names: readonly string[];
};

const inputKeys = ["chat_history", "messages", "input", "prompt"] as const;
const outputKeys = ["messages", "message", "output", "response"] as const;
const systemKeys = ["system", "systemInstruction", "system_instruction", "instructions"] as const;
const questionKeys = ["prompt", "input", "question", "messages", "chat_history"] as const;
const answerKeys = ["completion", "output", "answer", "response", "output_text", "text"] as const;

/** Returns the messages of an event; empty lists where it has none. */
export function messagesOf({ eventType, inputs = {}, outputs = {} }: EventPayload): EventMessages {
  const isModel = eventType === "model";
  return {
    inputs: readInputs(inputs, isModel).messages.map(({ message }) => message),
    outputs: outputMessages(outputs, isModel),
  };
}

/** Returns the messages that went into an event, the system prompt beside them included. */
export function readInputs(inputs: Fields, isModel: boolean): ReadInputs {
  const found =
    readHistory(inputs) ?? (isModel ? readText(inputs, questionKeys, "user") : undefined);
  if (!found) return { messages: [], names: [] };
  const hasSystem = found.messages.some(({ message }) => /^(system|developer)$/.test(message.role));
  const name = systemKeys.find((key) => isFilled(inputs[key]));
  if (hasSystem || name === undefined) return found;
  const system = toSystemMessage(inputs[name]);
  return {
    messages: [{ message: system, sent: undefined }, ...found.messages],
    names: [name, ...found.names],
  };
}

function readHistory(inputs: Fields): ReadInputs | undefined {
  for (const name of inputKeys) {
    const messages = pairs(inputs[name]);
    if (messages) return { messages, names: [name] };
  }
  const contents = toGoogleMessages(inputs["contents"], "user");
  if (contents) return { messages: contents, names: ["contents"] };
  const whole = pairs(inputs);
  return whole && { messages: whole, names: Object.keys(inputs) };
}

/** Returns the messages in a value, each with the form in which it was logged. */
function pairs(value: unknown): readonly ReadMessage[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return toChatMessages(value)?.map((message, index) => ({ message, sent: list[index] as Fields }));
}

function readText(bucket: Fields, keys: readonly string[], role: string): ReadInputs | undefined {
  const name = keys.find((key) => typeof bucket[key] === "string" && isFilled(bucket[key]));
  if (name === undefined) return undefined;
  const message = toChatMessage({ role, content: bucket[name] });
  return { messages: [{ message, sent: undefined }], names: [name] };
}

/** Returns contents of Gemini: one text, parts, or messages whose role may be absent. */
function toGoogleMessages(contents: unknown, role: string): readonly ReadMessage[] | undefined {
  if (!isFilled(contents)) return undefined;
  const list: readonly unknown[] = Array.isArray(contents) ? contents : [contents];
  const isWhole = list.every((one) => isFields(one) && one["parts"] !== undefined);
  const messages = isWhole ? (list as readonly Fields[]) : [{ parts: list }];
  return messages.map((sent) => {
    const named = typeof sent["role"] === "string" ? sent["role"] : role;
    const message = toChatMessage({ ...sent, role: named === "model" ? "assistant" : named });
    return { message, sent };
  });
}

/** A system prompt is a text, a list of parts, or a content of Gemini. */
function toSystemMessage(value: unknown): ChatMessage {
  const content = isFields(value) ? (value["parts"] ?? value["content"] ?? value["text"]) : value;
  return toChatMessage({ role: "system", content: content ?? value });
}

function outputMessages(outputs: Fields, isModel: boolean): readonly ChatMessage[] {
  const { choices, candidates, content } = outputs;
  if (Array.isArray(choices)) {
    const found = toChatMessages(choices.map(choiceMessage));
    if (found) return found;
  }
  if (Array.isArray(candidates)) {
    // A candidate that was blocked has no content.
    const contents = candidates.map((one: unknown) => (isFields(one) ? one["content"] : undefined));
    const found = toGoogleMessages(contents.filter(isFields), "assistant");
    if (found) return found.map(({ message }) => message);
  }
  const whole = messagesIn(outputs, outputKeys);
  if (whole.length > 0) return whole;
  const isReply = content !== undefined || outputs["tool_calls"] !== undefined;
  const reply = isReply ? toChatMessages(withRole(outputs)) : undefined;
  if (reply) return reply;
  const text = isModel ? readText(outputs, answerKeys, "assistant") : undefined;
  return text?.messages.map(({ message }) => message) ?? [];
}

/** A choice holds a message, or the text of a completion; choices of spans are messages. */
function choiceMessage(choice: unknown): unknown {
  if (!isFields(choice)) return null;
  const { message, text, role } = choice;
  if (typeof role === "string") return choice;
  return withRole(message ?? (typeof text === "string" ? { content: text } : null));
}

function withRole(message: unknown): unknown {
  return isFields(message) ? { role: "assistant", ...message } : message;
}

function messagesIn(bucket: Fields, keys: readonly string[]): readonly ChatMessage[] {
  for (const value of [...keys.map((key) => bucket[key]), bucket]) {
    const found = value === undefined ? undefined : toChatMessages(value);
    if (found) return found;
  }
  return [];
}

function isFilled(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  return Array.isArray(value) ? value.length > 0 : isFields(value);
}

export type FoundMedia = { readonly media: "image" | "audio"; readonly url: string };

/** Values that are looked at for media; a payload with more is searched this far. */
const valuesMax = 20_000;
const mediaMax = 50;

/** Returns the images and audio that stand as data URLs anywhere in a value. */
export function mediaIn(root: unknown): readonly FoundMedia[] {
  const found: FoundMedia[] = [];
  const values: unknown[] = [root];
  // The list grows while it is walked.
  for (const value of values) {
    if (typeof value === "string") {
      const media = /^data:(image|audio)\/[\w.+-]+;base64,/.exec(value.slice(0, 80))?.[1];
      if (media === "image" || media === "audio") found.push({ media, url: value });
      if (found.length === mediaMax) break;
    } else if (typeof value === "object" && value !== null && values.length < valuesMax) {
      const members: unknown[] = Object.values(value);
      values.push(...members.slice(0, valuesMax - values.length));
    }
  }
  return found;
}
