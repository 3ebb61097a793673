// NewDatapointDialog: writes a datapoint by hand.

import { DatapointService } from "../../../../../gen/waggle/v1/datapoint_pb.js";
import { DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { Dialog } from "../../design/overlay.tsx";
import { showToast } from "../../design/toast.tsx";
import { DatapointForm, useDatapointForm } from "./datapoint-form.tsx";

export type NewDatapointDialogProps = { readonly datasetId: string; readonly onClose: () => void };

export function NewDatapointDialog({ datasetId, onClose }: NewDatapointDialogProps) {
  const form = useDatapointForm({});
  const create = useRpcMutation(DatapointService.method.createDatapoint, {
    changes: [
      DatapointService.method.listDatapoints,
      DatasetService.method.getDataset,
      DatasetService.method.listDatasets,
      DatasetService.method.listDatasetVersions,
    ],
    onDone: () => {
      showToast({ text: "The datapoint was added.", tone: "good" });
      onClose();
    },
  });
  const submit = () => {
    if (form.content) create.mutate({ ...form.content, linkedDatasets: [datasetId] });
  };
  return (
    <Dialog
      onClose={onClose}
      title="Add datapoint"
      width="wide"
      act={{
        label: "Add datapoint",
        disabled: form.content === undefined,
        busyLabel: "Adding",
        run: submit,
        change: create,
      }}
    >
      <DatapointForm form={form} onSubmit={submit} />
    </Dialog>
  );
}
