// Editor: the definition of an evaluator, and beside it a trial on events before it is saved.

import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { EvaluatorService } from "../../../../../gen/waggle/v1/evaluator_pb.js";
import { type Metric, MetricService } from "../../../../../gen/waggle/v1/metric_pb.js";
import { MetricVersionService } from "../../../../../gen/waggle/v1/metric_version_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpcMutation } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { CodeEditor } from "../../design/code-editor.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { ErrorState } from "../../design/states.tsx";
import { showToast } from "../../design/toast.tsx";
import { ReadOnlyNote } from "../../session/read-only-note.tsx";
import { useMay } from "../../session/use-may.ts";
import { useCommands } from "../../shell/commands.ts";
import { type DraftState, useDraft } from "../../shell/drafts.ts";
import { type Draft, faultsOf, toChanges, toMetric } from "./draft.ts";
import { DefinitionFields } from "./definition-fields.tsx";
import { Trial } from "./trial.tsx";
import { useTrial } from "./use-trial.ts";

export type EditorProps = { readonly metric?: Metric; readonly first: Draft };

const changes = [
  MetricService.method.listMetrics,
  MetricService.method.getMetric,
  MetricVersionService.method.listMetricVersions,
  EvaluatorService.method.getMetricStatus,
];

export function Editor({ metric, first }: EditorProps) {
  // The draft keeps what it began with: another person may save a version meanwhile.
  const edit = useDraft(`evaluator ${metric?.id ?? "new"}`, { before: first, after: first });
  const { before, after: draft } = edit.draft;
  const setDraft = (after: Draft) =>
    edit.setDraft(
      JSON.stringify(after) === JSON.stringify(before)
        ? { before: first, after: first }
        : { before, after },
    );
  const save = useSave({ metric, edit });
  const trial = useTrial(draft);
  const [latest, setLatest] = useState<"save" | "trial">("save");
  const [tried, setTried] = useState(draft.criteria);
  // Faults stand at their places in the editor, those of the latest attempt alone, and only in the
  // code that they were found in.
  const error = latest === "save" ? save.error : trial.error;
  const faults = draft.criteria === tried ? faultsOf(error) : [];
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const isChanged = JSON.stringify(draft) !== JSON.stringify(before);
  const isBehind = isChanged && JSON.stringify(before) !== JSON.stringify(first);
  const may = useMay();
  const method = metric ? MetricService.method.updateMetric : MetricService.method.createMetric;
  const maySave = may(method);
  const isComplete = draft.name.trim() !== "" && draft.criteria.trim() !== "";
  const canSave = maySave && isComplete && (isChanged || metric === undefined);
  const submit = (): void => {
    if (!canSave) return;
    setLatest("save");
    setTried(draft.criteria);
    save.run();
  };
  const start = (eventIds: readonly string[]): Promise<void> => {
    setLatest("trial");
    setTried(draft.criteria);
    return trial.start(eventIds);
  };
  useCommands([
    maySave && { id: "evaluator.save", title: "Save the evaluator", keys: "mod+s", run: submit },
  ]);
  const mayTry = draft.type !== "HUMAN" && may(EvaluatorService.method.runMetric);
  return (
    <div className="evaluator-edit">
      <div className="evaluator-form">
        <ReadOnlyNote method={method} />
        {isBehind ? (
          <p className="soft" role="status">
            The evaluator was changed meanwhile. Saving keeps that, except in the fields that you
            changed here.
          </p>
        ) : null}
        <fieldset disabled={!maySave}>
          <DefinitionFields draft={draft} error={error} isNew={metric === undefined} set={set} />
        </fieldset>
        <section className="evaluator-code" aria-label="Definition">
          <h2>{{ PYTHON: "Code", LLM: "Prompt of the judge" }[draft.type] ?? "Question"}</h2>
          <CodeEditor
            label={draft.type === "PYTHON" ? "Code" : "Prompt"}
            language={draft.type === "PYTHON" ? "python" : "prompt"}
            value={draft.criteria}
            isReadOnly={!maySave}
            faults={faults}
            onChange={(criteria) => set({ criteria })}
            onSubmit={submit}
          />
        </section>
        {save.error && faultsOf(save.error).length === 0 ? (
          <ErrorState error={save.error} isInline />
        ) : null}
        <footer className="evaluator-acts">
          {maySave ? (
            <Button
              variant="primary"
              disabled={!canSave}
              busyLabel={save.isBusy && "Saving…"}
              onClick={submit}
            >
              {metric ? "Save as a new version" : "Create evaluator"}
            </Button>
          ) : null}
          {isChanged ? <Button onClick={() => setDraft(before)}>Undo changes</Button> : null}
          {metric ? <DeleteButton metric={metric} /> : null}
        </footer>
      </div>
      {mayTry ? <Trial draft={draft} trial={{ ...trial, start }} /> : null}
    </div>
  );
}

type SaveOptions = {
  readonly metric: Metric | undefined;
  readonly edit: DraftState<{ readonly before: Draft; readonly after: Draft }>;
};

function useSave({ metric, edit }: SaveOptions) {
  const { forget } = edit;
  const { before, after } = edit.draft;
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const create = useRpcMutation(MetricService.method.createMetric, {
    changes,
    onStored: forget,
    onDone: ({ metricId }) => {
      showToast({ text: "Created the evaluator" });
      void navigate({
        to: "/app/p/$projectId/evaluators/$metricId",
        params: { projectId, metricId },
      });
    },
  });
  const update = useRpcMutation(MetricService.method.updateMetric, {
    changes,
    onStored: forget,
    onDone: () => {
      showToast({ text: "Saved and deployed a new version" });
    },
  });
  return {
    run: () => {
      if (metric) update.mutate({ ...toChanges(before, after), id: metric.id } as never);
      else create.mutate(toMetric(after));
    },
    isBusy: create.isPending || update.isPending,
    error: create.error ?? update.error,
  };
}

function DeleteButton({ metric }: { readonly metric: Metric }) {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const isAllowed = useMay()(MetricService.method.deleteMetric);
  if (!isAllowed) return null;
  return (
    <>
      <Button variant="ghost" icon={<Trash2 />} onClick={() => setOpen(true)}>
        Delete
      </Button>
      <ConfirmCall
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`Delete “${metric.name}”?`}
        description="It runs no more, and its backfills are cancelled. The scores on events stay."
        action="Delete evaluator"
        busyLabel="Deleting…"
        method={MetricService.method.deleteMetric}
        input={{ id: metric.id }}
        changes={[MetricService.method.listMetrics]}
        onDone={() => void navigate({ to: "/app/p/$projectId/evaluators", params: { projectId } })}
      />
    </>
  );
}
