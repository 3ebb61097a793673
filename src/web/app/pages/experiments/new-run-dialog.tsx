// NewRunDialog: has the service run a saved prompt on each datapoint of a dataset.

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ConfigurationService } from "../../../../../gen/waggle/v1/configuration_pb.js";
import { DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { ExecutionService } from "../../../../../gen/waggle/v1/execution_pb.js";
import { RunService } from "../../../../../gen/waggle/v1/run_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useChange, useRpc } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
import { SelectField, TextField } from "../../design/fields.tsx";
import { Dialog } from "../../design/overlay.tsx";
import { ReadState } from "../../design/states.tsx";
import { listedMax, unlistedNote } from "../datasets/listed.ts";

export type NewRunDialogProps = {
  readonly onClose: () => void;
  readonly onStarted: (runId: string) => void;
};

type Values = {
  readonly name: string;
  readonly prompt: string;
  readonly dataset: string;
  readonly environment: string;
  readonly model: string;
};

export function NewRunDialog({ onClose, onStarted }: NewRunDialogProps) {
  const [typed, setTyped] = useState<Values>({
    name: "",
    prompt: "",
    dataset: "",
    environment: "",
    model: "",
  });
  const promptList = useRpc(ConfigurationService.method.listConfigurations, {});
  const datasetList = useRpc(DatasetService.method.listDatasets, { limit: listedMax });
  const prompts = promptList.data?.configurations;
  const datasets = datasetList.data?.datasets;
  const values = {
    ...typed,
    prompt: typed.prompt || (prompts?.[0]?.id ?? ""),
    dataset: typed.dataset || (datasets?.[0]?.id ?? ""),
  };
  const start = useStart(onStarted);
  const change = (part: Partial<Values>) => setTyped({ ...typed, ...part });
  return (
    <Dialog
      onClose={onClose}
      title="Start run"
      description="The service calls the model for each datapoint; evaluators score it."
      act={{
        label: "Start run",
        isForm: true,
        disabled: values.prompt === "" || values.dataset === "",
        busyLabel: "Starting",
        run: () => start.mutate(values),
        change: start,
      }}
    >
      <ReadState read={promptList} what="Loading the prompts" isInline />
      <ReadState read={datasetList} what="Loading the datasets" isInline />
      <Choices
        values={values}
        prompts={prompts?.map(({ id, name }) => ({ value: id, label: name }))}
        datasets={datasets?.map(({ id, name }) => ({ value: id, label: name }))}
        note={unlistedNote(datasetList.data)}
        onChange={change}
      />
    </Dialog>
  );
}

type Option = { readonly value: string; readonly label: string };

type ChoicesProps = {
  readonly values: Values;
  /** Undefined while they are read. */
  readonly prompts: readonly Option[] | undefined;
  readonly datasets: readonly Option[] | undefined;
  /** Says which datasets are not among them. */
  readonly note: string | undefined;
  readonly onChange: (part: Partial<Values>) => void;
};

const environments = [
  { value: "", label: "Newest version" },
  ...["dev", "staging", "prod"].map((name) => ({ value: name, label: `Deployed in ${name}` })),
];

function Choices({ values, prompts, datasets, note, onChange }: ChoicesProps) {
  const params = { projectId: useCurrentProjectId() };
  const noPrompt = (
    <Link to="/app/p/$projectId/prompts" params={params}>
      Save a prompt first
    </Link>
  );
  const noDataset = (
    <Link to="/app/p/$projectId/datasets" params={params}>
      Create a dataset first
    </Link>
  );
  const selects = [
    { key: "prompt", label: "Prompt", options: prompts, hint: undefined, none: noPrompt },
    { key: "dataset", label: "Dataset", options: datasets, hint: note, none: noDataset },
    { key: "environment", label: "Version", options: environments, hint: undefined, none: "" },
  ] as const;
  const inputs = [
    { key: "name", label: "Name", hint: "How the list shows the run." },
    { key: "model", label: "Model", hint: "provider/model; empty for that of the prompt." },
  ] as const;
  return (
    <>
      {selects.map(({ key, label, options, hint, none }) => (
        <SelectField
          key={key}
          label={label}
          hint={options?.length === 0 ? none : hint}
          value={values[key]}
          options={options ?? []}
          onChange={(value) => onChange({ [key]: value })}
        />
      ))}
      {inputs.map(({ key, label, hint }) => (
        <TextField
          key={key}
          label={label}
          hint={hint}
          value={values[key]}
          onChange={(text) => onChange({ [key]: text })}
        />
      ))}
    </>
  );
}

/** Makes the run and executes it; a run that cannot be executed is taken back. */
function useStart(onStarted: (runId: string) => void) {
  const projectId = useCurrentProjectId();
  const client = useQueryClient();
  return useChange<string, Values>({
    mutationFn: async ({ name, prompt, dataset, environment, model }) => {
      const { createRun, deleteRun } = RunService.method;
      const run = { datasetId: dataset, ...(name !== "" && { name }) };
      const { runId } = await callRpc(createRun, run, { projectId });
      const execution = {
        runId,
        configuration: prompt,
        ...(environment !== "" && { environment }),
        ...(model !== "" && { model }),
      };
      try {
        await callRpc(ExecutionService.method.executeRun, execution, { projectId });
      } catch (error) {
        await callRpc(deleteRun, { runId }, { projectId });
        throw error;
      }
      return runId;
    },
    onSuccess: async (runId) => {
      await client.invalidateQueries({ queryKey: [RunService.typeName] });
      onStarted(runId);
    },
  });
}
