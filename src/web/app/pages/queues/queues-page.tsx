// The annotation queues of a project.

import { ListChecks } from "lucide-react";
import { type Queue, QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { sharedRefreshMs, useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import { EmptyState } from "../../design/states.tsx";
import type { Column } from "../../design/table.tsx";
import { Count } from "../../design/values.tsx";
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
    isMajor: true,
    header: "Waiting",
    width: 90,
    align: "end",
    cell: ({ id }) => <QueueCount queueId={id} state="pending" />,
  },
  {
    id: "done",
    header: "Completed",
    width: 100,
    align: "end",
    cell: ({ id }) => <QueueCount queueId={id} state="completed" />,
  },
  {
    id: "reviewers",
    header: "Reviewers an event",
    width: 150,
    align: "end",
    cell: ({ reviewersPerEvent }) => <span className="numeric">{reviewersPerEvent}</span>,
  },
  timeColumn({ id: "created", header: "Created", at: ({ createdAt }) => createdAt }),
  idColumn({ idOf: ({ id }) => id }),
];

type QueueCountProps = { readonly queueId: string; readonly state: "pending" | "completed" };

function QueueCount({ queueId, state }: QueueCountProps) {
  const { data } = useRpc(QueueService.method.listQueueItems, { id: queueId, limit: 1 });
  return <Count value={data?.progress?.[state]} />;
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
