// The datasets of a project, and the dialog that makes one.

import { Database, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { type Dataset, DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { useMore, useRpcPages } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { countColumn, idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { type Column, Table, type TableProps } from "../../design/table.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { useItemPages } from "../../shell/row-pages.ts";
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
  const mayCreate = useMay()(DatasetService.method.createDataset);
  const [isCreating, setCreating] = useState(false);
  const pages = useItemPages("datasets");
  useCommands([
    mayCreate && {
      id: "datasets.create",
      title: "Create a dataset",
      keys: "n",
      run: () => setCreating(true),
    },
  ]);
  const create = mayCreate && (
    <Button size="small" variant="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      Create dataset
    </Button>
  );
  return (
    <Page title="Datasets" actions={create}>
      <DatasetList {...pages} create={create} />
      {isCreating ? (
        <DatasetNameDialog
          onClose={() => setCreating(false)}
          onCreated={(id) => pages.onOpen({ id })}
        />
      ) : null}
    </Page>
  );
}

type DatasetListProps = Pick<TableProps<Dataset>, "onOpen" | "hrefOf"> & {
  readonly create: React.ReactNode;
};

function DatasetList({ onOpen, hrefOf, create }: DatasetListProps) {
  const pages = useRpcPages(DatasetService.method.listDatasets, { limit: 100 });
  const rows = useMemo(() => pages.data?.pages.flatMap(({ datasets }) => datasets), [pages.data]);
  const more = useMore(pages);
  const state = <ReadState read={pages} what="Loading datasets" />;
  if (rows === undefined) return state;
  return (
    <>
      {state}
      <Table
        label="Datasets"
        isMain
        widthsKey="datasets"
        columns={columns}
        rows={rows}
        idOf={({ id }) => id}
        onOpen={onOpen}
        hrefOf={hrefOf}
        {...more}
        empty={
          <EmptyState icon={<Database />} title="No datasets yet" action={create}>
            A dataset holds the inputs that experiments run on. It is filled from events or from a
            file.
          </EmptyState>
        }
      />
    </>
  );
}
