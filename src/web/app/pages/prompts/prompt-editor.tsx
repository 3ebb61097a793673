// PromptEditor: messages with their placeholders, model and parameters; saving makes a version.

import { Plus, Trash2 } from "lucide-react";
import {
  type Configuration,
  ConfigurationService,
} from "../../../../../gen/waggle/v1/configuration_pb.js";
import { ConfigurationVersionService } from "../../../../../gen/waggle/v1/configuration_version_pb.js";
import { useRpcMutation } from "../../api/query.ts";
import { Badge } from "../../design/badge.tsx";
import { Button, IconButton } from "../../design/button.tsx";
import { CodeEditor } from "../../design/code-editor.tsx";
import { TextField } from "../../design/fields.tsx";
import { Select } from "../../design/input.tsx";
import { ErrorState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { useDraft } from "../../shell/drafts.ts";
import { parseObject } from "../datasets/json-text.ts";
import {
  messagesFault,
  type PromptContent,
  type PromptMessage,
  toContent,
  toParameters,
  variablesOf,
} from "./prompt-content.ts";

const roles = ["system", "user", "assistant"];

export function PromptEditor({ prompt }: { readonly prompt: Configuration }) {
  const saved = toContent(prompt.provider, prompt.parameters);
  const edit = useDraft(`prompt ${prompt.id}`, { content: saved, message: "" });
  const { content, message } = edit.draft;
  const { method } = ConfigurationService;
  const isReadOnly = !useMay()(method.updateConfiguration);
  const save = useRpcMutation(method.updateConfiguration, {
    changes: [
      method.getConfiguration,
      method.listConfigurations,
      ConfigurationVersionService.method.listConfigurationVersions,
    ],
    onDone: ({ modifiedCount }) => {
      edit.setDraft({ content, message: "" });
      edit.forget();
      const text = modifiedCount === 0 ? "Nothing differs: no new version." : "Saved as a version.";
      showToast({ text, tone: "good" });
    },
  });
  const { faults } = parseObject(content.parameters, {});
  const fault = messagesFault(content.messages);
  const isFaulty = faults.length > 0 || fault !== undefined;
  const isChanged = JSON.stringify(content) !== JSON.stringify(saved);
  const submit = () => {
    if (isFaulty) return;
    save.mutate({
      id: prompt.id,
      provider: content.provider,
      parameters: toParameters(content, prompt.parameters),
      ...(message !== "" && { message }),
    });
  };
  useCommands([
    !isReadOnly && { id: "prompt.save", title: "Save the prompt", keys: "mod+s", run: submit },
  ]);
  const change = (part: Partial<PromptContent>) =>
    edit.setDraft({ message, content: { ...content, ...part } });
  return (
    <div className="prompt-editor">
      <Messages
        messages={content.messages}
        isReadOnly={isReadOnly}
        onChange={(messages) => change({ messages })}
        onSubmit={submit}
      />
      <div className="form">
        <Variables messages={content.messages} />
        <Settings
          content={content}
          isReadOnly={isReadOnly}
          onChange={change}
          faults={faults}
          onSubmit={submit}
        />
        <ReadOnlyNote method={method.updateConfiguration} />
        {isReadOnly ? null : (
          <>
            <TextField
              label="Why this change"
              hint="Kept with the version; may stay empty."
              value={message}
              onChange={(text) => edit.setDraft({ content, message: text })}
            />
            {fault === undefined ? null : (
              <div className="field">
                <p data-error="true" role="alert">
                  {fault}
                </p>
              </div>
            )}
            {save.error ? <ErrorState error={save.error} isInline /> : null}
            <Button
              variant="primary"
              disabled={!isChanged || isFaulty}
              busyLabel={save.isPending && "Saving"}
              onClick={submit}
            >
              {`Save after ${prompt.version}`}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}

type MessagesProps = {
  readonly messages: readonly PromptMessage[];
  readonly isReadOnly: boolean;
  readonly onChange: (messages: readonly PromptMessage[]) => void;
  readonly onSubmit: () => void;
};

function Messages({ messages, isReadOnly, onChange, onSubmit }: MessagesProps) {
  return (
    <div className="form">
      {messages.map((message, index) => (
        <section key={index} className="prompt-message" aria-label={`Message ${index + 1}`}>
          <header>
            <Select
              isSmall
              aria-label={`Role of message ${index + 1}`}
              disabled={isReadOnly}
              value={message.role}
              options={[...new Set([...roles, message.role])].map((one) => ({
                value: one,
                label: one,
              }))}
              onChange={(role) => onChange(messages.with(index, { ...message, role }))}
            />
            {isReadOnly ? null : (
              <IconButton
                size="small"
                label={`Remove message ${index + 1}`}
                icon={<Trash2 />}
                disabled={messages.length === 1}
                onClick={() => onChange(messages.toSpliced(index, 1))}
              />
            )}
          </header>
          <CodeEditor
            label={`Text of message ${index + 1}`}
            language="prompt"
            isReadOnly={isReadOnly}
            value={message.text}
            onSubmit={onSubmit}
            onChange={(text) => onChange(messages.with(index, { ...message, text }))}
          />
        </section>
      ))}
      {isReadOnly ? null : (
        <div>
          <Button
            size="small"
            icon={<Plus />}
            onClick={() => onChange([...messages, { role: "user", text: "" }])}
          >
            Add message
          </Button>
        </div>
      )}
    </div>
  );
}

function Variables({ messages }: { readonly messages: readonly PromptMessage[] }) {
  const variables = variablesOf(messages);
  return (
    <section className="section" aria-label="Variables">
      <h2>Variables</h2>
      <p className="badges" role="status">
        {variables.length === 0 ? (
          <span className="faint">None yet: write a name in double braces.</span>
        ) : (
          variables.map((name) => (
            <Badge key={name} tone="accent">
              {name}
            </Badge>
          ))
        )}
      </p>
    </section>
  );
}

type SettingsProps = {
  readonly content: PromptContent;
  readonly isReadOnly: boolean;
  readonly onChange: (part: Partial<PromptContent>) => void;
  readonly faults: ReturnType<typeof parseObject>["faults"];
  readonly onSubmit: () => void;
};

function Settings({ content, isReadOnly, onChange, faults, onSubmit }: SettingsProps) {
  return (
    <>
      <div className="form-row">
        <TextField
          label="Provider"
          readOnly={isReadOnly}
          value={content.provider}
          onChange={(text) => onChange({ provider: text })}
        />
        <TextField
          label="Model"
          readOnly={isReadOnly}
          value={content.model}
          onChange={(text) => onChange({ model: text })}
        />
      </div>
      <section className="section">
        <h2>Parameters</h2>
        <CodeEditor
          label="Parameters"
          language="json"
          linesMax={10}
          isReadOnly={isReadOnly}
          value={content.parameters}
          faults={faults}
          onSubmit={onSubmit}
          onChange={(parameters) => onChange({ parameters })}
        />
      </section>
    </>
  );
}
