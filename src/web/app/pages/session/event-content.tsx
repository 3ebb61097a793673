// The payload of an event as chat, as foldable JSON with its images and audio, and raw. All of it
// is text to the browser: nothing becomes markup or a link.

import { toJson } from "@bufbuild/protobuf";
import { useMemo } from "react";
import { type Event, EventSchema } from "../../../../../gen/waggle/v1/event_pb.js";
import { JsonView } from "../../design/json-view.tsx";
import { MessageView } from "../../design/message-view.tsx";
import { Media } from "../../design/media.tsx";
import { TextView } from "../../design/text-view.tsx";
import { Copy } from "../../design/values.tsx";
import { type EventMessages as Messages, mediaIn } from "./event-messages.ts";

export function EventMessages({ messages }: { readonly messages: Messages }) {
  return (
    <div className="event-content">
      <MessageView messages={[...messages.inputs, ...messages.outputs]} />
    </div>
  );
}

type PayloadProps = { readonly payload: Event };

export function EventData({ payload: { inputs, outputs } }: PayloadProps) {
  return (
    <div className="event-content">
      <Bucket title="Inputs" value={inputs} />
      <Bucket title="Outputs" value={outputs} />
    </div>
  );
}

export function EventMetadata({ payload }: PayloadProps) {
  return (
    <div className="event-content">
      <Bucket title="Configuration" value={payload.config} />
      <Bucket title="Metadata" value={payload.metadata} />
      <Bucket title="User properties" value={payload.userProperties} />
    </div>
  );
}

function Bucket({ title, value }: { readonly title: string; readonly value: object | undefined }) {
  const isEmpty = value === undefined || Object.keys(value).length === 0;
  const media = useMemo(() => mediaIn(value), [value]);
  return (
    <section className="event-bucket">
      <h3>
        {title}
        {isEmpty ? null : <Copy what={title.toLowerCase()} text={() => pretty(value)} />}
      </h3>
      {isEmpty ? <p>None were logged.</p> : <JsonView label={title} value={value} openDepth={3} />}
      {media.map((one, index) => (
        <Media key={index} {...one} />
      ))}
    </section>
  );
}

/** Characters that are drawn at first: about a hundred lines. */
const rawChars = 8_000;

export function EventRaw({ payload }: PayloadProps) {
  const text = useMemo(() => rawJson(payload), [payload]);
  return (
    <div className="event-content">
      <section className="event-bucket">
        <h3>
          The event as the API answers it
          <Copy what="JSON" text={text} />
        </h3>
        <TextView text={text} kind="mono" previewChars={rawChars} />
      </section>
    </div>
  );
}

/** Returns the event as the REST API answers it. */
export function rawJson(payload: Event): string {
  return pretty(toJson(EventSchema, payload, { useProtoFieldName: true }));
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
