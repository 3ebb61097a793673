// The cases of golden.test.ts on datasets, datapoints, runs and evaluations, in current and older
// forms. Source: the published clients of this API; docs/decisions.md, 27, 39.1 to 39.5.

import type { JsonObject } from "@bufbuild/protobuf";
import { OldDatasetService } from "../../gen/waggle/compat/v0/dataset_pb.js";
import { OldRunService } from "../../gen/waggle/compat/v0/run_pb.js";
import { DatapointService } from "../../gen/waggle/v1/datapoint_pb.js";
import { DatasetService } from "../../gen/waggle/v1/dataset_pb.js";
import { DatasetFileService } from "../../gen/waggle/v1/dataset_file_pb.js";
import { EvaluationService } from "../../gen/waggle/v1/evaluation_pb.js";
import { RunService } from "../../gen/waggle/v1/run_pb.js";
import { type Case, golden, type Request } from "./golden-case.ts";

const dataset = DatasetService.method;
const datapoint = DatapointService.method;
const datasetFile = DatasetFileService.method;
const oldDataset = OldDatasetService.method;
const run = RunService.method;
const evaluation = EvaluationService.method;

const named: JsonObject = { name: "questions", description: "Of travellers" };
const aDataset: Request = { route: "POST /v1/datasets", body: named };
const content: JsonObject = {
  inputs: { question: "Where to?" },
  history: [{ role: "user", content: "Hi" }],
  ground_truth: { answer: "Paris" },
  metadata: { level: 1 },
};
const inDataset: JsonObject = { ...content, linked_datasets: ["{dataset_id}"] };
const aDatapoint: Request = { route: "POST /v1/datapoints", body: inDataset };
const both: readonly Request[] = [aDataset, aDatapoint];
const added: JsonObject = {
  data: [{ question: "Why?", answer: "So", level: 2 }],
  mapping: { inputs: ["question"], ground_truth: ["answer"], history: [] },
};
const aRow = `${JSON.stringify(content)}\n`;
const theDataset: JsonObject = { dataset_id: "{dataset_id}" };
const theDatapoint: JsonObject = { id: "{datapoint_id}" };

const datasets: readonly Case[] = [
  golden("post-v1-datasets/created", "POST /v1/datasets", dataset.createDataset, { body: named }),
  golden("post-v1-datasets/absent-datapoint", "POST /v1/datasets", dataset.createDataset, {
    body: { ...named, datapoints: ["absent"] },
  }),
  golden("get-v1-datasets/listed", "GET /v1/datasets?name=questions", dataset.listDatasets, {
    given: both,
    message: { name: "questions" },
    key: "readOnly",
  }),
  golden("get-v1-datasets/one", "GET /v1/datasets/{dataset_id}", dataset.getDataset, {
    given: both,
    message: theDataset,
  }),
  golden("put-v1-datasets/changed", "PUT /v1/datasets", dataset.updateDataset, {
    given: both,
    body: { ...theDataset, name: "renamed" },
  }),
  golden("delete-v1-datasets/deleted", "DELETE /v1/datasets/{dataset_id}", dataset.deleteDataset, {
    given: both,
    message: theDataset,
  }),
  golden(
    "post-v1-datasets-datapoints/added",
    "POST /v1/datasets/{dataset_id}/datapoints",
    dataset.addDatapoints,
    { given: [aDataset], body: added, message: { ...theDataset, ...added } },
  ),
  golden(
    "delete-v1-datasets-datapoints/removed",
    "DELETE /v1/datasets/{dataset_id}/datapoints/{datapoint_id}",
    dataset.removeDatapoint,
    { given: both, message: { ...theDataset, datapoint_id: "{datapoint_id}" } },
  ),
  golden(
    "get-v1-datasets-versions/listed",
    "GET /v1/datasets/{dataset_id}/versions",
    dataset.listDatasetVersions,
    { given: both, message: theDataset },
  ),
  golden(
    "get-v1-datasets-export/json-lines",
    "GET /v1/datasets/{dataset_id}/export",
    datasetFile.exportDataset,
    { given: both, message: theDataset },
  ),
  golden(
    "post-v1-datasets-import/json-lines",
    "POST /v1/datasets/{dataset_id}/import",
    datasetFile.importDataset,
    {
      given: [aDataset],
      file: { type: "application/x-ndjson", text: aRow },
      message: {
        ...theDataset,
        http_body: { content_type: "application/x-ndjson", data: btoa(aRow) },
      },
    },
  ),
  golden(
    "post-v1-datasets-import/no-file",
    "POST /v1/datasets/{dataset_id}/import",
    datasetFile.importDataset,
    {
      given: [aDataset],
      body: {},
      message: { ...theDataset, http_body: { content_type: "application/json", data: "e30=" } },
    },
  ),
  golden("get-datasets/older", "GET /datasets?project=demo", oldDataset.listOldDatasets, {
    given: both,
  }),
];

