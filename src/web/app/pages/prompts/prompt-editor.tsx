// PromptEditor: messages with their placeholders, model and parameters; saving makes a version.

import { useQueryClient } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import {
  type Configuration,
  ConfigurationService,
} from "../../../../../gen/waggle/v1/configuration_pb.js";
import { ConfigurationVersionService } from "../../../../../gen/waggle/v1/configuration_version_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { renewAnswers, useChange } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
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
import { type DraftState, useDraft } from "../../shell/drafts.ts";
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
  // The draft keeps what it began with: another person may save a version meanwhile.
  const edit = useDraft(`prompt ${prompt.id}`, { before: saved, content: saved, message: "" });
  const { before, message } = edit.draft;
  const isChanged = differ(edit.draft.content, before);
  const content = isChanged ? edit.draft.content : saved;
  const isBehind = isChanged && differ(before, saved);
  const { method } = ConfigurationService;
  const isReadOnly = !useMay()(method.updateConfiguration);
  const save = useSave(prompt, edit);
  const { faults } = parseObject(content.parameters, {});
  const fault = messagesFault(content.messages);
  const isFaulty = faults.length > 0 || fault !== undefined;
  const submit = () => {
    if (!isFaulty) save.run({ content, message });
  };
  useCommands([
    !isReadOnly && { id: "prompt.save", title: "Save the prompt", keys: "mod+s", run: submit },
  ]);
  const began = isChanged ? before : saved;
  const change = (part: Partial<PromptContent>) =>
    edit.setDraft({ before: began, message, content: { ...content, ...part } });
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
              onChange={(text) => edit.setDraft({ before: began, content, message: text })}
            />
            {fault === undefined ? null : (
              <div className="field">
                <p data-error="true" role="alert">
                  {fault}
                </p>
              </div>
            )}
            {isBehind ? (
              <p className="soft" role="status">
                {`${prompt.version} was saved meanwhile. Saving makes your text the version after `}
                {"it; theirs stays under Versions."}
              </p>
            ) : null}
            {save.error ? <ErrorState error={save.error} isInline /> : null}
            <Button
              variant="primary"
              disabled={!isChanged || isFaulty}
              busyLabel={save.isBusy && "Saving"}
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

function differ(one: PromptContent, other: PromptContent): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}

type PromptDraft = {
  readonly before: PromptContent;
  readonly content: PromptContent;
  readonly message: string;
};

type Sent = Omit<PromptDraft, "before">;

/** Saves a version, unless the page does not show yet that another one was saved meanwhile. */
function useSave({ id, provider, parameters }: Configuration, edit: DraftState<PromptDraft>) {
  const projectId = useCurrentProjectId();
  const client = useQueryClient();
  const { getConfiguration, listConfigurations, updateConfiguration } = ConfigurationService.method;
  const shown = toContent(provider, parameters);
  const save = useChange({
    mutationFn: async ({ content, message }: Sent) => {
      const now = await callRpc(getConfiguration, { id }, { projectId });
      if (differ(toContent(now.provider, now.parameters), shown)) return undefined;
      const input = {
        id,
        provider: content.provider,
        parameters: toParameters(content, parameters),
        ...(message !== "" && { message }),
      };
      const { modifiedCount } = await callRpc(updateConfiguration, input, { projectId });
      return { content, modifiedCount };
    },
    onSuccess: async (saved) => {
      const { listConfigurationVersions } = ConfigurationVersionService.method;
      const changed = [getConfiguration, listConfigurations, listConfigurationVersions];
      await renewAnswers(client, changed);
      if (!saved) return;
      edit.setDraft({ ...edit.draft, before: saved.content, message: "" });
      edit.forget();
      const isSame = saved.modifiedCount === 0;
      const text = isSame ? "Nothing differs: no new version." : "Saved as a version.";
      showToast({ text, tone: "good" });
    },
  });
  return { error: save.error, isBusy: save.isPending, run: save.mutate };
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
