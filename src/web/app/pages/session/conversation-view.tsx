// ConversationView: the chats of the session's model events as one conversation. Payloads come
// fifty calls at a time, when the end of those before comes near.

import { useInfiniteQuery } from "@tanstack/react-query";
import { MessagesSquare } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { rpcKey } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
import { MessageView } from "../../design/message-view.tsx";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { Cost, Duration, Tokens } from "../../design/values.tsx";
import { toCallMessages, toTurns, type Turn } from "./conversation.ts";
import type { EventMessages } from "./event-messages.ts";
import type { SessionTree } from "./session-tree.ts";
import { TypeIcon } from "./type-icon.tsx";
import "./conversation.css";

const method = ExportService.method.getEvents;
const callsAtOnce = 50;

export type ConversationViewProps = {
  readonly tree: SessionTree;
  readonly selected: number;
  readonly onSelect: (at: number) => void;
};

export function ConversationView({ tree, selected, onSelect }: ConversationViewProps) {
  const models = useMemo(() => modelEvents(tree), [tree]);
  const { turns, query } = useTurns(tree, models);
  if (models.length === 0) {
    return (
      <EmptyState icon={<MessagesSquare />} title="No model was called">
        The conversation is made of the model events of a session. Look at the tree for what ran.
      </EmptyState>
    );
  }
  if (query.error && turns.length === 0) {
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <div className="conversation" tabIndex={0} role="group" aria-label="Conversation">
      {turns.map((turn) => (
        <TurnView
          key={tree.nodes[turn.event]?.event.id}
          tree={tree}
          turn={turn}
          isSelected={turn.event === selected}
          onSelect={onSelect}
        />
      ))}
      {query.error ? (
        <ErrorState error={query.error} isInline onRetry={() => void query.fetchNextPage()} />
      ) : query.hasNextPage || query.isPending ? (
        <MoreWhenSeen isBusy={query.isFetching} onSeen={() => void query.fetchNextPage()} />
      ) : null}
    </div>
  );
}

function modelEvents({ nodes }: SessionTree): readonly number[] {
  const found = nodes.flatMap(({ event }, at) => (event.type === "model" ? [at] : []));
  const startOf = (at: number) => nodes[at]?.event.startMs ?? 0;
  return found.toSorted((a, b) => startOf(a) - startOf(b));
}

type Call = { readonly id: string; readonly messages: EventMessages };

function useTurns(tree: SessionTree, models: readonly number[]) {
  const projectId = useCurrentProjectId();
  const ids = useMemo(() => models.map((at) => tree.nodes[at]?.event.id ?? ""), [models, tree]);
  const query = useInfiniteQuery<
    readonly Call[],
    ApiError,
    { readonly pages: readonly (readonly Call[])[] },
    readonly unknown[],
    number
  >({
    queryKey: [...rpcKey(method, projectId, ids[0]), "conversation", ids.length],
    queryFn: async ({ signal, pageParam }) => {
      const eventIds = ids.slice(pageParam, pageParam + callsAtOnce);
      const input = { eventIds, projections: ["inputs", "outputs"] };
      const { events } = await callRpc(method, input, { projectId, signal });
      return events.map((event) => ({ id: event.eventId ?? "", messages: toCallMessages(event) }));
    },
    initialPageParam: 0,
    getNextPageParam: (_page, _pages, from) =>
      from + callsAtOnce < ids.length ? from + callsAtOnce : undefined,
    enabled: ids.length > 0,
    staleTime: 60_000,
    structuralSharing: false,
  });
  const turns = useMemo(() => {
    const calls = query.data?.pages.flat() ?? [];
    return toTurns(
      calls.map(({ id, messages }) => ({ event: tree.indexOf.get(id) ?? 0, messages })),
    );
  }, [query.data, tree]);
  return { turns, query };
}

type TurnViewProps = {
  readonly tree: SessionTree;
  readonly turn: Turn<number>;
  readonly isSelected: boolean;
  readonly onSelect: (at: number) => void;
};

function TurnView({ tree, turn, isSelected, onSelect }: TurnViewProps) {
  const event = tree.nodes[turn.event]?.event;
  const head = useRef<HTMLButtonElement>(null);
  // A hit of the search and the next error may be out of sight.
  useEffect(() => {
    if (isSelected) head.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  if (!event) return null;
  const { messages, repeatedCount } = turn;
  const repeated = repeatedCount === 1 ? "1 earlier message" : `${repeatedCount} earlier messages`;
  return (
    <section className="turn" data-selected={isSelected} aria-label={`Call ${event.name}`}>
      <button ref={head} type="button" className="turn-head" onClick={() => onSelect(turn.event)}>
        <TypeIcon type="model" />
        <b className="truncate">{event.name}</b>
        {event.model === undefined ? null : <span className="truncate">{event.model}</span>}
        <span className="turn-numbers">
          <Tokens value={event.totalTokens > 0 ? event.totalTokens : undefined} />
          <Cost value={event.cost} isEstimate={event.isCostEstimate} />
          <Duration value={event.durationMs} />
        </span>
      </button>
      {repeatedCount > 0 ? <p className="turn-repeated">Sent again: {repeated}</p> : null}
      {event.error === undefined ? null : <p className="turn-error">{event.error}</p>}
      {messages.length === 0 ? (
        <p className="turn-repeated">
          {repeatedCount > 0
            ? "No new messages in this call."
            : "No inputs or outputs were logged."}
        </p>
      ) : (
        <MessageView messages={messages} />
      )}
    </section>
  );
}

type MoreWhenSeenProps = { readonly isBusy: boolean; readonly onSeen: () => void };

function MoreWhenSeen({ isBusy, onSeen }: MoreWhenSeenProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element || isBusy) return undefined;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && onSeen(),
      { rootMargin: "600px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isBusy, onSeen]);
  return (
    <div ref={place}>
      <Loading what="Loading messages" />
    </div>
  );
}
