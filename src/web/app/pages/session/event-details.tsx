// The chosen event: what it is, how it went, and tabs with its payload, scores and raw form.

import { CornerLeftUp } from "lucide-react";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { ReadState } from "../../design/states.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { TextView } from "../../design/text-view.tsx";
import { Cost, Duration, Identifier, KeyValue, Time, Tokens } from "../../design/values.tsx";
import { EventActions } from "./event-actions.tsx";
import { EventData, EventMessages, EventMetadata, EventRaw } from "./event-content.tsx";
import { EventScores } from "./event-scores.tsx";
import { messagesOf } from "./event-messages.ts";
import { type EventTab, sessionRoute, type SessionSearch } from "./route.tsx";
import { childrenOf, type SessionTree, type TreeNode } from "./session-tree.ts";
import { TypeIcon } from "./type-icon.tsx";
import { usePayload } from "./use-payload.ts";
import "../../design/states.css";
import "./event-details.css";

export type EventDetailsProps = {
  readonly tree: SessionTree;
  readonly at: number;
  readonly onSelect: (at: number) => void;
};

export function EventDetails({ tree, at, onSelect }: EventDetailsProps) {
  const { event } = tree.nodes[at] as TreeNode;
  const payload = usePayload(event.id);
  const isCall = event.type !== "session";
  return (
    <section className="event-details" aria-label="Chosen event">
      <header>
        <div className="event-title">
          <TypeIcon type={event.type} />
          <h2 className="truncate" title={event.name}>
            {event.name}
          </h2>
          <EventActions event={event} payload={payload.data} />
        </div>
        <KeyValue
          isRow
          items={[
            { label: "Duration", value: <Duration value={event.durationMs} /> },
            isCall && {
              label: "Tokens",
              value: (
                <Tokens
                  value={event.totalTokens > 0 ? event.totalTokens : undefined}
                  prompt={event.promptTokens}
                  completion={event.completionTokens}
                />
              ),
            },
            isCall && {
              label: "Cost",
              value: <Cost value={event.cost} isEstimate={event.isCostEstimate} />,
            },
            !!event.model && { label: "Model", value: event.model },
            { label: "Started", value: <Time value={event.startMs} /> },
            { label: "Id", value: <Identifier value={event.id} /> },
          ]}
        />
        <Relatives tree={tree} at={at} onSelect={onSelect} />
      </header>
      <Failure payload={payload.data} fallback={event.error} />
      {payload.data && !payload.error ? (
        <EventTabs key={event.id} payload={payload.data} />
      ) : (
        <ReadState read={payload} what="Loading the payload" />
      )}
    </section>
  );
}

function Failure(props: { readonly payload: Event | undefined; readonly fallback?: string }) {
  const error = props.payload?.error ?? props.fallback;
  if (error === undefined || error === "") return null;
  return (
    <div className="failure-box event-failure" role="group" aria-label="Error of the event">
      <b>Error</b>
      <TextView text={error} previewChars={600} kind="mono" />
    </div>
  );
}

const childrenShown = 6;

function Relatives({ tree, at, onSelect }: EventDetailsProps) {
  const { parent } = tree.nodes[at] as TreeNode;
  const children = childrenOf(tree, at);
  const above = tree.nodes[parent];
  if (!above && children.length === 0) return null;
  return (
    <nav className="event-relatives" aria-label="Parent and children">
      {above ? (
        <button
          type="button"
          title={`Parent: ${above.event.name}`}
          onClick={() => onSelect(parent)}
        >
          <CornerLeftUp aria-hidden />
          <span className="truncate">{above.event.name}</span>
        </button>
      ) : null}
      {children.slice(0, childrenShown).map((child) => (
        <button
          key={child}
          type="button"
          title={`Child: ${tree.nodes[child]?.event.name ?? ""}`}
          onClick={() => onSelect(child)}
        >
          <TypeIcon type={tree.nodes[child]?.event.type ?? ""} />
          <span className="truncate">{tree.nodes[child]?.event.name}</span>
        </button>
      ))}
      {children.length > childrenShown ? (
        <span className="numeric">+{children.length - childrenShown} more</span>
      ) : null}
    </nav>
  );
}

function EventTabs({ payload }: { readonly payload: Event }) {
  const { tab } = sessionRoute.useSearch();
  const navigate = sessionRoute.useNavigate();
  const messages = messagesOf(payload);
  const hasMessages = messages.inputs.length + messages.outputs.length > 0;
  const first: EventTab = hasMessages ? "messages" : "data";
  const chosen = tab === "messages" && !hasMessages ? first : (tab ?? first);
  return (
    <Tabs
      label="Parts of the event"
      value={chosen}
      onChange={(next) =>
        void navigate({
          to: ".",
          search: (before: SessionSearch) => ({ ...before, tab: next as EventTab }),
          replace: true,
        })
      }
      tabs={[
        hasMessages && {
          value: "messages",
          label: "Messages",
          content: <EventMessages messages={messages} />,
        },
        { value: "data", label: "Inputs & outputs", content: <EventData payload={payload} /> },
        { value: "scores", label: "Scores & feedback", content: <EventScores event={payload} /> },
        { value: "metadata", label: "Metadata", content: <EventMetadata payload={payload} /> },
        { value: "raw", label: "Raw", content: <EventRaw payload={payload} /> },
      ]}
    />
  );
}
