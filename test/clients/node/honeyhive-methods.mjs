// Every public method of honeyhive 1.0.42 that reaches the server: its client's, its tracer's, its
// LangChain handler's, and the functions beside them.
// Run by test/clients/honeyhive-npm-methods.test.ts: honeyhive-methods.mjs FOLDER URL API_KEY PROJECT

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { inspect, isDeepStrictEqual } from "node:util";

const [folder, url, apiKey, project] = process.argv.slice(2);
const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(`${level}: ${words.join(" ")}`);
}
const require = createRequire(join(folder, "package.json"));
const honeyhive = require("honeyhive");
const { HoneyHive, HoneyHiveLangChainTracer, HoneyHiveTracer } = honeyhive;
const client = new HoneyHive({ bearerAuth: apiKey, serverURL: url });
const called = new Set();
const faults = [];
const refused = {};

/** Calls a method of an object under the name by which the report lists it. */
function callOn(object, name, method, words) {
  called.add(`${name}.${method}`);
  return object[method](...words);
}

/** Calls a method of the client; one that throws is a fault. */
async function call(api, method, ...words) {
  try {
    return await callOn(client[api], api, method, words);
  } catch (error) {
    faults.push(`${api}.${method}: ${inspect(error).slice(0, 500)}`);
  }
}

/** Calls a method of the client that the service refuses. */
async function refuse(api, method, ...words) {
  try {
    await callOn(client[api], api, method, words);
    faults.push(`${api}.${method}: was not refused`);
  } catch ({ statusCode, body }) {
    refused[`${api}.${method}`] = { statusCode, body: JSON.parse(body) };
  }
}

function check(name, got, want) {
  if (!isDeepStrictEqual(got, want)) faults.push(`${name}: ${inspect(got)}, not ${inspect(want)}`);
}

async function eventsOf(sessionId) {
  const filters = [{ field: "session_id", value: sessionId, operator: "is", type: "string" }];
  const { events } = await call("events", "getEvents", { project, filters, limit: 50 });
  return new Map(events.map((event) => [event.eventName, event]));
}

async function useConfigurations() {
  // The client wants `additionalProperties` set and sends their keys beside the others.
  const additionalProperties = { template: "{{ question }}" };
  const parameters = { callType: "chat", model: "gpt-4o", additionalProperties };
  const fields = { project, name: "asker", provider: "openai", parameters };
  await call("configurations", "createConfiguration", { ...fields, env: ["dev"] });
  const [made] = await call("configurations", "getConfigurations", project, "dev", "asker");
  check("configurations.getConfigurations", [made.name, made.env], ["asker", ["dev"]]);
  await call("configurations", "updateConfiguration", { ...fields, provider: "azure" }, made.id);
  const [changed] = await call("configurations", "getConfigurations", project);
  check("configurations.updateConfiguration", changed.provider, "azure");
  await call("configurations", "deleteConfiguration", made.id);
  const left = await call("configurations", "getConfigurations", project);
  check("configurations.deleteConfiguration", left, []);
}

async function useTools() {
  const find = { task: project, name: "find", parameters: { type: "object" } };
  const made = await call("tools", "createTool", { ...find, type: "function" });
  const id = made.result.insertedId;
  await call("tools", "updateTool", { ...find, id, description: "Finds" });
  const listed = await call("tools", "getTools");
  const fields = listed.map((tool) => [tool.id, tool.name, tool.description, tool.toolType]);
  check("tools.getTools", fields, [[id, "find", "Finds", "function"]]);
  await call("tools", "deleteTool", id);
  check("tools.deleteTool", await call("tools", "getTools"), []);
}

async function useProjects() {
  const [own, ...others] = await call("projects", "getProjects");
  check("projects.getProjects", [own.name, others], [project, []]);
  await refuse("projects", "createProject", { name: "another" });
  await refuse("projects", "updateProject", { projectId: own.id, name: "renamed" });
  await refuse("projects", "deleteProject", project);
}

