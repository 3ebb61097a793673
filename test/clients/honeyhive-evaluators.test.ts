// Experiments that the service's own evaluators score: evaluate() of PyPI honeyhive 1.7.0 and of
// npm honeyhive 1.0.42, with evaluators of the client beside them and without.
// Source: the published clients; docs/experiments.md.

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { givenStarted } from "../support/given.ts";
import { newDataset } from "../support/dataset-files.ts";
import { openTestClusters } from "../support/database.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";
import { startTestTemporal } from "../support/temporal.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";
import { targetOf } from "../support/workflows.ts";
import {
  type Environment,
  honeyhiveReport,
  installNode,
  installPython,
  nodeReport,
  sayMissing,
} from "./environment.ts";
import { programTimeoutMs } from "./program.ts";

type Json = Readonly<Record<string, unknown>>;
type Runs = { readonly both: string; readonly server: string };

const service = givenStarted(startService);
let temporal: Awaited<ReturnType<typeof startTestTemporal>> | undefined;
let worker: TestWorker | undefined;
let project: MetricProject;
let datasetId: string;

beforeAll(async () => {
  temporal = await startTestTemporal();
  sayMissing("honeyhive with evaluators", temporal);
  if (temporal.missing !== undefined) return;
  const { database } = service;
  const target = targetOf(temporal);
  worker = await startWorker({ target, database, clusters: openTestClusters(database) });
  project = await givenAMetricProject(service);
  for (const metric of metrics) await project.make({ ...metric, ...onTheRun });
  datasetId = await givenADataset(project);
}, programTimeoutMs);

afterAll(async () => {
  await worker?.stop();
  if (temporal?.missing === undefined) await temporal?.stop();
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
  type: "PYTHON",
  enabled_in_prod: true,
  sampling_percentage: 1,
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

/** A test waits for runners, which start slowly where other tests take the processor. */
const waiting = { timeout: 240_000 };

async function untilScored(runId: string) {
  await vi.waitUntil(
    async () => {
      const { complete, events } = await project.ok(`GET /v1/runs/${runId}/progress`);
      return complete === true && Number(events) > 0;
    },
    { timeout: waiting.timeout - 5_000, interval: 100 },
  );
  const result = await project.ok(`GET /v1/runs/${runId}/result`);
  return (result["metrics"] as { readonly details: unknown }).details;
}

const serverSide = [
  { metric_name: "characters", event_type: "session", aggregate: 2 },
  { metric_name: "is right", event_type: "session", aggregate: 2 / 3 },
];

describe("PyPI honeyhive 1.7.0", () => {
  let environment: Environment;
  let runs: Runs;

  beforeAll(async () => {
    environment = await installPython("honeyhive.txt");
    sayMissing("PyPI honeyhive 1.7.0 with evaluators", environment);
    if (environment.missing !== undefined || temporal?.missing !== undefined) return;
    runs = await honeyhiveReport<Runs>(environment, "honeyhive_evaluators.py", [
      service.url,
      project.key,
      datasetId,
    ]);
  }, programTimeoutMs);
  beforeEach(({ skip }) => skipWithout(skip, environment));

  test("a run has the scores of the client and of the service", waiting, async () => {
    expect(await untilScored(runs.both)).toMatchObject([
      ...serverSide,
      { metric_name: "length", aggregate: 2 },
    ]);
  });

  test("a run without evaluators of the client has those of the service", waiting, async () => {
    expect(await untilScored(runs.server)).toMatchObject(serverSide);
  });
});

type NpmRun = { readonly runId: string; readonly status: string };
type NpmReport = {
  readonly complaints: readonly string[];
  readonly first: NpmRun;
  readonly second: NpmRun;
  readonly managed: NpmRun;
  readonly firstResult: Json;
  readonly managedResult: { readonly datapoints: readonly Json[] };
  readonly compared: { readonly metrics: readonly Json[] };
};

describe("npm honeyhive 1.0.42", () => {
  let environment: Environment;
  let report: NpmReport;

  beforeAll(async () => {
    environment = await installNode();
    sayMissing("npm honeyhive 1.0.42 with evaluators", environment);
    if (environment.missing !== undefined || temporal?.missing !== undefined) return;
    report = await nodeReport<NpmReport>(environment, "honeyhive-evaluate.mjs", [
      service.url,
      project.key,
      "demo",
      datasetId,
    ]);
  }, programTimeoutMs);
  beforeEach(({ skip }) => skipWithout(skip, environment));

  test("evaluates over a dataset of its own, and reads the result at once", () => {
    expect(report.complaints).toEqual([]);
    expect(report.first.status).toBe("completed");
    expect(report.firstResult).toMatchObject({ status: "completed" });
    expect(detailsOf(report.firstResult)).toMatchObject({
      length: { aggregate: 1, values: [1, 1, 1] },
      exact: { aggregate: 2 / 3 },
    });
  });

  test("evaluates over a dataset of the service", async () => {
    const { datapoints } = await project.ok(`GET /v1/datapoints?dataset_id=${datasetId}`);
    const ids = (datapoints as readonly Json[]).map(({ id }) => id);
    expect(report.managedResult.datapoints.map(({ datapointId }) => datapointId)).toEqual(
      expect.arrayContaining(ids),
    );
    expect(detailsOf(report.managedResult)).toMatchObject({
      length: { aggregate: 2 },
      exact: { aggregate: 2 / 3 },
    });
  });

  test("compares two runs", () => {
    const compared = report.compared.metrics.map((metric) => [metric["metricName"], metric]);
    expect(Object.fromEntries(compared)).toMatchObject({
      exact: { foundCount: 3, improvedCount: 1, degradedCount: 1, sameCount: 1 },
      length: { oldAggregate: 1, newAggregate: 2, improvedCount: 2, sameCount: 1 },
    });
  });

  test("its runs have the scores of the service, which are compared too", waiting, async () => {
    const { first, second } = report;
    await untilScored(first.runId);
    await untilScored(second.runId);

    const path = `GET /v1/runs/${second.runId}/compare-with/${first.runId}`;
    const { metrics: compared } = await project.ok(path);

    const scores = (compared as readonly Json[]).map((metric) => [metric["metric_name"], metric]);
    expect(Object.fromEntries(scores)).toMatchObject({
      characters: { metric_type: "PYTHON", old_aggregate: 1, new_aggregate: 2, improved_count: 2 },
    });
  });
});

type Skip = (note?: string) => void;

/** Skips a test where the client or Temporal cannot be installed. */
function skipWithout(skip: Skip, { missing }: Environment): void {
  const absent = missing ?? temporal?.missing;
  if (absent !== undefined) skip(absent);
}

/** Returns the scores of sessions in a result that the npm client read, by metric. */
function detailsOf(result: unknown): Json {
  const { details } = (result as { metrics: { details: readonly Json[] } }).metrics;
  const ofSessions = details.filter(({ eventType }) => eventType === "session");
  return Object.fromEntries(ofSessions.map((detail) => [detail["metricName"], detail])) as Json;
}
