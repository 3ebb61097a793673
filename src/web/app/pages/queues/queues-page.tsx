// The annotation queues of a project.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ListChecks, Plus } from "lucide-react";
import { useCallback, useState } from "react";
import { type Queue, QueueService } from "../../../../../gen/waggle/v1/queue_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpc } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { timeWidth } from "../../design/table-model.ts";
import { Count, Identifier, Time } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { useRowPages } from "../../shell/row-pages.ts";
import { isByHand } from "./by-hand.ts";
import { QueueDialog } from "./queue-dialog.tsx";

const columns: readonly Column<Queue>[] = [
  {
    id: "name",
    header: "Queue",
    width: 200,
    grow: 1,
    sortValue: ({ name }) => name,
    cell: ({ name }) => <span className="truncate">{name}</span>,
  },
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
  {
    id: "created",
    header: "Created",
    width: timeWidth,
    cell: ({ createdAt }) => <Time value={createdAt && timestampMs(createdAt)} />,
  },
  {
    id: "id",
    header: "Id",
    width: 168,
    hasControl: true,
    cell: ({ id }) => <Identifier value={id} />,
  },
];

type QueueCountProps = { readonly queueId: string; readonly state: "pending" | "completed" };

function QueueCount({ queueId, state }: QueueCountProps) {
  const { data } = useRpc(QueueService.method.listQueueItems, { id: queueId, limit: 1 });
  return <Count value={data?.progress?.[state]} />;
}

export function QueuesPage() {
  const projectId = useCurrentProjectId();
  const mayCreate = useMay()(QueueService.method.createQueue);
  const [isCreating, setCreating] = useState(false);
  const list = useRpc(QueueService.method.listQueues, {});
  const { data } = list;
  const { onOpen, hrefOf } = useRowPages(
    useCallback(
      ({ id: queueId }: Pick<Queue, "id">) => ({
        to: "/app/p/$projectId/queues/$queueId",
        params: { projectId, queueId },
      }),
      [projectId],
    ),
  );
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
