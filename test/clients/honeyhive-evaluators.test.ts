// Experiments of PyPI honeyhive 1.7.0 that the service's own evaluators score: evaluate() over a
// managed dataset, with evaluators of the client beside them and without.
// Source: the published client; docs/experiments.md.

import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { newDataset } from "../support/dataset-files.ts";
import { openTestClusters } from "../support/database.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService, type TestService } from "../support/service.ts";
import { startTestTemporal } from "../support/temporal.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";
import { targetOf } from "../support/workflows.ts";
import { honeyhiveReport, installPython, sayMissing } from "./environment.ts";
import { programTimeoutMs } from "./program.ts";

type Runs = { readonly both: string; readonly server: string };

let service: TestService;
let temporal: Awaited<ReturnType<typeof startTestTemporal>> | undefined;
let worker: TestWorker | undefined;
let missing: string | undefined;
let project: MetricProject;
let runs: Runs;

beforeAll(async () => {
  service = await startService();
  const environment = await installPython("honeyhive.txt");
  temporal = await startTestTemporal();
  missing = environment.missing ?? temporal.missing;
  sayMissing("PyPI honeyhive 1.7.0 with evaluators", missing === undefined ? {} : { missing });
  if (environment.missing !== undefined || temporal.missing !== undefined) return;
  const { database } = service;
  const target = targetOf(temporal);
  worker = await startWorker({ target, database, clusters: openTestClusters(database) });
  project = await givenAMetricProject(service);
  for (const metric of metrics) await project.make({ ...metric, ...onTheRun });
  const datasetId = await givenADataset(project);
  runs = await honeyhiveReport<Runs>(environment, "honeyhive_evaluators.py", [
    ...[service.url, project.key, datasetId],
  ]);
}, programTimeoutMs);
afterAll(async () => {
  await worker?.stop();
  if (temporal?.missing === undefined) await temporal?.stop();
  await service.stop();
});
beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing);
});

const metrics = [
  { name: "characters", criteria: "def evaluate(event):\n    return len(outputs['answer'])\n" },
  {
    name: "is right",
    criteria: "result = outputs['answer'] == feedback['ground_truth']['answer']\n",
    return_type: "boolean",
  },
];

/** A sampling of 1 % leaves events of runs at 100 %. */
const onTheRun = {
  ...{ type: "PYTHON", enabled_in_prod: true, sampling_percentage: 1 },
  filters: { filterArray: [{ field: "event_type", operator: "is", value: "session" }] },
};

async function givenADataset(of: MetricProject): Promise<string> {
  const datasetId = await newDataset(of);
  await of.ok(`POST /v1/datasets/${datasetId}/datapoints`, {
    data: ["a", "bb", "ccc"].map((question) => ({ question, answer: question.slice(0, 2) })),
    mapping: { inputs: ["question"], ground_truth: ["answer"], history: [] },
  });
  return datasetId;
}

async function untilScored(runId: string) {
  await vi.waitUntil(
    async () => {
      const { complete, events } = await project.ok(`GET /v1/runs/${runId}/progress`);
      return complete === true && Number(events) > 0;
    },
    { timeout: 120_000, interval: 100 },
  );
  const result = await project.ok(`GET /v1/runs/${runId}/result`);
  return (result["metrics"] as { readonly details: unknown }).details;
}

const serverSide = [
  { metric_name: "characters", event_type: "session", aggregate: 2 },
  { metric_name: "is right", event_type: "session", aggregate: 2 / 3 },
];

test("a run has the scores of the client and of the service", async () => {
  expect(await untilScored(runs.both)).toMatchObject([
    ...serverSide,
    { metric_name: "length", aggregate: 2 },
  ]);
});

test("a run without evaluators of the client has those of the service", async () => {
  expect(await untilScored(runs.server)).toMatchObject(serverSide);
});
