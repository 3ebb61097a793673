// The chat in an event's payload: the messages that went in and those that came out, by whichever
// convention they were logged; and the images and audio that stand in other payloads. Pure
// functions.

import { type ChatMessage, toChatMessages } from "../../design/chat-message.ts";

export type Fields = Readonly<Record<string, unknown>>;

export type EventPayload = {
  readonly inputs?: Fields | undefined;
  readonly outputs?: Fields | undefined;
};

export type EventMessages = {
  readonly inputs: readonly ChatMessage[];
  readonly outputs: readonly ChatMessage[];
};

const inputKeys = ["chat_history", "messages", "input", "prompt"] as const;
const outputKeys = ["messages", "message", "output", "response"] as const;

/** Returns the messages of an event; empty lists where it has none. */
export function messagesOf({ inputs = {}, outputs = {} }: EventPayload): EventMessages {
  return { inputs: messagesIn(inputs, inputKeys), outputs: outputMessages(outputs) };
}

function outputMessages(outputs: Fields): readonly ChatMessage[] {
  const { choices, content } = outputs;
  if (Array.isArray(choices)) {
    const messages = choices.map((choice: unknown) =>
      isFields(choice) ? choice["message"] : null,
    );
    const found = toChatMessages(messages.map(withRole));
    if (found) return found;
  }
  const whole = messagesIn(outputs, outputKeys);
  if (whole.length > 0) return whole;
  const isReply = content !== undefined || outputs["tool_calls"] !== undefined;
  return (isReply ? toChatMessages(withRole(outputs)) : undefined) ?? [];
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

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
