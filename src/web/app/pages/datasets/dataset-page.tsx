// One dataset: its datapoints, its versions, and everything that fills, changes and exports it.

import { Plus } from "lucide-react";
import { useState } from "react";
import { type Dataset, DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { sharedRefreshMs, useRpc } from "../../api/query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { formatCounted } from "../../design/format.ts";
import { ReadState } from "../../design/states.tsx";
import { Segments } from "../../design/tabs.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Crumbs } from "../../shell/crumbs.tsx";
import { Page } from "../../shell/page.tsx";
import { useSearchChange } from "../../shell/search.ts";
import { type DatasetAct, DatasetMenu, methodsOfActs } from "./dataset-menu.tsx";
import { DatasetActs } from "./dataset-acts.tsx";
import { DatapointDrawer } from "./datapoint-drawer.tsx";
import { DatapointTable } from "./datapoint-table.tsx";
import { DatasetVersions } from "./dataset-versions.tsx";
import { datasetRoute, type DatasetSearch } from "./route.tsx";
import "../../design/layout.css";

export function DatasetPage() {
  const { datasetId } = datasetRoute.useParams();
  const { version } = datasetRoute.useSearch();
  const answer = useRpc(
    DatasetService.method.getDataset,
    { datasetId, ...(version !== undefined && { version }) },
    { refreshMs: sharedRefreshMs },
  );
  const { data, error } = answer;
  const dataset = data?.dataset;
  if (dataset && error?.errorCode !== "NOT_FOUND") {
    return <DatasetContent key={datasetId} dataset={dataset} />;
  }
  return (
    <Page title="Dataset">
      <ReadState read={answer} what="Loading the dataset" isInline={false} />
    </Page>
  );
}

const commandsOfActs = [
  { act: "add", title: "Add a datapoint", keys: "n" },
  { act: "import", title: "Import a file", keys: "i" },
  { act: "events", title: "Add datapoints from events" },
  { act: "export", title: "Export the dataset" },
] as const;

function useMayAct(): (act: DatasetAct) => boolean {
  const may = useMay();
  return (act) => may(methodsOfActs[act]);
}

function DatasetContent({ dataset }: { readonly dataset: Dataset }) {
  const { datapoint, tab, version } = datasetRoute.useSearch();
  const setSearch = useSearchChange<DatasetSearch>();
  const [act, setAct] = useState<DatasetAct>();
  const mayAct = useMayAct();
  useCommands(
    commandsOfActs.map(
      (one) => mayAct(one.act) && { ...one, id: `dataset.${one.act}`, run: () => setAct(one.act) },
    ),
  );
  return (
    <Page
      title={dataset.name}
      breadcrumb={<Crumbs list="datasets" name={dataset.name} />}
      actions={
        <>
          {mayAct("add") ? (
            <Button size="small" icon={<Plus />} onClick={() => setAct("add")}>
              Add datapoint
            </Button>
          ) : null}
          <DatasetMenu mayAct={mayAct} onAct={setAct} />
        </>
      }
      toolbar={
        <>
          <Segments
            label="View"
            value={tab ?? "datapoints"}
            options={[
              { value: "datapoints", label: "Datapoints" },
              { value: "versions", label: "Versions" },
            ]}
            onChange={(next) => setSearch({ tab: next === "versions" ? next : undefined })}
          />
          <span className="soft" role="status">
            {formatCounted(dataset.numDatapoints, "datapoint")} in version {dataset.version}
          </span>
          {version === undefined ? null : (
            <OldVersion onLeave={() => setSearch({ version: undefined })} />
          )}
        </>
      }
    >
      {tab === "versions" ? (
        <DatasetVersions datasetId={dataset.id} />
      ) : (
        <DatapointTable
          datasetId={dataset.id}
          version={version}
          openId={datapoint}
          onImport={mayAct("import") ? () => setAct("import") : undefined}
        />
      )}
      <DatapointDrawer
        key={datapoint ?? "none"}
        datasetId={dataset.id}
        datapointId={datapoint}
        isOld={version !== undefined}
        onClose={() => setSearch({ datapoint: undefined })}
      />
      <DatasetActs act={act} dataset={dataset} onClose={() => setAct(undefined)} />
    </Page>
  );
}

function OldVersion({ onLeave }: { readonly onLeave: () => void }) {
  return (
    <>
      <Badge tone="warn">older version, read only</Badge>
      <Button size="small" onClick={onLeave}>
        Show the current version
      </Button>
    </>
  );
}
