// One queue: how far it is, its events, and how far the reviewers agree.

import { useNavigate, useRouter } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { type QueueItem, QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { toApiError } from "../../api/errors.ts";
import { useMore, useRpc, useRpcPages } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { ItemActs } from "../../design/item-acts.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { showToast } from "../../design/toast.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Crumbs } from "../../shell/crumbs.tsx";
import { Page } from "../../shell/page.tsx";
import type { EventSummary } from "../traces/event-summary.ts";
import { QuestionLine } from "../traces/summary-line.tsx";
import { useSummariesOf } from "../traces/use-event-summaries.ts";
import { addByHand, isByHand } from "./by-hand.ts";
import { QueueAgreementView } from "./queue-agreement.tsx";
import { QueueDialog } from "./queue-dialog.tsx";
import { QueueProgressView } from "./queue-progress.tsx";
import { ReviewsDialog } from "./reviews-dialog.tsx";
import { queueRoute } from "./route.tsx";
import { readSessionIds, useSessionIds } from "./use-session-ids.ts";
import "../../design/layout.css";
import "./queues.css";

/** Other people review the queue, change it and delete it meanwhile. */
const refreshMs = 5_000;

const tones = { completed: "good", claimed: "info" } as const;

/** An event of the queue with its question, its answer and its session. */
type Row = QueueItem & {
  readonly summary: EventSummary | null | undefined;
  /** Undefined while it is read, null if it could not be. */
  readonly sessionId: string | null | undefined;
};

const columnsOf = (onScores: (eventId: string) => void): readonly Column<Row>[] => [
  {
    id: "state",
    header: "State",
    width: 110,
    cell: ({ state }) => (
      <Status tone={tones[state as keyof typeof tones] ?? "neutral"}>{state}</Status>
    ),
  },
  {
    id: "question",
    isMajor: true,
    header: "Question",
    width: 220,
    grow: 3,
    cell: ({ summary }) => <QuestionLine summary={summary} />,
  },
  textColumn({
    id: "reviewers",
    header: "Reviewers",
    width: 180,
    grow: 1,
    text: ({ reviews }) => reviews.map(({ name }) => name).join(", ") || undefined,
  }),
  {
    id: "scores",
    header: "Scores",
    width: 84,
    hasControl: true,
    // The service tells the scores of a completed event only.
    cell: ({ state, eventId }) =>
      state === "completed" ? (
        <Button
          size="small"
          aria-label={`Scores of ${eventId}`}
          onClick={(event) => {
            event.stopPropagation();
            onScores(eventId);
          }}
        >
          Scores
        </Button>
      ) : null,
  },
  timeColumn({ id: "added", header: "Came in", at: ({ addedAt }) => addedAt }),
  idColumn({ id: "event", header: "Event", idOf: ({ eventId }) => eventId }),
];

export function QueuePage() {
  const { projectId, queueId } = queueRoute.useParams();
  const navigate = useNavigate();
  const may = useMay();
  const { getQueue, claimQueueItem, updateQueue, deleteQueue } = QueueService.method;
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const { data: queue, error, refetch } = useRpc(getQueue, { id: queueId }, { refreshMs });
  const isGone = error?.errorCode === "NOT_FOUND";
  const mayReview = !isGone && may(claimQueueItem);
  const title = queue?.name ?? "Queue";
  const annotate = () =>
    void navigate({
      to: "/app/p/$projectId/queues/$queueId/annotate",
      params: { projectId, queueId },
    });
  useCommands([
    mayReview && { id: "queue.annotate", title: "Review events", keys: "r", run: annotate },
  ]);
  return (
    <Page
      title={title}
      breadcrumb={<Crumbs list="queues" name={title} />}
      actions={
        <>
          {mayReview ? (
            <Button size="small" variant="primary" icon={<Play />} onClick={annotate}>
              Review
            </Button>
          ) : null}
          <ItemActs
            item="queue"
            onChange={!isGone && may(updateQueue) && (() => setDialog("edit"))}
            onDelete={!isGone && may(deleteQueue) && (() => setDialog("delete"))}
          />
        </>
      }
    >
      {isGone ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="scroll">
          <QueueItems queueId={queueId} isByHand={queue !== undefined && isByHand(queue)} />
          <QueueAgreementView queueId={queueId} />
        </div>
      )}
      {dialog === "edit" && queue ? (
        <QueueDialog
          queue={queue}
          onClose={() => setDialog(undefined)}
          onSaved={() => setDialog(undefined)}
        />
      ) : null}
      {dialog === "delete" ? (
        <ConfirmCall
          onClose={() => setDialog(undefined)}
          title="Delete this queue?"
          description="Open claims end. The scores that people gave stay on the events."
          action="Delete queue"
          busyLabel="Deleting"
          typedName={title}
          method={deleteQueue}
          input={{ id: queueId }}
          changes={[QueueService.method.listQueues]}
          onDone={() => void navigate({ to: "/app/p/$projectId/queues", params: { projectId } })}
        />
      ) : null}
    </Page>
  );
}

