// The annotation queues of a project.

import { ListChecks, Plus } from "lucide-react";
import { useState } from "react";
import { type Queue, QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { Count } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { useItemPages } from "../../shell/row-pages.ts";
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
  const mayCreate = useMay()(QueueService.method.createQueue);
  const [isCreating, setCreating] = useState(false);
  const list = useRpc(QueueService.method.listQueues, {});
  const { data } = list;
  const { onOpen, hrefOf } = useItemPages("queues");
  useCommands([
    mayCreate && {
      id: "queues.create",
      title: "Create a queue",
      keys: "n",
      run: () => setCreating(true),
    },
  ]);
  const create = mayCreate && (
    <Button size="small" variant="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      Create queue
    </Button>
  );
  return (
    <Page title="Queues" actions={create}>
      <ReadState read={list} what="Loading queues" />
      {data ? (
        <Table
          label="Queues"
          isMain
          widthsKey="queues"
          columns={columns}
          rows={data.queues}
          idOf={({ id }) => id}
          onOpen={onOpen}
          hrefOf={hrefOf}
          empty={
            <EmptyState icon={<ListChecks />} title="No queues yet" action={create}>
              A queue holds events that people score. Events that match its filters come in by
              themselves.
            </EmptyState>
          }
        />
      ) : null}
      {isCreating ? (
        <QueueDialog onClose={() => setCreating(false)} onSaved={(id) => onOpen({ id })} />
      ) : null}
    </Page>
  );
}
