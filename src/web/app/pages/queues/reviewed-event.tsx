// ReviewedEvent: the event that is reviewed, its conversation where it is one.

import { EventService } from "../../../../../gen/waggle/v1/event_pb.js";
import { useRpc } from "../../api/query.ts";
import { type ChatMessage, toChatMessages } from "../../design/chat-message.ts";
import { JsonView } from "../../design/json-view.tsx";
import { MessageView } from "../../design/message-view.tsx";
import { ErrorState, Loading } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import "../../design/states.css";
import { Identifier } from "../../design/values.tsx";

export function ReviewedEvent({ eventId }: { readonly eventId: string }) {
  const { data, error, refetch } = useRpc(EventService.method.getEvent, { eventId });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const event = data?.event;
  if (!event) return <Loading what="Loading the event" />;
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
      <Payload
        label="Inputs"
        value={inputs}
        messages={toChatMessages(inputs?.["chat_history"] ?? inputs?.["messages"])}
      />
      <Payload label="Outputs" value={outputs} messages={toChatMessages(outputs)} />
    </article>
  );
}

type PayloadProps = {
  readonly label: string;
  readonly value: unknown;
  readonly messages: readonly ChatMessage[] | undefined;
};

function Payload({ label, value, messages }: PayloadProps) {
  return (
    <section className="section">
      <h2>{label}</h2>
      {messages ? (
        <MessageView messages={messages} />
      ) : (
        <JsonView label={label} value={value} openDepth={3} />
      )}
    </section>
  );
}
