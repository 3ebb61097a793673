// Saves the messages with a column's model as a prompt: a new one, or a new version of one that has
// the name.

import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import { ConfigurationService } from "../../../../../gen/waggle/v1/configuration_pb.js";
import { useRpc, useRpcMutation } from "../../api/query.ts";
import { SelectField, TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { showToast } from "../../design/toast.tsx";
import { useMay } from "../../session/use-may.ts";
import { type Draft, draftFault, toPromptParameters } from "./draft.ts";

export type SavePromptProps = {
  readonly draft: Draft;
  readonly initialName: string;
  readonly onClose: () => void;
};

export function SavePrompt({ draft, initialName, onClose }: SavePromptProps) {
  const { columns } = draft;
  const [columnId, setColumnId] = useState(columns[0]?.id ?? "");
  const column = columns.find(({ id }) => id === columnId) ?? columns[0];
  const [name, setName] = useState(initialName);
  const [message, setMessage] = useState("");
  const [provider, setProvider] = useState<string>();
  const shownProvider = provider ?? column?.model.split("/")[0] ?? "";
  const { save, change, exists } = useSave(name.trim(), onClose);
  const submit = () => {
    if (column)
      save({ provider: shownProvider, parameters: toPromptParameters(draft, column), message });
  };
  const { createConfiguration, updateConfiguration } = ConfigurationService.method;
  const maySave = useMay()(exists ? updateConfiguration : createConfiguration);
  const fault = draftFault(draft);
  const isNamed = name.trim() !== "" && (column?.model ?? "") !== "" && shownProvider !== "";
  const isReady = maySave && isNamed && fault === undefined;
  return (
    <Dialog
      onClose={onClose}
      title="Save as prompt"
      description="Programs read it by its name; each save makes a version."
      act={{
        label: exists ? "Save new version" : "Save prompt",
        disabled: !isReady,
        busyLabel: "Saving…",
        run: submit,
        change,
      }}
    >
      <TextField
        label="Name"
        hint={exists ? "This prompt gets a new version." : undefined}
        value={name}
        onChange={setName}
      />
      {columns.length > 1 ? (
        <SelectField
          label="Model"
          options={columns.map(({ id, model }) => ({ value: id, label: model || "none" }))}
          value={columnId}
          onChange={setColumnId}
        />
      ) : null}
      <TextField
        label="Provider"
        hint="Name of the provider, or of its credentials."
        value={shownProvider}
        onChange={setProvider}
      />
      <TextField
        label="Why"
        hint="Kept with the version; may stay empty."
        value={message}
        onChange={setMessage}
      />
      {fault === undefined ? null : (
        <p className="playground-note" data-error role="alert">
          {fault}
        </p>
      )}
    </Dialog>
  );
}

type Saved = {
  readonly provider: string;
  readonly parameters: JsonObject;
  readonly message: string;
};

function useSave(name: string, onClose: () => void) {
  const { method } = ConfigurationService;
  const { data } = useRpc(method.listConfigurations, { name }, { isEnabled: name !== "" });
  const existing = data?.configurations.find((one) => one.name === name);
  const options = {
    changes: [method.listConfigurations, method.getConfiguration],
    onDone: () => {
      showToast({ text: `Saved the prompt “${name}”.`, tone: "good" });
      onClose();
    },
  };
  const create = useRpcMutation(method.createConfiguration, options);
  const update = useRpcMutation(method.updateConfiguration, options);
  return {
    exists: existing !== undefined,
    change: {
      isPending: create.isPending || update.isPending,
      error: existing ? update.error : create.error,
    },
    save: ({ provider, parameters, message }: Saved) => {
      const fields = { name, provider, parameters, ...(message !== "" && { message }) };
      if (existing) update.mutate({ ...fields, id: existing.id });
      else create.mutate(fields);
    },
  };
}
