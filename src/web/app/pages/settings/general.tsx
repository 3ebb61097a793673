// Name and description of a scope, the scopes below it, and its end.

import { Archive, Plus } from "lucide-react";
import { useState } from "react";
import { DeploymentService } from "../../../../../gen/waggle/v1/deployment_pb.js";
import type { ArchivedScope } from "../../../../../gen/waggle/v1/scope_pb.js";
import { toChanged } from "../../api/changes.ts";
import { useRpc } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { TextAreaField, TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { showToast } from "../../design/toast.tsx";
import { Identifier, KeyValue, Time } from "../../design/values.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useDraft } from "../../shell/drafts.ts";
import { faultOf } from "../../api/faults.ts";
import { ArchiveScope } from "./archive-scope.tsx";
import { OtherFault } from "../../design/other-fault.tsx";
import { useCreateBelow, useRename } from "./scope-changes.ts";
import {
  levelBelow,
  levelNames,
  scopeCalls,
  type ScopeData,
  type ScopeRef,
} from "../../api/scope.ts";

export type GeneralProps = {
  readonly scope: ScopeRef;
  readonly data: ScopeData;
  readonly onArchived: (archived: ArchivedScope) => void;
};

export function General({ scope, data, onArchived }: GeneralProps) {
  const below = levelBelow[scope.level];
  const may = useMay(scope);
  const acts = scopeCalls[scope.level];
  const isAssigned = useAssignedDataplanes();
  const mayCreate = acts.create && may(acts.create) && !(below === "dataplane" && isAssigned);
  const isFixed = scope.level === "dataplane" && isAssigned;
  const [dialog, setDialog] = useState<"create" | "archive">();
  const close = () => setDialog(undefined);
  return (
    <div className="settings-sections">
      {isFixed ? (
        <p className="settings-note">
          Data planes are assigned automatically here: each organization has its own, which is
          neither renamed nor archived.
        </p>
      ) : (
        <NameForm key={scope.id} scope={scope} data={data} />
      )}
      <KeyValue
        items={[
          { label: "Id", value: <Identifier value={scope.id} /> },
          { label: "Created", value: <Time value={data.createdAt} /> },
        ]}
      />
      <div className="settings-acts">
        {below === undefined || !mayCreate ? null : (
          <Button icon={<Plus />} onClick={() => setDialog("create")}>
            New {levelNames[below]}
          </Button>
        )}
        {may(acts.archive) && !isFixed ? (
          <Button variant="danger" icon={<Archive />} onClick={() => setDialog("archive")}>
            Archive {levelNames[scope.level]}
          </Button>
        ) : null}
      </div>
      {dialog === "create" ? <CreateScope parent={scope} onClose={close} /> : null}
      {dialog === "archive" ? (
        <ArchiveScope scope={scope} name={data.name} onClose={close} onArchived={onArchived} />
      ) : null}
    </div>
  );
}

/** Returns whether the service assigns data planes, so that people write none; true until known. */
function useAssignedDataplanes(): boolean {
  const { data } = useRpc(DeploymentService.method.getDeployment, {}, { staleMs: Infinity });
  return data?.data?.dataplaneAssignment !== "manual";
}

function NameForm({ scope, data }: { readonly scope: ScopeRef; readonly data: ScopeData }) {
  const stored = { name: data.name, description: data.description ?? "" };
  // The draft holds changed fields alone: another person may have changed the others meanwhile.
  const { draft, setDraft } = useDraft<Partial<typeof stored>>(`scope ${scope.id}`, {});
  const { name, description } = { ...stored, ...draft };
  const change = (part: Partial<typeof stored>) =>
    setDraft(toChanged(stored, { ...stored, ...draft, ...part }));
  const { rename, isPending, error } = useRename(scope, () => {
    setDraft({});
    showToast({ text: "Saved.", tone: "good" });
  });
  const { update } = scopeCalls[scope.level];
  const isReadOnly = !useMay(scope)(update);
  const hasDescription = scope.level === "workspace" || scope.level === "project";
  const isChanged = Object.keys(draft).length > 0;
  return (
    <form
      className="settings-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReadOnly) return;
        rename({ ...draft, ...(draft.name !== undefined && { name: name.trim() }) });
      }}
    >
      <TextField
        label="Name"
        error={faultOf(error, "name")}
        value={name}
        readOnly={isReadOnly || isPending}
        onChange={(text) => change({ name: text })}
      />
      {hasDescription ? (
        <TextAreaField
          label="Description"
          error={faultOf(error, "description")}
          value={description}
          readOnly={isReadOnly || isPending}
          onChange={(text) => change({ description: text })}
        />
      ) : null}
      <OtherFault error={error} fields={["name", "description"]} />
      <ReadOnlyNote method={update} scope={scope} />
      {isReadOnly ? null : (
        <div>
          <Button
            type="submit"
            variant="primary"
            disabled={!isChanged || name.trim() === ""}
            busyLabel={isPending && "Saving…"}
          >
            Save changes
          </Button>
        </div>
      )}
    </form>
  );
}

type CreateScopeProps = { readonly parent: ScopeRef; readonly onClose: () => void };

function CreateScope({ parent, onClose }: CreateScopeProps) {
  const below = levelBelow[parent.level] ?? "project";
  const what = levelNames[below];
  const [name, setName] = useState("");
  const { create, ...change } = useCreateBelow(parent, () => {
    showToast({ text: `Created the ${what} “${name}”.`, tone: "good" });
    onClose();
  });
  const needsCluster = parent.level === "org";
  const [cluster, setCluster] = useState("");
  const submit = () =>
    create({
      name: name.trim(),
      ...(cluster.trim() !== "" && { clusterId: cluster.trim() }),
    });
  return (
    <Dialog
      onClose={onClose}
      title={`New ${what}`}
      width="narrow"
      act={{
        label: `Create ${what}`,
        isForm: true,
        disabled: name.trim() === "",
        busyLabel: "Creating…",
        run: submit,
        change,
        fields: ["name", "cluster_id"],
      }}
    >
      <TextField
        label="Name"
        error={faultOf(change.error, "name")}
        value={name}
        onChange={setName}
      />
      {needsCluster ? (
        <TextField
          label="Cluster"
          hint={
            "Id of a configured cluster, “default” where none was configured. Empty: that of the " +
            "organization's other data planes."
          }
          error={faultOf(change.error, "cluster_id")}
          value={cluster}
          onChange={setCluster}
        />
      ) : null}
    </Dialog>
  );
}
