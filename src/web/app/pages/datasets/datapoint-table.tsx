// DatapointTable: the datapoints of a dataset, read page by page.

import { FileUp, Rows3 } from "lucide-react";
import { useCallback, useMemo } from "react";
import { type Datapoint, DatapointService } from "../../../../../gen/waggle/v1/datapoint_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useMore, useRpcPages } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { idColumn, timeColumn } from "../../design/columns.tsx";
import { previewOf } from "../../design/preview.ts";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { useRowPages } from "../../shell/row-pages.ts";
import { summarizeEvent } from "../traces/event-summary.ts";

const pageSize = 200;

function Preview({ value }: { readonly value: unknown }) {
  const text = previewOf(value);
  return (
    <span className="truncate" title={text}>
      {text}
    </span>
  );
}

/** Returns the inputs; of a chat without any, whose question is in the history, the question. */
function askedBy({ inputs = {}, history }: Datapoint): unknown {
  if (history.length === 0 || Object.keys(inputs).length > 0) return inputs;
  return summarizeEvent({ inputs: { chat_history: history } }).question;
}

const columns: readonly Column<Datapoint>[] = [
  {
    id: "inputs",
    header: "Inputs",
    width: 300,
    grow: 2,
    cell: (datapoint) => <Preview value={askedBy(datapoint)} />,
  },
  {
    id: "ground-truth",
    header: "Ground truth",
    width: 240,
    grow: 2,
    cell: ({ groundTruth }) => <Preview value={groundTruth} />,
  },
  {
    id: "metadata",
    header: "Metadata",
    width: 140,
    grow: 1,
    cell: ({ metadata }) => <Preview value={metadata} />,
  },
  timeColumn({
    id: "changed",
    isMajor: true,
    header: "Changed",
    at: ({ updatedAt, createdAt }) => updatedAt ?? createdAt,
  }),
  idColumn({ idOf: ({ id }) => id }),
];

export type DatapointTableProps = {
  readonly datasetId: string;
  readonly version: number | undefined;
  readonly openId: string | undefined;
  /** Undefined where the person may not import. */
  readonly onImport: (() => void) | undefined;
};

export function DatapointTable(props: DatapointTableProps) {
  const { datasetId, version, openId, onImport } = props;
  const pages = useRpcPages(DatapointService.method.listDatapoints, {
    datasetId,
    limit: pageSize,
    ...(version !== undefined && { version }),
  });
  const projectId = useCurrentProjectId();
  const rowPages = useRowPages(
    useCallback(
      ({ id: datapoint }: Datapoint) => ({
        to: "/app/p/$projectId/datasets/$datasetId",
        params: { projectId, datasetId },
        search: { datapoint, ...(version !== undefined && { version }) },
      }),
      [projectId, datasetId, version],
    ),
  );
  const rows = useMemo(
    () => pages.data?.pages.flatMap(({ datapoints }) => datapoints),
    [pages.data],
  );
  const more = useMore(pages);
  const state = <ReadState read={pages} what="Loading datapoints" />;
  if (rows === undefined) return state;
  return (
    <>
      {state}
      <Table
        label="Datapoints"
        isMain
        widthsKey="datapoints"
        columns={columns}
        rows={rows}
        idOf={({ id }) => id}
        openId={openId}
        {...rowPages}
        {...more}
        empty={
          <EmptyState
            icon={<Rows3 />}
            title="No datapoints yet"
            action={
              onImport && (
                <Button variant="primary" icon={<FileUp />} onClick={onImport}>
                  Import a file
                </Button>
              )
            }
          >
            {onImport
              ? "Import JSON Lines, CSV or Parquet, take events by filters, or write one by hand."
              : null}
          </EmptyState>
        }
      />
    </>
  );
}
