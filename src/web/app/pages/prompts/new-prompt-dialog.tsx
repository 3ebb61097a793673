// NewPromptDialog: names a prompt and chooses its model; the messages are written on its page.

import { useState } from "react";
import { ConfigurationService } from "../../../../../gen/waggle/v1/configuration_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { TextAreaField, TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { emptyContent, toParameters } from "./prompt-content.ts";
import "../../design/layout.css";

export type NewPromptDialogProps = {
  readonly onClose: () => void;
  readonly onCreated: (promptId: string) => void;
};

const fields = [
  { key: "name", label: "Name", hint: "Programs call the prompt by it." },
  { key: "provider", label: "Provider", hint: "Such as openai, or the name of a credential." },
  { key: "model", label: "Model", hint: "Such as gpt-4o-mini." },
] as const;

const nothingTyped = { name: "", provider: "openai", model: "", text: "" };

export function NewPromptDialog({ onClose, onCreated }: NewPromptDialogProps) {
  const [values, setValues] = useState(nothingTyped);
  const create = useRpcMutation(ConfigurationService.method.createConfiguration, {
    changes: [ConfigurationService.method.listConfigurations],
    onDone: ({ insertedId }) => onCreated(insertedId),
  });
  const { name, provider, model, text } = values;
  const messages = [{ role: "system", text }];
  const submit = () =>
    create.mutate({
      name,
      provider,
      parameters: toParameters({ ...emptyContent, model, messages }),
    });
  return (
    <Dialog
      onClose={onClose}
      title="Create prompt"
      act={{
        label: "Create prompt",
        isForm: true,
        disabled: [name, provider, model].some((value) => value.trim() === ""),
        busyLabel: "Creating",
        run: submit,
        change: create,
      }}
    >
      {fields.map(({ key, label, hint }) => (
        <TextField
          key={key}
          label={label}
          hint={hint}
          value={values[key]}
          onChange={(text) => setValues({ ...values, [key]: text })}
        />
      ))}
      <TextAreaField
        label="System message"
        hint="Placeholders stand in double braces: {{ name }}."
        value={text}
        onChange={(text) => setValues({ ...values, text })}
      />
    </Dialog>
  );
}