const anEvent: Request = {
  route: "POST /events",
  body: {
    event: {
      event_type: "model",
      event_name: "answer",
      source: "golden",
      outputs: { content: "So" },
      event_id: "e7e17000-0000-4000-8000-0000000000d1",
      inputs: { question: "Why?" },
    },
  },
};
const selected: JsonObject = {
  ...theDataset,
  selectAll: true,
  filters: [{ field: "event_type", operator: "is", value: "model", type: "string" }],
  mapping: { inputs: ["inputs.question"], ground_truth: ["outputs"], history: [] },
};

const datapoints: readonly Case[] = [
  golden("post-v1-datapoints/created", "POST /v1/datapoints", datapoint.createDatapoint, {
    body: content,
  }),
  golden("post-v1-datapoints/absent-dataset", "POST /v1/datapoints", datapoint.createDatapoint, {
    body: { linked_datasets: ["absent"] },
  }),
  golden(
    "post-v1-datapoints-batch/selected",
    "POST /v1/datapoints/batch",
    datapoint.createDatapointsFromEvents,
    { given: [aDataset, anEvent], body: selected },
  ),
  golden("get-v1-datapoints/listed", "GET /v1/datapoints", datapoint.listDatapoints, {
    given: both,
    key: "readOnly",
  }),
  golden("get-v1-datapoints/one", "GET /v1/datapoints/{datapoint_id}", datapoint.getDatapoint, {
    given: both,
    message: theDatapoint,
  }),
  golden(
    "put-v1-datapoints/changed",
    "PUT /v1/datapoints/{datapoint_id}",
    datapoint.updateDatapoint,
    {
      given: both,
      body: { inputs: { question: "Why?" } },
      message: { ...theDatapoint, inputs: { question: "Why?" } },
    },
  ),
  golden(
    "delete-v1-datapoints/deleted",
    "DELETE /v1/datapoints/{datapoint_id}",
    datapoint.deleteDatapoint,
    { given: both, message: theDatapoint },
  ),
  golden("get-datapoints/older", "GET /datapoints", oldDataset.listOldDatapoints, { given: both }),
  golden("get-datapoints/one", "GET /datapoints/{datapoint_id}", oldDataset.getOldDatapoint, {
    given: both,
    message: theDatapoint,
  }),
];

const newId = "5e551000-0000-4000-8000-0000000000a1";
const oldId = "5e551000-0000-4000-8000-0000000000a2";
const at = 1_760_000_000_000;

const newRun: JsonObject = {
  run_id: newId,
  name: "newer",
  status: "completed",
  metadata: { offline_dataset_id: "EXT-1" },
  configuration: { function: "answer", evaluators: ["length"] },
  datapoint_ids: ["EXT-a", "EXT-b"],
  passing_ranges: { length: { max: 10 } },
};

/** A session on a datapoint, with a chain event that has scores. */
function aResult(runId: string, datapointId: string, length: number): readonly Request[] {
  const sessionId = runId.replace("0000000000a", length < 10 ? "0000000000b" : "0000000000c");
  const metadata = { run_id: runId, datapoint_id: datapointId };
  const session = { session_id: sessionId, session_name: "a try", source: "evaluation" };
  const times = { start_time: at + length, end_time: at + length + 5 };
  const event: JsonObject = {
    event_type: "chain",
    event_name: "answer",
    event_id: sessionId.replace("5e551000", "e7e17000"),
    session_id: sessionId,
    source: "evaluation",
    inputs: {},
    metadata,
    metrics: { length, length_explanation: "in words" },
    ...times,
  };
  return [
    { route: "POST /session/start", body: { session: { ...session, ...times, metadata } } },
    { route: "POST /events", body: { event } },
  ];
}

const aRun: readonly Request[] = [
  { route: "POST /v1/runs", body: newRun },
  ...aResult(newId, "EXT-a", 3),
  ...aResult(newId, "EXT-b", 30),
];
const twoRuns: readonly Request[] = [
  ...aRun,
  { route: "POST /v1/runs", body: { run_id: oldId, name: "older" } },
  ...aResult(oldId, "EXT-a", 5),
  ...aResult(oldId, "EXT-b", 20),
];
const theRun: JsonObject = { run_id: newId };
const thePair: JsonObject = { new_run_id: newId, old_run_id: oldId };

