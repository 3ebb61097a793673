// NewPromptDialog: names a prompt and chooses its model; the messages are written on its page.

import { useState } from "react";
import { ConfigurationService } from "../../../../../gen/waggle/v1/configuration_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { Field, Input, TextArea } from "../../design/input.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ErrorState } from "../../design/states.tsx";
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
      isOpen
      onClose={onClose}
      title="Create prompt"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            type="submit"
            form="new-prompt"
            disabled={[name, provider, model].some((value) => value.trim() === "")}
            busyLabel={create.isPending && "Creating"}
          >
            Create prompt
          </Button>
        </>
      }
    >
      <form
        id="new-prompt"
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {fields.map(({ key, label, hint }) => (
          <Field key={key} label={label} hint={hint}>
            {(ids) => (
              <Input
                {...ids}
                value={values[key]}
                onChange={({ target }) => setValues({ ...values, [key]: target.value })}
              />
            )}
          </Field>
        ))}
        <Field label="System message" hint="Placeholders stand in double braces: {{ name }}.">
          {(ids) => (
            <TextArea
              {...ids}
              value={text}
              onChange={({ target }) => setValues({ ...values, text: target.value })}
            />
          )}
        </Field>
        {create.error ? <ErrorState error={create.error} isInline /> : null}
      </form>
    </Dialog>
  );
}