async function useMetrics() {
  const length = { task: project, name: "length", description: "of the answer", type: "custom" };
  const codeSnippet = "def evaluate(event):\n    return 1\n";
  await call("metrics", "createMetric", { ...length, returnType: "float", codeSnippet });
  const [made] = await call("metrics", "getMetrics", project);
  check("metrics.getMetrics", made.name, "length");
  await call("metrics", "updateMetric", { metricId: made.id, description: "changed" });
  const [changed] = await call("metrics", "getMetrics", project);
  check("metrics.updateMetric", changed.description, "changed");
  await call("metrics", "deleteMetric", made.id);
  check("metrics.deleteMetric", await call("metrics", "getMetrics", project), []);
}

async function useDatasets() {
  const fields = { project, name: "questions", type: "evaluation" };
  const { result } = await call("datasets", "createDataset", fields);
  const datasetId = result.insertedId;
  const mapping = { inputs: ["question"], groundTruth: ["answer"], history: [] };
  const data = [{ question: "a", answer: "b" }];
  const added = await call("datasets", "addDatapoints", { project, data, mapping }, datasetId);
  const inputs = { question: "c" };
  const point = { project, inputs, linkedDatasets: [datasetId] };
  const made = await call("datapoints", "createDatapoint", point);
  const id = made.result.insertedId;
  const [dataset] = (await call("datasets", "getDatasets", project, undefined, datasetId))
    .testcases;
  check("datasets.getDatasets", dataset.datapoints, [...added.datapointIds, id]);
  await call("datapoints", "updateDatapoint", { inputs: { question: "d" } }, id);
  const { datapoint } = await call("datapoints", "getDatapoint", id);
  check("datapoints.getDatapoint", datapoint[0].inputs, { question: "d" });
  const { datapoints } = await call("datapoints", "getDatapoints", project, undefined, "questions");
  check("datapoints.getDatapoints", datapoints.length, 2);
  check("datapoints.deleteDatapoint", await call("datapoints", "deleteDatapoint", id), {
    deleted: true,
  });
  await call("datasets", "updateDataset", { datasetId, name: "renamed" });
  const renamed = await call("datasets", "getDatasets", project);
  check("datasets.updateDataset", renamed.testcases[0].name, "renamed");
  await call("datasets", "deleteDataset", datasetId);
  check("datasets.deleteDataset", await call("datasets", "getDatasets", project), {
    testcases: [],
  });
}

async function useEvents() {
  const session = { project, sessionName: "by client", source: "methods" };
  const { sessionId } = await call("session", "startSession", { session });
  const got = await call("session", "getSession", sessionId);
  check("session.getSession", [got.eventId, got.eventName], [sessionId, "by client"]);
  const base = { project, source: "methods", sessionId, eventName: "one", eventType: "tool" };
  const event = { ...base, config: {}, inputs: { q: 1 }, duration: 1 };
  const { eventId } = await call("events", "createEvent", { event });
  await call("events", "updateEvent", { eventId, feedback: { rating: 1 } });
  check("events.updateEvent", (await eventsOf(sessionId)).get("one").feedback, { rating: 1 });
  const events = [event, { ...event, eventName: "two" }];
  const batch = await call("events", "createEventBatch", { events });
  check("events.createEventBatch", batch.eventIds.length, 2);
  const modelEvent = {
    project,
    model: "gpt-4o",
    provider: "openai",
    messages: [{ role: "user", content: "hi" }],
    response: { role: "assistant", content: "hello" },
    duration: 42,
    usage: { total_tokens: 7 },
  };
  const model = await call("events", "createModelEvent", { modelEvent });
  const modelEvents = [modelEvent, modelEvent];
  const models = await call("events", "createModelEventBatch", { modelEvents });
  check("events.createModelEvent", model.success, true);
  check("events.createModelEventBatch", models.eventIds.length, 2);
  return sessionId;
}

