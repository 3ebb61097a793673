// The datasets of a project, and the dialog that makes one.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Database, Plus } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { type Dataset, DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useMore, useRpcPages } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { EmptyState, ReadState } from "../../design/states.tsx";
import { type Column, Table, type TableProps } from "../../design/table.tsx";
import { timeWidth } from "../../design/table-model.ts";
import { Count, Identifier, Time } from "../../design/values.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { useRowPages } from "../../shell/row-pages.ts";
import { DatasetNameDialog } from "./dataset-name-dialog.tsx";

const columns: readonly Column<Dataset>[] = [
  {
    id: "name",
    header: "Dataset",
    width: 220,
    grow: 1,
    cell: ({ name }) => <span className="truncate">{name}</span>,
  },
  {
    id: "datapoints",
    isMajor: true,
    header: "Datapoints",
    width: 100,
    align: "end",
    cell: ({ numDatapoints }) => <Count value={numDatapoints} />,
  },
  {
    id: "version",
    header: "Version",
    width: 80,
    align: "end",
    cell: ({ version }) => <span className="numeric">v{version}</span>,
  },
  {
    id: "description",
    header: "Description",
    width: 220,
    grow: 1,
    cell: ({ description }) => (
      <span className="truncate" title={description}>
        {description ?? "–"}
      </span>
    ),
  },
  {
    id: "updated",
    header: "Changed",
    width: timeWidth,
    cell: ({ updatedAt, createdAt }) => {
      const at = updatedAt ?? createdAt;
      return <Time value={at && timestampMs(at)} />;
    },
  },
  {
    id: "id",
    header: "Id",
    width: 168,
    hasControl: true,
    cell: ({ id }) => <Identifier value={id} />,
  },
];

export function DatasetsPage() {
  const projectId = useCurrentProjectId();
  const mayCreate = useMay()(DatasetService.method.createDataset);
  const [isCreating, setCreating] = useState(false);
  const pages = useRowPages(
    useCallback(
      ({ id: datasetId }: Pick<Dataset, "id">) => ({
        to: "/app/p/$projectId/datasets/$datasetId",
        params: { projectId, datasetId },
      }),
      [projectId],
    ),
  );
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
  const pages = useRpcPages(
    DatasetService.method.listDatasets,
    { limit: 100 },
    { cursorOf: ({ nextCursor }) => nextCursor },
  );
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
