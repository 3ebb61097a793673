// The playground: messages on the left, one or more models with their answers beside one another.

import { Link, useNavigate } from "@tanstack/react-router";
import { Columns2, History as HistoryIcon, RotateCcw, Save } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { ConfigurationService } from "../../../../../gen/waggle/v1/configuration_pb.js";
import { GenerationService } from "../../../../../gen/waggle/v1/generation_pb.js";
import { ProviderCredentialService } from "../../../../../gen/waggle/v1/provider_credential_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { Button, IconButton } from "../../design/button.tsx";
import type { Fields } from "../../design/chat-message.ts";
import { CodeEditor } from "../../design/code-editor.tsx";
import { ErrorState } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import {
  columnsMax,
  continueWith,
  type Draft,
  emptyDraft,
  keepDraft,
  newColumn,
  readDraft,
  toolsFault,
} from "./draft.ts";
import { History } from "./history.tsx";
import { MessagesEditor, type MessagesEditorProps, VariablesEditor } from "./messages-editor.tsx";
import { ModelColumn, RunButton } from "./model-column.tsx";
import { useModels } from "./model-picker.tsx";
import { useOpened } from "./opened.ts";
import { playgroundRoute } from "./route.tsx";
import { type Runs, useRuns } from "./runs.ts";
import { SavePrompt } from "./save-prompt.tsx";
import "./playground.css";

const { streamChat } = GenerationService.method;
const { createProviderCredential } = ProviderCredentialService.method;
const { createConfiguration, updateConfiguration } = ConfigurationService.method;

export function PlaygroundPage() {
  const projectId = useCurrentProjectId();
  return <Playground key={projectId} projectId={projectId} />;
}

function Playground({ projectId }: { readonly projectId: string }) {
  const search = playgroundRoute.useSearch();
  const [draft, setDraft] = useState(() => readDraft(projectId));
  const [panel, setPanel] = useState<"history" | "save">();
  const navigate = useNavigate();
  useEffect(() => keepDraft(projectId, draft), [projectId, draft]);
  const change = useCallback(
    (next: Partial<Draft>) => setDraft((before) => ({ ...before, ...next })),
    [],
  );
  const [focusId, setFocusId] = useState<string>();
  const goOn = (answer: Fields) => {
    const messages = continueWith(draft.messages, answer);
    setFocusId(messages[draft.messages.length + 1]?.id);
    change({ messages });
  };
  const error = useOpened(search, setDraft);
  const runs = useRuns(projectId);
  const may = useMay();
  const mayRun = may(streamChat);
  const maySave = may(createConfiguration) || may(updateConfiguration);
  const ready = draft.columns.filter(({ model }) => model !== "");
  const isReady = mayRun && ready.length > 0 && toolsFault(draft.tools) === undefined;
  const run = () => isReady && runs.start(draft, ready);
  const addColumn = () => {
    if (draft.columns.length < columnsMax) change({ columns: [...draft.columns, newColumn()] });
  };
  const reset = () => {
    setDraft(emptyDraft());
    void navigate({ to: ".", search: {} });
  };
  useCommands([
    mayRun && { id: "playground.run", title: "Run the messages", keys: "mod+enter", run },
    { id: "playground.stop", title: "Stop the answers", keys: "mod+.", run: () => runs.stop() },
    { id: "playground.model", title: "Add a model", keys: "m", run: addColumn },
    maySave && {
      id: "playground.save",
      title: "Save as prompt",
      keys: "mod+s",
      run: () => setPanel("save"),
    },
    {
      id: "playground.past",
      title: "Runs of this visit",
      keys: "h",
      run: () => setPanel("history"),
    },
    { id: "playground.new", title: "Start anew", run: reset },
  ]);
  return (
    <Page
      title="Playground"
      actions={
        <Actions
          draft={draft}
          isRunning={runs.isRunning}
          isReady={isReady}
          onReset={reset}
          onAddColumn={addColumn}
          onOpen={setPanel}
          onRun={mayRun ? run : undefined}
          onStop={() => runs.stop()}
          maySave={maySave}
        />
      }
    >
      <div className="playground" data-columns={draft.columns.length}>
        <div className="playground-input">
          <ReadOnlyNote method={streamChat} act="run models" />
          {error ? <ErrorState error={error} isInline /> : null}
          <DraftEditor draft={draft} focusId={focusId} onChange={change} />
        </div>
        <Columns draft={draft} onChange={change} runs={runs} onContinue={goOn} />
      </div>
      <History
        isOpen={panel === "history"}
        onClose={() => setPanel(undefined)}
        past={runs.past}
        onRestore={(past) => {
          setDraft(past.draft);
          setPanel(undefined);
        }}
      />
      {panel === "save" ? (
        <SavePrompt
          draft={draft}
          initialName={draft.promptName ?? ""}
          onClose={() => setPanel(undefined)}
        />
      ) : null}
    </Page>
  );
}