const runs: readonly Case[] = [
  golden("post-v1-runs/created", "POST /v1/runs", run.createRun, { body: newRun }),
  golden("post-v1-runs/wrong-status", "POST /v1/runs", run.createRun, { body: { status: "done" } }),
  golden("get-v1-runs/listed", "GET /v1/runs?name=new", run.listRuns, {
    given: twoRuns,
    message: { name: "new" },
    key: "readOnly",
  }),
  golden("get-v1-run/one", `GET /v1/runs/${newId}`, run.getRun, { given: aRun, message: theRun }),
  golden("get-v1-run/absent", `GET /v1/runs/${oldId}`, run.getRun, { message: { run_id: oldId } }),
  golden("put-v1-run/changed", `PUT /v1/runs/${newId}`, run.updateRun, {
    given: aRun,
    body: { status: "failed" },
    message: { ...theRun, status: "failed" },
  }),
  golden("delete-v1-run/deleted", `DELETE /v1/runs/${newId}`, run.deleteRun, {
    given: aRun,
    message: theRun,
  }),
  golden("get-v1-run-result/computed", `GET /v1/runs/${newId}/result`, run.getRunResult, {
    given: aRun,
    message: theRun,
  }),
  golden("get-v1-run-usage/summed", `GET /v1/runs/${newId}/usage`, run.getRunUsage, {
    given: aRun,
    message: theRun,
    key: "readOnly",
  }),
  golden(
    "get-v1-run-compare/computed",
    `GET /v1/runs/${newId}/compare-with/${oldId}`,
    run.compareRuns,
    {
      given: twoRuns,
      message: thePair,
    },
  ),
  golden(
    "get-v1-run-compare/events",
    `GET /v1/runs/compare/events?run_id_1=${newId}&run_id_2=${oldId}&event_type=chain`,
    run.compareRunEvents,
    { given: twoRuns, message: { run_id_1: newId, run_id_2: oldId, event_type: "chain" } },
  ),
  golden("get-v1-run-metrics/listed", `GET /v1/runs/${newId}/metrics`, run.listRunMetrics, {
    given: aRun,
    message: theRun,
  }),
  golden("get-v1-run-schema/one", `GET /v1/runs/${newId}/schema`, run.getRunSchema, {
    given: aRun,
    message: theRun,
  }),
  golden("get-v1-run-schema/all", "GET /v1/runs/schema", run.getRunSchema, { given: twoRuns }),
  golden("get-runs/older", "GET /runs?project=demo", OldRunService.method.listOldRuns, {
    given: twoRuns,
  }),
  golden("get-run-result/older", `GET /runs/${newId}/result`, run.getRunResult, {
    given: aRun,
    message: theRun,
  }),
];

const report: JsonObject = { name: "given", results: [{ score: 1 }], metrics: [[1]] };

const evaluations: readonly Case[] = [
  golden("get-evaluations/computed", `GET /evaluations/${newId}`, evaluation.getEvaluation, {
    given: aRun,
    message: { id: newId },
    key: "readOnly",
  }),
  golden("get-evaluations/absent", `GET /evaluations/${newId}`, evaluation.getEvaluation, {
    message: { id: newId },
  }),
  golden("post-evaluations/created", "POST /evaluations", evaluation.createEvaluation, {
    body: report,
  }),
  golden(
    "put-v1-evaluations-review/reviewed",
    `PUT /v1/evaluations/${newId}/review`,
    evaluation.reviewEvaluation,
    {
      given: aRun,
      body: { accepted: [true, false], comments: [{ text: "Too long", result: 1 }] },
      message: {
        id: newId,
        accepted: [true, false],
        comments: [{ text: "Too long", result: 1 }],
      },
    },
  ),
];

/** The calls of older clients whose rpcs are those of `/v1`. */
const older: readonly Case[] = [
  golden("post-datasets/older", "POST /datasets", dataset.createDataset, {
    body: { ...named, project: "demo", type: "evaluation" },
  }),
  golden("put-datasets/older", "PUT /datasets", dataset.updateDataset, {
    given: both,
    body: { ...theDataset, name: "renamed" },
  }),
  golden(
    "delete-datasets/older",
    "DELETE /datasets?dataset_id={dataset_id}",
    dataset.deleteDataset,
    {
      given: both,
      message: theDataset,
    },
  ),
  golden(
    "post-datasets-datapoints/older",
    "POST /datasets/{dataset_id}/datapoints",
    dataset.addDatapoints,
    {
      given: [aDataset],
      body: { ...added, project: "demo" },
      message: { ...theDataset, ...added },
    },
  ),
  golden("post-datapoints/older", "POST /datapoints", datapoint.createDatapoint, {
    body: { ...content, project: "demo" },
  }),
  golden("put-datapoints/older", "PUT /datapoints/{datapoint_id}", datapoint.updateDatapoint, {
    given: both,
    body: { inputs: { question: "Why?" } },
    message: { ...theDatapoint, inputs: { question: "Why?" } },
  }),
  golden(
    "delete-datapoints/older",
    "DELETE /datapoints/{datapoint_id}",
    datapoint.deleteDatapoint,
    {
      given: both,
      message: theDatapoint,
    },
  ),
  golden("post-runs/older", "POST /runs", run.createRun, {
    body: { ...newRun, project: "demo", event_ids: [] },
  }),
  golden("get-run/older", `GET /runs/${newId}`, run.getRun, { given: aRun, message: theRun }),
  golden("put-run/older", `PUT /runs/${newId}`, run.updateRun, {
    given: aRun,
    body: { status: "failed", event_ids: [] },
    message: { ...theRun, status: "failed" },
  }),
  golden("delete-run/older", `DELETE /runs/${newId}`, run.deleteRun, {
    given: aRun,
    message: theRun,
  }),
  golden("get-run-compare/older", `GET /runs/${newId}/compare-with/${oldId}`, run.compareRuns, {
    given: twoRuns,
    message: thePair,
  }),
];

export const experimentCases: readonly Case[] = [
  ...older,
  ...datasets,
  ...datapoints,
  ...runs,
  ...evaluations,
];
