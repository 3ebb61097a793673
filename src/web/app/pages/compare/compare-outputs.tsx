// The outputs and errors of one aligned step in both sessions, and whether they differ.

import { Badge } from "../../design/badge.tsx";
import { JsonView } from "../../design/json-view.tsx";
import { MessageView } from "../../design/message-view.tsx";
import { ReadState } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import { messagesOf } from "../session/event-messages.ts";
import type { SessionEvent } from "../session/session-event.ts";
import { TypeIcon } from "../session/type-icon.tsx";
import { usePayload } from "../session/use-payload.ts";
import type { AlignedRow } from "./align-trees.ts";
import "../../design/states.css";

export function CompareOutputs({ row }: { readonly row: AlignedRow }) {
  const { a, b } = row;
  const event = a ?? b;
  return (
    <section className="compare-outputs" aria-label="Outputs of the chosen step">
      <h2>
        <TypeIcon type={event?.type ?? ""} />
        <span className="truncate">{event?.name}</span>
        {a && b ? <Verdict a={a} b={b} /> : <Badge tone="warn">in one session only</Badge>}
      </h2>
      {a ? <Side letter="A" event={a} /> : null}
      {b ? <Side letter="B" event={b} /> : null}
    </section>
  );
}

function Verdict({ a, b }: { readonly a: SessionEvent; readonly b: SessionEvent }) {
  const [left, right] = [usePayload(a.id).data, usePayload(b.id).data];
  if (!left || !right) return null;
  const isSame =
    JSON.stringify(left.outputs ?? {}) === JSON.stringify(right.outputs ?? {}) &&
    (left.error ?? "") === (right.error ?? "");
  return isSame ? <Badge>same outputs</Badge> : <Badge tone="accent">outputs differ</Badge>;
}

function Side({ letter, event }: { readonly letter: string; readonly event: SessionEvent }) {
  const payload = usePayload(event.id);
  const { data } = payload;
  const { type: eventType } = event;
  const messages = data ? messagesOf({ eventType, outputs: data.outputs }).outputs : [];
  const isEmpty = Object.keys(data?.outputs ?? {}).length === 0;
  return (
    <section>
      <h3>
        <span className="compare-letter">{letter}</span> Outputs
      </h3>
      <ReadState read={payload} what="Loading the outputs" isInline />
      {data?.error ? (
        <div className="failure-box">
          <TextView text={data.error} previewChars={600} kind="mono" />
        </div>
      ) : null}
      {messages.length > 0 ? (
        <MessageView messages={messages} />
      ) : data && isEmpty ? (
        <p>None were logged.</p>
      ) : data ? (
        <JsonView label={`Outputs of ${letter}`} value={data.outputs} openDepth={3} />
      ) : null}
    </section>
  );
}
