// DatasetNameDialog: names a new dataset, or renames one.

import { useState } from "react";
import { type Dataset, DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { TextAreaField, TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";

export type DatasetNameDialogProps = {
  /** The dataset to rename; without it a new one is made. */
  readonly dataset?: Dataset;
  readonly onClose: () => void;
  readonly onCreated?: (datasetId: string) => void;
};

export function DatasetNameDialog({ dataset, onClose, onCreated }: DatasetNameDialogProps) {
  const [name, setName] = useState(dataset?.name ?? "");
  const [description, setDescription] = useState(dataset?.description ?? "");
  const { listDatasets, getDataset, createDataset, updateDataset } = DatasetService.method;
  const create = useRpcMutation(createDataset, {
    changes: [listDatasets],
    onDone: ({ result }) => result && onCreated?.(result.insertedId),
  });
  const update = useRpcMutation(updateDataset, {
    changes: [listDatasets, getDataset],
    onDone: onClose,
  });
  const submit = () =>
    dataset
      ? update.mutate({ datasetId: dataset.id, name, description })
      : create.mutate({ name, ...(description !== "" && { description }) });
  return (
    <Dialog
      onClose={onClose}
      title={dataset ? "Rename dataset" : "Create dataset"}
      width="narrow"
      act={{
        label: dataset ? "Save dataset" : "Create dataset",
        isForm: true,
        disabled: name.trim() === "",
        busyLabel: "Saving",
        run: submit,
        change: dataset ? update : create,
      }}
    >
      <TextField label="Name" maxLength={256} value={name} onChange={setName} />
      <TextAreaField
        label="Description"
        hint="The purpose, for those who find it later."
        value={description}
        onChange={setDescription}
      />
    </Dialog>
  );
}
