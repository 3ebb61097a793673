// DatasetVersions: what each version of a dataset added, changed and removed.

import { useCallback, useMemo } from "react";
import { DatasetService, type DatasetVersion } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useMore, useRpcPages } from "../../api/query.ts";
import { countColumn, timeColumn } from "../../design/columns.tsx";
import { ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { useRowPages } from "../../shell/row-pages.ts";

const columns: readonly Column<DatasetVersion>[] = [
  {
    id: "version",
    header: "Version",
    width: 100,
    cell: ({ version }) => <span className="numeric">v{version}</span>,
  },
  countColumn({ id: "added", header: "Added", width: 90, count: ({ added }) => added }),
  countColumn({ id: "changed", header: "Changed", width: 90, count: ({ changed }) => changed }),
  countColumn({ id: "removed", header: "Removed", width: 90, count: ({ removed }) => removed }),
  countColumn({
    id: "datapoints",
    header: "Datapoints",
    width: 110,
    count: ({ numDatapoints }) => numDatapoints,
  }),
  timeColumn({
    id: "made",
    isMajor: true,
    header: "Made",
    width: 120,
    grow: 1,
    at: ({ createdAt }) => createdAt,
  }),
];

export function DatasetVersions({ datasetId }: { readonly datasetId: string }) {
  const pages = useRpcPages(DatasetService.method.listDatasetVersions, { datasetId, limit: 200 });
  const projectId = useCurrentProjectId();
  const rowPages = useRowPages(
    useCallback(
      ({ version }: DatasetVersion) => ({
        to: "/app/p/$projectId/datasets/$datasetId",
        params: { projectId, datasetId },
        search: { version },
      }),
      [projectId, datasetId],
    ),
  );
  const rows = useMemo(() => pages.data?.pages.flatMap(({ versions }) => versions), [pages.data]);
  const more = useMore(pages);
  const state = <ReadState read={pages} what="Loading versions" />;
  if (rows === undefined) return state;
  return (
    <>
      {state}
      <Table
        label="Versions"
        isMain
        columns={columns}
        rows={rows}
        idOf={({ version }) => String(version)}
        {...rowPages}
        {...more}
      />
    </>
  );
}
