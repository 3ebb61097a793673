// The conversation of a session: the chats of its model events in order, in which each message
// stands once, although every call sends the history again. Pure functions.

import type { ChatMessage, MessagePart } from "../../design/chat-message.ts";
import { summarizeEvent } from "../traces/event-summary.ts";
import { type EventMessages, type EventPayload, messagesOf } from "./event-messages.ts";

export type Turn<Event> = {
  readonly event: Event;
  /** Messages that this call sent or answered first. */
  readonly messages: readonly ChatMessage[];
  /** Number of messages that it sent again. */
  readonly repeatedCount: number;
};

/**
 * Returns the messages of a model event. Inputs and outputs of no known convention are the line
 * that the list of traces has for them, so that no call looks empty.
 */
export function toCallMessages({ inputs, outputs }: EventPayload): EventMessages {
  const messages = messagesOf({ eventType: "model", inputs, outputs });
  if (messages.inputs.length > 0 && messages.outputs.length > 0) return messages;
  const { question, answer } = summarizeEvent({ inputs, outputs });
  return {
    inputs: messages.inputs.length > 0 ? messages.inputs : toLine("user", question),
    outputs: messages.outputs.length > 0 ? messages.outputs : toLine("assistant", answer),
  };
}

function toLine(role: string, text: string | undefined): readonly ChatMessage[] {
  return text === undefined ? [] : [{ role, parts: [{ kind: "text", text }] }];
}

/** Returns the turns of model events, which are in order of their start. */
export function toTurns<Event>(
  calls: readonly { readonly event: Event; readonly messages: EventMessages }[],
): readonly Turn<Event>[] {
  /** How often each message stands in the conversation so far. */
  const counts = new Map<string, number>();
  /** Turn of each tool call, to which its result goes. */
  const turnOfCall = new Map<string, ChatMessage[]>();
  return calls.map(({ event, messages: { inputs, outputs } }) => {
    const repeatedCount = countRepeated(inputs, counts);
    const messages: ChatMessage[] = [];
    for (const message of [...inputs.slice(repeatedCount), ...outputs]) {
      const key = keyOf(message);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const callId = resultOf(message);
      const owner = callId === undefined ? undefined : turnOfCall.get(callId);
      (owner ?? messages).push(message);
      for (const part of message.parts) {
        if (part.kind === "tool-call" && part.id !== undefined) turnOfCall.set(part.id, messages);
      }
    }
    return { event, messages, repeatedCount };
  });
}

/**
 * Returns the number of messages at the beginning that stand in the conversation already. Words
 * that a person says twice, such as "go on", are two messages: the second is new.
 */
function countRepeated(
  messages: readonly ChatMessage[],
  counts: ReadonlyMap<string, number>,
): number {
  const within = new Map<string, number>();
  const firstNew = messages.findIndex((message) => {
    const key = keyOf(message);
    const nth = (within.get(key) ?? 0) + 1;
    within.set(key, nth);
    return nth > (counts.get(key) ?? 0);
  });
  return firstNew < 0 ? messages.length : firstNew;
}

/** Id of the call that a message answers, if it does nothing else. */
function resultOf({ parts }: ChatMessage): string | undefined {
  const [part] = parts;
  return parts.length === 1 && part?.kind === "tool-result" ? part.id : undefined;
}

function keyOf({ role, parts }: ChatMessage): string {
  return `${role}\n${parts.map(partKey).join("\n")}`;
}

function partKey(part: MessagePart): string {
  return part.kind === "text" ? part.text.trim() : JSON.stringify(part);
}