async function useExperiments(sessionId) {
  const pending = { project, eventIds: [], status: "pending", metadata: {} };
  const older = await call("experiments", "createRun", { ...pending, name: "older" });
  const newer = await call("experiments", "createRun", { ...pending, name: "newer" });
  const done = { eventIds: [sessionId], status: "completed" };
  await call("experiments", "updateRun", done, newer.runId);
  const { evaluation } = await call("experiments", "getRun", newer.runId);
  check("experiments.getRun", [evaluation.name, evaluation.eventIds], ["newer", [sessionId]]);
  const { evaluations } = await call("experiments", "getRuns", project);
  check(
    "experiments.getRuns",
    evaluations.map(({ name }) => name),
    ["newer", "older"],
  );
  const asked = [project, "average"];
  const result = await call("experiments", "getExperimentResult", newer.runId, ...asked);
  check("experiments.getExperimentResult", result.status, "completed");
  const ids = [newer.runId, older.runId];
  const compared = await call("experiments", "getExperimentComparison", ...ids, ...asked);
  check("experiments.getExperimentComparison", compared.oldRun.name, "older");
  check(
    "experiments.deleteRun",
    (await call("experiments", "deleteRun", older.runId)).deleted,
    true,
  );
}

/** Spans of each way to trace, exported by OTLP, and the ways to enrich them and the session. */
async function useTracer() {
  const settings = { apiKey, project, serverUrl: url, sessionName: "traced", source: "methods" };
  const tracer = await callOn(HoneyHiveTracer, "HoneyHiveTracer", "init", [settings]);
  const by = (method, ...words) => callOn(tracer, "tracer", method, words);
  const beside = (name, ...words) => callOn(honeyhive, "honeyhive", name, words);
  const { sessionId } = tracer;
  check("tracer.startSession", await by("startSession"), sessionId);
  const inner = [
    by("traceFunction", { eventType: "tool", eventName: "by function" })(() => {
      by("enrichSpan", { metadata: { way: "method" } });
    }),
    by("traceModel", () => beside("enrichSpan", { metadata: { way: "function" } }), {
      eventName: "by model",
    }),
    by("traceTool", () => enrichStatically(), { eventName: "by tool" }),
    beside("traceFunction", { eventType: "tool", eventName: "beside function" })(() => 1),
    beside("traceModel", () => 1, { eventName: "beside model" }),
    beside("traceTool", () => 1, { eventName: "beside tool" }),
    beside("traceChain", () => 1, { eventName: "beside chain" }),
  ];
  const enrichStatically = () =>
    callOn(HoneyHiveTracer, "HoneyHiveTracer", "enrichSpan", [{ metadata: { way: "static" } }]);
  by("trace", () => {
    by("traceChain", () => inner.forEach((traced) => traced()), { eventName: "by chain" })();
  });
  by("logModel", { eventName: "logged", outputs: { content: "hello" } });
  by("getTracer").startSpan("of OpenTelemetry").end();
  await by("enrichSession", { metadata: { first: 1 } });
  await beside("enrichSession", { sessionId, metadata: { second: 2 } });
  await by("flush");
  await callOn(HoneyHiveTracer, "HoneyHiveTracer", "flush", []);

  const events = await eventsOf(sessionId);
  const { metadata } = events.get("traced") ?? {};
  check("enrichSession", [metadata?.first, metadata?.second], [1, 2]);
  for (const [name, way] of Object.entries({
    "by function": "method",
    "by model": "function",
    "by tool": "static",
  })) {
    check(`enrichSpan of ${name}`, events.get(name)?.metadata.way, way);
  }
  const names = ["by chain", "logged", "of OpenTelemetry"];
  for (const kind of ["function", "model", "tool", "chain"]) names.push(`beside ${kind}`);
  for (const name of names) check(`the span ${name}`, events.has(name), true);
}