type ActionsProps = {
  readonly draft: Draft;
  readonly isRunning: boolean;
  readonly isReady: boolean;
  readonly maySave: boolean;
  readonly onReset: () => void;
  readonly onAddColumn: () => void;
  readonly onOpen: (panel: "history" | "save") => void;
  /** Absent if the person may not run models. */
  readonly onRun: (() => void) | undefined;
  readonly onStop: () => void;
};

function Actions(props: ActionsProps) {
  const { draft, isRunning, isReady, maySave, onReset, onAddColumn, onOpen, onRun, onStop } = props;
  return (
    <>
      <IconButton label="Start anew" icon={<RotateCcw />} onClick={onReset} />
      <IconButton
        label="Runs of this visit"
        keys="h"
        icon={<HistoryIcon />}
        onClick={() => onOpen("history")}
      />
      <IconButton
        label="Add a model"
        keys="m"
        icon={<Columns2 />}
        disabled={draft.columns.length >= columnsMax}
        onClick={onAddColumn}
      />
      {maySave ? (
        <Button icon={<Save />} onClick={() => onOpen("save")}>
          Save
        </Button>
      ) : null}
      {onRun ? (
        <RunButton isRunning={isRunning} isReady={isReady} onRun={onRun} onStop={onStop} />
      ) : null}
    </>
  );
}

type PartProps = {
  readonly draft: Draft;
  readonly onChange: (change: Partial<Draft>) => void;
};

function DraftEditor(props: MessagesEditorProps) {
  return (
    <>
      <LeftOut {...props} />
      <MessagesEditor {...props} />
      <VariablesEditor {...props} />
      <ToolsEditor {...props} />
      <PromptRest {...props} />
    </>
  );
}

type ColumnsProps = PartProps & {
  readonly runs: Runs;
  readonly onContinue: (answer: Fields) => void;
};

function Columns({ draft, onChange, runs, onContinue }: ColumnsProps) {
  const { columns } = draft;
  return (
    <div className="playground-answers">
      <NoProvider />
      <div className="playground-columns">
        {columns.map((column, index) => (
          <ModelColumn
            key={column.id}
            column={column}
            index={index}
            count={columns.length}
            run={runs.byColumn[column.id]}
            onChange={(next) => onChange({ columns: columns.with(index, next) })}
            onRemove={() => onChange({ columns: columns.toSpliced(index, 1) })}
            onRun={() => runs.start(draft, [column])}
            onStop={() => runs.stop(column.id)}
            onContinue={onContinue}
          />
        ))}
      </div>
    </div>
  );
}

/** Says what a run will lack that the opened event or prompt had. */
function LeftOut({ draft: { leftOut = [] }, onChange }: PartProps) {
  if (leftOut.length === 0) return null;
  return (
    <div className="playground-left-out" role="status">
      <p>Not carried over, so a run may answer differently:</p>
      <ul>
        {leftOut.map((one, index) => (
          <li key={index}>{one}</li>
        ))}
      </ul>
      <Button size="small" onClick={() => onChange({ leftOut: [] })}>
        Dismiss
      </Button>
    </div>
  );
}

/** Says the way on where the models cannot be read, or no provider is set up. */
function NoProvider() {
  const projectId = useCurrentProjectId();
  const { data, error, refetch } = useModels();
  const maySetUp = useMay()(createProviderCredential);
  if (error && !data) {
    return (
      <>
        <ErrorState error={error} isInline onRetry={() => void refetch()} />
        <p className="playground-note">
          The models cannot be listed. The name of one may be typed, such as openai/gpt-5-mini.
        </p>
      </>
    );
  }
  const hasNone = data?.data.length === 0 && data.unavailableProviders.length === 0;
  if (!hasNone) return null;
  return (
    <p className="playground-banner" role="status">
      No provider is set up for this project, so no model can answer.{" "}
      {maySetUp ? (
        <Link to="/app/p/$projectId/settings" params={{ projectId }} search={{ tab: "providers" }}>
          Set up a provider
        </Link>
      ) : (
        "An administrator of the project can set one up."
      )}
    </p>
  );
}

/** Shows what the opened prompt has besides, such as its response format. */
function PromptRest({ draft: { promptRest = {} } }: PartProps) {
  if (Object.keys(promptRest).length === 0) return null;
  return (
    <details className="playground-tools">
      <summary>Kept with the prompt</summary>
      <TextView kind="mono" text={JSON.stringify(promptRest, null, 2)} />
      <p className="playground-note">Saving keeps these parameters; runs here go without them.</p>
    </details>
  );
}

function ToolsEditor({ draft, onChange }: PartProps) {
  const fault = toolsFault(draft.tools);
  return (
    <details className="playground-tools" open={draft.tools !== ""}>
      <summary>Tools</summary>
      <CodeEditor
        label="Tools as JSON"
        language="json"
        value={draft.tools}
        onChange={(tools) => onChange({ tools })}
        linesMax={16}
      />
      <p className="playground-note" data-error={fault !== undefined}>
        {fault ?? "A list of functions with name, description and parameters (a JSON schema)."}
      </p>
    </details>
  );
}
