// The datasets of a project, and the dialog that makes one.

import { Database } from "lucide-react";
import { useMemo } from "react";
import { type Dataset, DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { sharedRefreshMs, useMore, useRpcPages } from "../../api/query.ts";
import { countColumn, idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import { EmptyState } from "../../design/states.tsx";
import type { Column } from "../../design/table.tsx";
import { ItemTable, useNewItem } from "../../shell/item-table.tsx";
import { Page } from "../../shell/page.tsx";
import { DatasetNameDialog } from "./dataset-name-dialog.tsx";

const columns: readonly Column<Dataset>[] = [
  textColumn({ id: "name", header: "Dataset", width: 220, grow: 1, text: ({ name }) => name }),
  countColumn({
    id: "datapoints",
    isMajor: true,
    header: "Datapoints",
    width: 100,
    count: ({ numDatapoints }) => numDatapoints,
  }),
  {
    id: "version",
    header: "Version",
    width: 80,
    align: "end",
    cell: ({ version }) => <span className="numeric">v{version}</span>,
  },
  textColumn({
    id: "description",
    header: "Description",
    width: 220,
    grow: 1,
    text: ({ description }) => description,
  }),
  timeColumn({
    id: "updated",
    header: "Changed",
    at: ({ updatedAt, createdAt }) => updatedAt ?? createdAt,
  }),
  idColumn({ idOf: ({ id }) => id }),
];

export function DatasetsPage() {
  const pages = useRpcPages(
    DatasetService.method.listDatasets,
    { limit: 100 },
    { refreshMs: sharedRefreshMs },
  );
  const rows = useMemo(() => pages.data?.pages.flatMap(({ datasets }) => datasets), [pages.data]);
  const more = useMore(pages);
  const { create, creating } = useNewItem({
    path: "datasets",
    method: DatasetService.method.createDataset,
    title: "Create a dataset",
    label: "Create dataset",
    dialog: (onClose, onCreated) => <DatasetNameDialog onClose={onClose} onCreated={onCreated} />,
  });
  return (
    <Page title="Datasets" actions={create}>
      <ItemTable
        path="datasets"
        label="Datasets"
        read={pages}
        columns={columns}
        rows={rows}
        {...more}
        empty={
          <EmptyState icon={<Database />} title="No datasets yet" action={create}>
            A dataset holds the inputs that experiments run on. It is filled from events or from a
            file.
          </EmptyState>
        }
      />
      {creating}
    </Page>
  );
}
