// Executions of runs in the whole service: a dataset, a configuration and a run, and calls.

import { expect, vi } from "vitest";
import { newDataset } from "./dataset-files.ts";
import { givenAMetricProject, type MetricProject } from "./metrics.ts";
import type { TestService } from "./service.ts";

export type ExecutionAnswer = {
  readonly state: string;
  readonly error: string | null;
  readonly cost: number;
  readonly workflow_id: string;
  readonly progress: Readonly<Record<string, number>>;
};

export type ExecutableRun = {
  readonly project: MetricProject;
  readonly runId: string;
  readonly datasetId: string;
  readonly datapointIds: readonly string[];
  /** Starts the execution. */
  start(more?: Readonly<Record<string, unknown>>): Promise<ExecutionAnswer>;
  get(): Promise<ExecutionAnswer>;
  change(verb: "cancel" | "resume"): Promise<ExecutionAnswer>;
  until(state: string): Promise<void>;
};

/** Creates a run over a dataset of questions 0 to `count - 1`, and a configuration for `model`. */
export async function givenAnExecutableRun(
  service: TestService,
  model: string,
  count: number,
): Promise<ExecutableRun> {
  const project = await givenAMetricProject(service);
  const datasetId = await newDataset(project);
  const data = Array.from({ length: count }, (_, n) => ({
    n,
    question: `What is ${n}?`,
    truth: n,
  }));
  const added = await project.ok(`POST /v1/datasets/${datasetId}/datapoints`, {
    data,
    mapping: { inputs: ["n", "question"], ground_truth: ["truth"], history: [] },
  });
  await project.ok("POST /v1/configurations", {
    name: "asker",
    provider: "openai",
    parameters: {
      call_type: "chat",
      model,
      hyperparameters: { temperature: 0 },
      template: [{ role: "user", content: "{{ question }}" }],
    },
  });
  const run = await project.ok("POST /v1/runs", { name: "Nightly", dataset_id: datasetId });
  const runId = String(run["run_id"]);
  const path = `/v1/runs/${runId}`;
  const ask = async (route: string, body?: object): Promise<ExecutionAnswer> =>
    (await project.ok(route, body))["data"] as ExecutionAnswer;
  const get = () => ask(`GET ${path}/execution`);
  return {
    project,
    runId,
    datasetId,
    datapointIds: added["datapoint_ids"] as string[],
    start: (more = {}) => ask(`POST ${path}/execute`, { configuration: "asker", ...more }),
    get,
    change: (verb) => ask(`POST ${path}/execution/${verb}`, {}),
    async until(state) {
      await vi.waitUntil(async () => (await get()).state === state, {
        timeout: 900_000,
        interval: 200,
      });
      expect((await get()).state).toBe(state);
    },
  };
}
