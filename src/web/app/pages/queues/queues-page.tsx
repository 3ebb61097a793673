// The annotation queues of a project.

import { Link } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { type Queue, QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { sharedRefreshMs, useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import { formatCount } from "../../design/format.ts";
import { EmptyState, formatDone, Progress } from "../../design/states.tsx";
import type { Column } from "../../design/table.tsx";
import { Count } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { ItemTable, useNewItem } from "../../shell/item-table.tsx";
import { Page } from "../../shell/page.tsx";
import { isByHand } from "./by-hand.ts";
import { QueueDialog } from "./queue-dialog.tsx";

const columns: readonly Column<Queue>[] = [
  textColumn({
    id: "name",
    header: "Queue",
    width: 200,
    grow: 1,
    sortValue: ({ name }) => name,
    text: ({ name }) => name,
  }),
  {
    id: "state",
    header: "New events",
    width: 120,
    cell: (queue) =>
      isByHand(queue) ? <Status>by hand</Status> : <Status tone="good">come in</Status>,
  },
  {
    id: "waiting",
    header: "Waiting",
    width: 90,
    align: "end",
    cell: ({ id }) => <Waiting queueId={id} />,
  },
  {
    id: "done",
    header: "Reviewed",
    width: 150,
    cell: ({ id }) => <Reviewed queueId={id} />,
  },
  {
    id: "reviewers",
    header: "Reviewers an event",
    width: 140,
    align: "end",
    cell: ({ reviewersPerEvent }) => <span className="numeric">{reviewersPerEvent}</span>,
  },
  {
    id: "review",
    isMajor: true,
    header: "Review",
    width: 84,
    hasControl: true,
    cell: (queue) => <Review queue={queue} />,
  },
  timeColumn({ id: "created", header: "Created", at: ({ createdAt }) => createdAt }),
  idColumn({ idOf: ({ id }) => id }),
];

function useProgress(id: string) {
  const options = { refreshMs: sharedRefreshMs };
  return useRpc(QueueService.method.listQueueItems, { id, limit: 1 }, options).data?.progress;
}

function Waiting({ queueId }: { readonly queueId: string }) {
  return <Count value={useProgress(queueId)?.pending} />;
}

function Reviewed({ queueId }: { readonly queueId: string }) {
  const progress = useProgress(queueId);
  // A cell of a list is a link, which has a name from the start.
  if (!progress) return <span className="visually-hidden">loading</span>;
  const { pending, claimed, completed } = progress;
  const all = pending + claimed + completed;
  if (all === 0) return "no events";
  const text = `${formatCount(completed)} of ${formatCount(all)}`;
  return <Progress label={text} value={completed / all} detail={formatDone(completed / all)} />;
}

/** Leads reviewers to the next event at once. */
function Review({ queue: { id, name } }: { readonly queue: Queue }) {
  const mayReview = useMay()(QueueService.method.claimQueueItem);
  const projectId = useCurrentProjectId();
  const progress = useProgress(id);
  if (!mayReview || !progress || progress.pending + progress.claimed === 0) return null;
  return (
    <Button asChild size="small">
      <Link
        to="/app/p/$projectId/queues/$queueId/annotate"
        params={{ projectId, queueId: id }}
        aria-label={`Review ${name}`}
        onClick={(event) => event.stopPropagation()}
      >
        Review
      </Link>
    </Button>
  );
}

export function QueuesPage() {
  const list = useRpc(QueueService.method.listQueues, {}, { refreshMs: sharedRefreshMs });
  const { create, creating } = useNewItem({
    path: "queues",
    method: QueueService.method.createQueue,
    title: "Create a queue",
    label: "Create queue",
    dialog: (onClose, onSaved) => <QueueDialog onClose={onClose} onSaved={onSaved} />,
  });
  return (
    <Page title="Queues" actions={create}>
      <ItemTable
        path="queues"
        label="Queues"
        read={list}
        columns={columns}
        rows={list.data?.queues}
        empty={
          <EmptyState icon={<ListChecks />} title="No queues yet" action={create}>
            A queue holds events that people score. Events that match its filters come in by
            themselves.
          </EmptyState>
        }
      />
      {creating}
    </Page>
  );
}