/** Each callback of LangChain, as LangChain calls them: roots and steps below them. */
async function useLangChain() {
  const settings = { project, sessionName: "chained", apiKey, baseUrl: url };
  const handler = new HoneyHiveLangChainTracer(settings);
  const by = (method, ...words) => callOn(handler, "langChain", method, words);
  const named = (name) => ({ id: ["langchain", "openai", name] });
  let runs = 0;
  const newRun = () => `5e551000-0000-4000-8000-${String((runs += 1)).padStart(12, "0")}`;
  const root = newRun();
  const answer = { generations: [[{ text: "hello", generationInfo: { finish_reason: "stop" } }]] };
  const error = new Error("no answer");
  await by("handleChainStart", named("chain"), { question: "hi" }, root);
  for (const [kind, input, output] of [
    ["LLM", ["hi"], answer],
    ["Tool", "hi", "found"],
    ["Retriever", "hi", [{ pageContent: "x" }]],
  ]) {
    const [good, bad] = [newRun(), newRun()];
    await by(`handle${kind}Start`, named(kind), input, good, root);
    await by(`handle${kind}End`, output, good, root);
    await by(`handle${kind}Start`, named(`failed ${kind}`), input, bad, root);
    await by(`handle${kind}Error`, error, bad, root);
  }
  const agent = newRun();
  await by("handleAgentAction", { tool: "find", toolInput: "hi", log: "" }, agent, root);
  await by("handleAgentEnd", { returnValues: { output: "x" }, log: "" }, agent, root);
  await by("handleChainEnd", { answer: "hello" }, root);
  const failed = newRun();
  await by("handleChainStart", named("failed chain"), { question: "hi" }, failed);
  await by("handleChainError", error, failed);
  await by("setFeedback", { rating: 5 });
  await by("setMetric", { score: 1 });
  await by("setMetadata", { more: true });
  await by("setUserProperties", { user: "ada" });

  const { sessionId } = handler;
  const events = await eventsOf(sessionId);
  const names = ["chain", "failed chain", "Agent Action"];
  for (const kind of ["LLM", "Tool", "Retriever"]) names.push(kind, `failed ${kind}`);
  for (const name of names) check(`the log ${name}`, events.has(name), true);
  check("the log of an error", events.get("failed Tool")?.error, "no answer");
  check("a log's parent", events.get("LLM")?.parentId, root);
  const session = await call("session", "getSession", sessionId);
  check("langChain.setFeedback", session.feedback, { rating: 5 });
  check("langChain.setMetric", session.metrics, { score: 1 });
  check("langChain.setMetadata", session.metadata.more, true);
  check("langChain.setUserProperties", session.userProperties, { user: "ada" });
  check("complaints before startNewSession", complaints.splice(0), []);
  // It sends its session without the member `session`.
  await by("startNewSession");
}

/** Own methods of a class or an object's class, without those that its declarations call private. */
function methodsOf(object, privates = new Set()) {
  const members = Object.entries(Object.getOwnPropertyDescriptors(object));
  return members
    .filter(([name, { value }]) => typeof value === "function" && !privates.has(name))
    .map(([name]) => name)
    .filter((name) => name !== "constructor" && !name.startsWith("_"));
}

function privatesOf(file) {
  const path = join(folder, "node_modules/honeyhive/sdk", `${file}.d.ts`);
  const found = readFileSync(path, "utf8").matchAll(/^ +private (?:static )?(\w+)/gm);
  return new Set([...found].map(([, name]) => name));
}

/** Exported functions that send nothing; evaluate() has a program of its own. */
const elsewhere = new Set(["serverURLFromOptions", "getGitInfo", "evaluator", "evaluate"]);

function allMethods() {
  const apis = Object.entries(Object.getOwnPropertyDescriptors(HoneyHive.prototype));
  const named = (name, methods) => methods.map((method) => `${name}.${method}`);
  const traced = privatesOf("tracer");
  const chained = privatesOf("lc_tracer");
  const beside = Object.entries(honeyhive)
    .filter(([name, value]) => typeof value === "function" && !elsewhere.has(name))
    .filter(([, value]) => !String(value).startsWith("class"));
  return [
    ...apis.flatMap(([api, { get }]) =>
      get ? named(api, methodsOf(Object.getPrototypeOf(client[api]))) : [],
    ),
    ...named("tracer", methodsOf(HoneyHiveTracer.prototype, traced)),
    ...named("HoneyHiveTracer", methodsOf(HoneyHiveTracer, traced)),
    ...named("langChain", methodsOf(HoneyHiveLangChainTracer.prototype, chained)),
    ...named(
      "honeyhive",
      beside.map(([name]) => name),
    ),
  ];
}

async function tryAll() {
  try {
    await useConfigurations();
    await useTools();
    await useProjects();
    await useMetrics();
    await useDatasets();
    await useExperiments(await useEvents());
    await useTracer();
    await useLangChain();
  } catch (error) {
    faults.push(inspect(error));
  }
}

await tryAll();
const methods = allMethods();
const uncalled = methods.filter((name) => !called.has(name));
console.log(JSON.stringify({ faults, uncalled, methods, refused, complaints }));
process.exit(0);
