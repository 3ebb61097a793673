// DatapointDrawer: reads, changes and removes the datapoint that is open.

import { useState } from "react";
import { Link } from "@tanstack/react-router";
import { type Datapoint, DatapointService } from "../../../../../gen/waggle/v1/datapoint_pb.js";
import { DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { pageAddress, useCurrentProjectId } from "../../api/project.ts";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { Drawer } from "../../design/overlay.tsx";
import { ErrorState, ReadState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { Identifier } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { toValue } from "./to-value.ts";
import { DatapointForm, useDatapointForm } from "./datapoint-form.tsx";

export type DatapointDrawerProps = {
  readonly datasetId: string;
  readonly datapointId: string | undefined;
  /** The datapoint is read in an older version of the dataset. */
  readonly isOld: boolean;
  readonly onClose: () => void;
};

const changes = [
  DatapointService.method.listDatapoints,
  DatapointService.method.getDatapoint,
  DatasetService.method.getDataset,
  DatasetService.method.listDatasets,
  DatasetService.method.listDatasetVersions,
];

export function DatapointDrawer(props: DatapointDrawerProps) {
  const { datapointId, onClose } = props;
  const answer = useRpc(
    DatapointService.method.getDatapoint,
    { id: datapointId ?? "" },
    { isEnabled: datapointId !== undefined },
  );
  const { data } = answer;
  const datapoint = data?.datapoint[0];
  return (
    <Drawer isOpen={datapointId !== undefined} onClose={onClose} title="Datapoint">
      {datapoint ? (
        <DatapointEditor {...props} key={datapoint.id} datapoint={datapoint} />
      ) : (
        <ReadState read={answer} what="Loading the datapoint" />
      )}
    </Drawer>
  );
}

type DatapointEditorProps = DatapointDrawerProps & { readonly datapoint: Datapoint };

function DatapointEditor(props: DatapointEditorProps) {
  const { datapoint, datasetId, isOld, onClose } = props;
  const may = useMay();
  const isReadOnly = isOld || !may(DatapointService.method.updateDatapoint);
  const mayRemove = !isOld && may(DatasetService.method.removeDatapoint);
  const form = useDatapointForm(datapoint, isReadOnly ? undefined : `datapoint ${datapoint.id}`);
  const [isRemoving, setRemoving] = useState(false);
  const update = useRpcMutation(DatapointService.method.updateDatapoint, {
    changes,
    onDone: () => {
      form.keep();
      showToast({ text: "The datapoint was saved.", tone: "good" });
    },
  });
  const submit = () => {
    if (form.content === undefined || isReadOnly) return;
    const { inputs, groundTruth, metadata, history } = form.content;
    const parts = {
      inputs,
      groundTruth: groundTruth ?? {},
      metadata: metadata ?? {},
      history: { values: history.map(toValue) },
    };
    // Another person may have changed the other parts meanwhile.
    const changed = Object.entries(parts).filter(([part]) => form.hasChanged(part));
    update.mutate({ id: datapoint.id, ...Object.fromEntries(changed) });
  };
  return (
    <div className="form">
      <div className="form-row">
        <Identifier value={datapoint.id} />
        {datapoint.linkedEvent === undefined ? null : <EventLink eventId={datapoint.linkedEvent} />}
      </div>
      <DatapointForm form={form} isReadOnly={isReadOnly} onSubmit={submit} />
      {update.error ? <ErrorState error={update.error} isInline /> : null}
      {isOld ? (
        <p className="faint">The editors show the datapoint as it is now.</p>
      ) : (
        <ReadOnlyNote method={DatapointService.method.updateDatapoint} />
      )}
      <div className="drawer-actions">
        {mayRemove ? (
          <Button variant="danger" onClick={() => setRemoving(true)}>
            Remove datapoint
          </Button>
        ) : null}
        {form.isChanged ? <Button onClick={form.revert}>Discard changes</Button> : null}
        {isReadOnly ? null : (
          <Button
            variant="primary"
            disabled={form.content === undefined}
            busyLabel={update.isPending && "Saving"}
            onClick={submit}
          >
            Save datapoint
          </Button>
        )}
      </div>
      <ConfirmCall
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        title="Remove this datapoint?"
        description="The next version of the dataset does not have it. It stays in the project."
        action="Remove datapoint"
        busyLabel="Removing"
        method={DatasetService.method.removeDatapoint}
        input={{ datasetId, datapointId: datapoint.id }}
        changes={changes.filter(({ name }) => name !== "GetDatapoint")}
        onDone={onClose}
      />
    </div>
  );
}

function EventLink({ eventId }: { readonly eventId: string }) {
  const projectId = useCurrentProjectId();
  const search = { filters: [{ field: "event_id", operator: "is", value: eventId, type: "id" }] };
  return (
    <Link to={pageAddress(projectId, "traces")} search={search as never}>
      Event it came from
    </Link>
  );
}
