// ReviewedEvent: the event that is reviewed, its conversation where it is one.

import { EventService } from "../../../../../gen/waggle/v1/event_pb.js";
import { useRpc } from "../../api/query.ts";
import { type ChatMessage, toChatMessages } from "../../design/chat-message.ts";
import { JsonView } from "../../design/json-view.tsx";
import { MessageView } from "../../design/message-view.tsx";
import { ReadState } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import "../../design/states.css";
import { Identifier } from "../../design/values.tsx";

export function ReviewedEvent({ eventId }: { readonly eventId: string }) {
  const answer = useRpc(EventService.method.getEvent, { eventId });
  const event = answer.data?.event;
  if (answer.error || !event) return <ReadState read={answer} what="Loading the event" />;
  const { inputs, outputs, eventName, eventType } = event;
  return (
    <article aria-label="Event">
      <p className="soft">
        <b dir="auto">{eventName}</b> {eventType} <Identifier value={eventId} />
      </p>
      {event.error === undefined ? null : (
        <div className="failure-box review-failure" role="group" aria-label="Error of the event">
          <b>Error</b>
          <TextView text={event.error} previewChars={600} kind="mono" />
        </div>
      )}
      <Payload label="Inputs" value={inputs} {...readChat(inputs)} />
      <Payload label="Outputs" value={outputs} {...readAnswer(outputs)} />
    </article>
  );
}

type Fields = Readonly<Record<string, unknown>>;

type Read = {
  readonly messages: readonly ChatMessage[] | undefined;
  /** Fields that the messages do not show. */
  readonly rest: Fields;
};

function readChat(inputs: Fields = {}): Read {
  const name = (inputs["chat_history"] ?? null) === null ? "messages" : "chat_history";
  const { [name]: chat, ...rest } = inputs;
  return { messages: toChatMessages(chat), rest };
}

/** Fields of a message that its view shows. */
const messageFields: ReadonlySet<string> = new Set([
  "role",
  "content",
  "parts",
  "tool_calls",
  "tool_call_id",
  "reasoning",
  "reasoning_content",
]);

function readAnswer(outputs: Fields = {}): Read {
  const rest = Object.entries(outputs).filter(([name]) => !messageFields.has(name));
  return { messages: toChatMessages(outputs), rest: Object.fromEntries(rest) };
}

type PayloadProps = Read & { readonly label: string; readonly value: unknown };

function Payload({ label, value, messages, rest }: PayloadProps) {
  const hasRest = Object.keys(rest).length > 0;
  return (
    <section className="section">
      <h2>{label}</h2>
      {messages ? <MessageView messages={messages} /> : null}
      {messages && !hasRest ? null : (
        <JsonView label={label} value={messages ? rest : value} openDepth={3} />
      )}
    </section>
  );
}
