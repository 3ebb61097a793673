// A dialog that makes a datapoint of an event and puts it into a dataset.

import { useState } from "react";
import { DatapointService } from "../../../../../gen/waggle/v1/datapoint_pb.js";
import { DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { SelectField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ErrorState, Loading } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { listedMax, unlistedNote } from "../datasets/listed.ts";

type AddToDatasetProps = { readonly eventId: string; readonly onClose: () => void };

export function AddToDataset({ eventId, onClose }: AddToDatasetProps) {
  const { data, error, refetch } = useRpc(DatasetService.method.listDatasets, { limit: listedMax });
  const [picked, setPicked] = useState("");
  const datasets = data?.datasets ?? [];
  const datasetId = picked === "" ? (datasets[0]?.id ?? "") : picked;
  const name = datasets.find(({ id }) => id === datasetId)?.name ?? "";
  const add = useRpcMutation(DatapointService.method.createDatapointsFromEvents, {
    changes: [DatasetService.method.listDatasets, DatapointService.method.listDatapoints],
    onDone: () => {
      showToast({ text: `Added to ${name}.` });
      onClose();
    },
  });
  return (
    <Dialog
      onClose={onClose}
      width="narrow"
      title="Add to a dataset"
      description="The inputs become those of a datapoint; the ground truth, else the outputs,
        become what is expected."
      act={{
        label: "Add the event",
        disabled: datasetId === "",
        busyLabel: add.isPending && "Adding…",
        run: () => add.mutate({ events: [eventId], datasetId }),
      }}
    >
      {add.error ? <ErrorState error={add.error} isInline /> : null}
      {error ? (
        <ErrorState error={error} isInline onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="Loading datasets" />
      ) : datasets.length === 0 ? (
        <p>There is no dataset yet. Create one under Datasets, then add the event to it.</p>
      ) : (
        <SelectField
          label="Dataset"
          hint={unlistedNote(data)}
          value={datasetId}
          onChange={setPicked}
          options={datasets.map((one) => ({ value: one.id, label: one.name }))}
        />
      )}
    </Dialog>
  );
}
