// DatasetActs: the dialog of the act that was chosen.

import { useNavigate } from "@tanstack/react-router";
import { type Dataset, DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { DatasetNameDialog } from "./dataset-name-dialog.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { FromEventsDialog } from "./from-events-dialog.tsx";
import { ImportDialog } from "./import-dialog.tsx";
import { NewDatapointDialog } from "./new-datapoint-dialog.tsx";
import type { DatasetAct } from "./dataset-menu.tsx";

export type DatasetActsProps = {
  readonly act: DatasetAct | undefined;
  readonly dataset: Dataset;
  readonly onClose: () => void;
};

export function DatasetActs({ act, dataset, onClose }: DatasetActsProps) {
  switch (act) {
    case undefined:
      return null;
    case "add":
      return <NewDatapointDialog datasetId={dataset.id} onClose={onClose} />;
    case "events":
      return <FromEventsDialog datasetId={dataset.id} onClose={onClose} />;
    case "import":
      return <ImportDialog datasetId={dataset.id} onClose={onClose} />;
    case "export":
      return <ExportDialog dataset={dataset} onClose={onClose} />;
    case "rename":
      return <DatasetNameDialog dataset={dataset} onClose={onClose} />;
    case "delete":
      return <DeleteDataset dataset={dataset} onClose={onClose} />;
  }
}

function DeleteDataset({ dataset, onClose }: Omit<DatasetActsProps, "act">) {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  return (
    <ConfirmCall
      onClose={onClose}
      title="Delete this dataset?"
      description="Its versions go too, for good. Its datapoints stay in the project."
      action="Delete dataset"
      busyLabel="Deleting"
      typedName={dataset.name}
      method={DatasetService.method.deleteDataset}
      input={{ datasetId: dataset.id }}
      changes={[DatasetService.method.listDatasets]}
      onDone={() => void navigate({ to: "/app/p/$projectId/datasets", params: { projectId } })}
    />
  );
}
