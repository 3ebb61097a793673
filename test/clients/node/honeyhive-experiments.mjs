// Datasets, datapoints and runs by honeyhive 1.0.42's client, which validates what it gets.
// Run by test/clients/honeyhive-experiments.test.ts: honeyhive-experiments.mjs FOLDER URL API_KEY PROJECT

import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, url, apiKey, project] = process.argv.slice(2);
const require = createRequire(join(folder, "package.json"));
const { HoneyHive } = require("honeyhive");
const client = new HoneyHive({ bearerAuth: apiKey, serverURL: url });
const { datasets, datapoints, experiments, session, events } = client;

const made = await datasets.createDataset({ project, name: "npm", type: "evaluation" });
const datasetId = made.result.insertedId;
const { datapointIds } = await datasets.addDatapoints(
  {
    project,
    data: [{ question: "a", answer: "b" }],
    mapping: { inputs: ["question"], groundTruth: ["answer"], history: [] },
  },
  datasetId,
);
const alone = await datapoints.createDatapoint({
  project,
  inputs: { question: "c" },
  linkedDatasets: [datasetId],
});
const aloneId = alone.result.insertedId;
const managed = await datasets.getDatasets(project, undefined, datasetId);
const one = await datapoints.getDatapoint(datapointIds[0]);
const listed = await datapoints.getDatapoints(project, undefined, "npm");
await datapoints.updateDatapoint({ inputs: { question: "changed" } }, aloneId);
const changed = await datapoints.getDatapoint(aloneId);

/** Runs over the datapoints as evaluate() does; each session has a score. */
async function run(name, scoreOf) {
  const request = { project, name, eventIds: [], datasetId, status: "pending", metadata: {} };
  const { runId } = await experiments.createRun(request);
  const eventIds = [];
  for (const [index, id] of managed.testcases[0].datapoints.entries()) {
    const { sessionId } = await session.startSession({
      session: { project, sessionName: name, source: "evaluation" },
    });
    await events.updateEvent({
      eventId: sessionId,
      metadata: { run_id: runId, datapoint_id: id, dataset_id: datasetId },
      outputs: { result: index },
      metrics: { score: scoreOf(index) },
    });
    eventIds.push(sessionId);
  }
  await experiments.updateRun({ eventIds, status: "completed" }, runId);
  return runId;
}

const older = await run("older", (index) => index);
const newer = await run("newer", (index) => index + 1);
const report = {
  managed,
  one,
  listed,
  changed,
  got: await experiments.getRun(newer),
  runs: await experiments.getRuns(project),
  result: await experiments.getExperimentResult(newer, project, "average"),
  compared: await experiments.getExperimentComparison(newer, older, project, "average"),
  deletedRun: await experiments.deleteRun(older),
  deleted: await datapoints.deleteDatapoint(aloneId),
};
await datasets.updateDataset({ datasetId, name: "renamed" });
report.renamed = await datasets.getDatasets(project, undefined, datasetId);
await datasets.deleteDataset(datasetId);
report.left = await datasets.getDatasets(project);
console.log(JSON.stringify(report));
process.exit(0);