type QueueItemsProps = { readonly queueId: string; readonly isByHand: boolean };

function QueueItems({ queueId, isByHand: isFilledByHand }: QueueItemsProps) {
  const [scored, setScored] = useState<string>();
  const columns = useMemo(() => columnsOf(setScored), []);
  const pages = useRpcPages(
    QueueService.method.listQueueItems,
    { id: queueId, limit: 200 },
    { refreshMs },
  );
  const items = useMemo(() => pages.data?.pages.flatMap((page) => page.items), [pages.data]);
  const eventIds = useMemo(() => (items ?? []).map(({ eventId }) => eventId), [items]);
  const summaries = useSummariesOf(eventIds);
  const sessionIdOf = useSessionIds(eventIds);
  const rows = useMemo(
    () =>
      items?.map((item) => ({
        ...item,
        summary: summaries.get(item.eventId),
        sessionId: sessionIdOf(item.eventId),
      })),
    [items, summaries, sessionIdOf],
  );
  const { openEvent, hrefOf } = useEventPages();
  const more = useMore(pages);
  const progress = pages.data?.pages[0]?.progress;
  const state = <ReadState read={pages} what="Loading the events" />;
  if (!rows) return state;
  return (
    <section className="section">
      {progress ? <QueueProgressView progress={progress} /> : null}
      {state}
      <div className="queue-items">
        <Table
          label="Events of the queue"
          isMain
          columns={columns}
          rows={rows}
          idOf={({ eventId }) => eventId}
          onOpen={(row) => void openEvent(row)}
          hrefOf={hrefOf}
          {...more}
          empty={
            <p className="soft scroll">
              No events yet.{" "}
              {isFilledByHand
                ? addByHand
                : "Those that match the filters come in within seconds of being sent."}
            </p>
          }
        />
      </div>
      {scored === undefined ? null : (
        <ReviewsDialog queueId={queueId} eventId={scored} onClose={() => setScored(undefined)} />
      )}
    </section>
  );
}

/** Returns how an event is opened in its session, and the address of that. */
function useEventPages() {
  const { projectId } = queueRoute.useParams();
  const navigate = useNavigate();
  const router = useRouter();
  const openEvent = async ({ eventId, sessionId: known }: Row): Promise<void> => {
    try {
      const sessionId = known ?? (await readSessionIds({ projectId, ids: [eventId] })).get(eventId);
      if (typeof sessionId === "string") await navigate(toEvent(projectId, sessionId, eventId));
      else showToast({ text: "The event was deleted, or it belongs to no session.", tone: "bad" });
    } catch (error) {
      showToast({ text: toApiError(error).message, tone: "bad" });
    }
  };
  const hrefOf = useCallback(
    ({ eventId, sessionId }: Row) =>
      typeof sessionId === "string"
        ? router.buildLocation(toEvent(projectId, sessionId, eventId)).href
        : undefined,
    [router, projectId],
  );
  return { openEvent, hrefOf };
}

function toEvent(projectId: string, sessionId: string, eventId: string) {
  return {
    to: "/app/p/$projectId/traces/$sessionId",
    params: { projectId, sessionId },
    search: { event: eventId },
  } as const;
}
