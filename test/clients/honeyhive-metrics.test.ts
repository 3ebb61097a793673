// Metrics as users of npm honeyhive 1.0.42 and of PyPI honeyhive 1.7.0 keep and run them; both
// clients refuse answers that are not as they were published.
// Source: the published clients; docs/decisions.md, 22.1 and 23.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import {
  givenReport,
  honeyhiveReport,
  installNode,
  installPython,
  nodeReport,
} from "./environment.ts";

type Refusal = { readonly statusCode: number; readonly body: string };
type NodeReport = {
  readonly created: readonly unknown[];
  readonly refused: { readonly composite: Refusal; readonly code: Refusal };
  readonly changed: readonly unknown[];
};
type PythonReport = Readonly<Record<string, unknown>>;

const service = givenStarted(startService);

/** Makes a metric as the documentation writes it, beside those of the client. */
async function makeByHand(): Promise<void> {
  const filterArray = [{ field: "outputs.content", operator: "exists" }];
  const code = { type: "PYTHON", criteria: "result = 1" };
  const { status } = await fetch(`${service.url}/v1/metrics`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.projectKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ ...code, name: "by hand", filters: { filterArray } }),
  });
  // The second client finds it there.
  expect([200, 409]).toContain(status);
}

const byClient = { task: "demo", description: "by the client" };
const short = {
  ...byClient,
  name: "short",
  type: "custom",
  returnType: "boolean",
  passWhen: true,
  enabledInProd: true,
  needsGroundTruth: false,
  eventType: "model",
  eventName: "answer",
  codeSnippet: "def evaluate(event):\n    return len(outputs['content']) < 9\n",
};
const judged = {
  ...byClient,
  name: "judged",
  type: "model",
  returnType: "float",
  needsGroundTruth: true,
  prompt: "Rate {{ outputs.content }} against {{ feedback.ground_truth }}. [[rating]]",
  threshold: { min: 1, max: 5 },
  modelProvider: "openai",
  modelName: "gpt-4o",
};

describe("npm honeyhive 1.0.42", () => {
  const report = givenReport("npm honeyhive 1.0.42", installNode, async (environment) => {
    await makeByHand();
    return nodeReport<NodeReport>(environment, "honeyhive-metrics.mjs", [
      service.url,
      service.projectKey,
      service.projectName,
    ]);
  });

  test("creates metrics of each type and reads them", () => {
    expect(report.created).toMatchObject([
      { ...byClient, name: "asked", type: "human", criteria: "Is it kind?" },
      { name: "by hand" },
      judged,
      short,
    ]);
  });

  test("reads why a metric is refused", () => {
    const { composite, code } = report.refused;

    expect([composite.statusCode, code.statusCode]).toEqual([400, 400]);
    expect(composite.body).toContain("composite evaluators were removed");
    expect(code.body).toContain("code_snippet: line 1, column 7");
  });

  test("changes one and deletes another", () => {
    const changed = { description: "changed", enabledInProd: false, eventType: "tool" };

    expect(report.changed).toMatchObject([{ name: "by hand" }, judged, { ...short, ...changed }]);
  });
});

describe("PyPI honeyhive 1.7.0", () => {
  const report = givenReport(
    "PyPI honeyhive 1.7.0",
    () => installPython("honeyhive.txt"),
    async (environment) => {
      await makeByHand();
      return honeyhiveReport<PythonReport>(environment, "honeyhive_metrics.py", [
        service.url,
        service.projectKey,
      ]);
    },
  );

  test("creates, changes and lists metrics, those with filters by hand too", () => {
    const byHand = { field: "outputs.content", operator: "exists", value: null, type: "string" };
    const graded = {
      name: "graded",
      type: "PYTHON",
      return_type: "categorical",
      sampling_percentage: 25,
      description: "changed",
      version: "v3",
      enabled_in_prod: false,
      categories: [
        { category: "good", score: 1 },
        { category: "bad", score: null },
      ],
      threshold: { passing_categories: ["good"] },
    };

    expect(report["listed"]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "by hand", filters: { filterArray: [byHand] } }),
        expect.objectContaining(graded),
        expect.objectContaining({ id: report["least"], name: "least", return_type: "float" }),
      ]),
    );
    expect(report["one"]).toMatchObject([graded]);
    expect(report["deleted"]).toEqual({ deleted: true });
    expect(report["left"]).not.toContain("least");
  });

  test("makes a version and deploys it", () => {
    expect(report["deployed"]).toMatchObject({ name: "v3", deployed: true });
    expect(report["versions"]).toMatchObject([
      { name: "v1", message: "created", deployed: false },
      { name: "v2", message: "updated description", deployed: false },
      { name: "v3", message: "always bad", content: { criteria: "result = 'bad'" } },
    ]);
  });

  test("runs one on an event, by both paths", () => {
    expect(report).toMatchObject({
      scored: { success: true, loading: false, result: "hi!", explanation: "why" },
      compared: { success: true, result: true, explanation: null },
      without: { success: false, result: null },
      failed: { status: 422, message: expect.stringContaining("division by zero") as unknown },
    });
  });
});
