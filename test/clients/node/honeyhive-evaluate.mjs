// honeyhive 1.0.42's evaluate(), over a dataset of its own and one of the service.
// Run by test/clients/honeyhive-evaluators.test.ts: honeyhive-evaluate.mjs FOLDER URL API_KEY
// PROJECT DATASET_ID

import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, url, apiKey, project, datasetId] = process.argv.slice(2);
const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(`${level}: ${words.join(" ")}`);
}
// evaluate() hands its client no URL, so its calls go to the published host. In place of DNS:
const published = "https://api.honeyhive.ai";
const fetchAny = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const asked = input instanceof Request ? input.url : String(input);
  if (!asked.startsWith(published)) return fetchAny(input, init);
  const here = url + asked.slice(published.length);
  return input instanceof Request ? fetchAny(new Request(here, input)) : fetchAny(here, init);
};
const require = createRequire(join(folder, "package.json"));
const { HoneyHive, evaluate } = require("honeyhive");

function length(outputs) {
  return outputs.answer.length;
}

async function exact(outputs, inputs, groundTruth) {
  return outputs.answer === groundTruth.answer;
}

const short = ({ question }) => ({ answer: question.slice(0, 1) });
const echo = ({ question }) => ({ answer: question });
const own = [
  { inputs: { question: "a" }, ground_truths: { answer: "a" } },
  { inputs: { question: "bb" }, ground_truths: { answer: "bb" } },
  { inputs: { question: "ccc" }, ground_truths: { answer: "c" } },
];
const settings = { apiKey, project, serverUrl: url, maxWorkers: 2, evaluators: [length, exact] };

async function run(name, answer, dataset) {
  const { runId, status } = await evaluate({ ...settings, name, function: answer, ...dataset });
  return { runId, status };
}

const first = await run("short", short, { dataset: own });
const second = await run("echo", echo, { dataset: own });
const managed = await run("managed", echo, { datasetId });
const { experiments } = new HoneyHive({ bearerAuth: apiKey, serverURL: url });
const resultOf = ({ runId }) => experiments.getExperimentResult(runId, project, "average");
const pair = [second.runId, first.runId];
const report = {
  ...{ complaints, first, second, managed },
  firstResult: await resultOf(first),
  managedResult: await resultOf(managed),
  compared: await experiments.getExperimentComparison(...pair, project, "average"),
};
console.log(JSON.stringify(report));
process.exit(0);
