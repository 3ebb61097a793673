// Metrics by honeyhive 1.0.42's client, which validates what it sends and what it gets.
// Run by test/clients/honeyhive-metrics.test.ts: honeyhive-metrics.mjs FOLDER URL API_KEY PROJECT

import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, url, apiKey, project] = process.argv.slice(2);
const require = createRequire(join(folder, "package.json"));
const { HoneyHive } = require("honeyhive");

const { metrics } = new HoneyHive({ bearerAuth: apiKey, serverURL: url });
const named = { task: project, description: "by the client" };

/** Answers what the client throws. */
async function refusalOf(metric) {
  try {
    await metrics.createMetric(metric);
  } catch ({ statusCode, body }) {
    return { statusCode, body };
  }
}

await metrics.createMetric({
  ...named,
  name: "short",
  type: "custom",
  returnType: "boolean",
  codeSnippet: "def evaluate(event):\n    return len(outputs['content']) < 9\n",
  enabledInProd: true,
  needsGroundTruth: true,
  passWhen: true,
  eventType: "model",
  eventName: "answer",
});
await metrics.createMetric({
  ...named,
  name: "judged",
  type: "model",
  returnType: "float",
  prompt: "Rate {{ outputs.content }} against {{ feedback.ground_truth }}. [[rating]]",
  threshold: { min: 1, max: 5 },
  modelProvider: "openai",
  modelName: "gpt-4o",
});
await metrics.createMetric({
  ...named,
  name: "asked",
  type: "human",
  returnType: "string",
  criteria: "Is it kind?",
});
const created = await metrics.getMetrics(project);
const idOf = (name) => created.find((metric) => metric.name === name).id;

const composite = { ...named, name: "both", type: "composite", returnType: "float" };
const refused = {
  composite: await refusalOf({ ...composite, childMetrics: [{ name: "short" }] }),
  code: await refusalOf({ ...composite, type: "custom", codeSnippet: "def f(:" }),
};
await metrics.updateMetric({
  metricId: idOf("short"),
  description: "changed",
  enabledInProd: false,
  eventType: "tool",
});
await metrics.deleteMetric(idOf("asked"));
console.log(JSON.stringify({ created, refused, changed: await metrics.getMetrics(project) }));
