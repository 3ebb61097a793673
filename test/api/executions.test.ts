// Executions of runs over REST without a worker: refusals, and the states that requests set. The
// steps of a worker are in test/workflows. Source: docs/experiments.md, "Execution".

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { providersOf } from "../support/chats.ts";
import { givenAnExecutableRun } from "../support/executions.ts";
import { givenAMetricProject } from "../support/metrics.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { startService } from "../support/service.ts";

const standIn = givenStarted(startOpenAiStandIn);
const service = givenStarted(() => startService({ providers: providersOf(standIn) }));

describe("the start of an execution", () => {
  test.each([
    [{ configuration: "" }, /configuration/],
    [{ configuration: "absent" }, /^configuration: the project has no such configuration/],
    [{ environment: "prod" }, /^configuration: .*deployed in prod/],
    [{ environment: "moon" }, /^environment: must be one of dev, staging, prod, not "moon"/],
    [{ model: "nowhere/m" }, /^model: no provider is known for it/],
    [{ hyperparameters: { heat: 1 } }, /^hyperparameters\.heat: is none of/],
    [{ concurrency: 0 }, /^concurrency: must be 1 or more/],
    [{ concurrency: 33 }, /^concurrency: must be at most 32/],
    [{ dataset_id: "another" }, /^dataset_id: is not the dataset of the run/],
    [{ speed: 1 }, /speed/],
  ])("is refused with %j", async (more, message) => {
    const run = await givenAnExecutableRun(service, "gpt-4o-mini", 2);
    const body = { configuration: "asker", ...more };

    const got = await run.project.call(`POST /v1/runs/${run.runId}/execute`, body);

    expect(got).toMatchObject({ status: 400, json: { errorCode: "INVALID_ARGUMENT" } });
    expect(got.json["message"]).toMatch(message);
    expect(await run.project.call(`GET /v1/runs/${run.runId}/execution`)).toMatchObject({
      status: 404,
    });
    expect(standIn.requests).toHaveLength(0);
  });

  test("is refused where the first datapoint lacks a value of the template", async () => {
    const run = await givenAnExecutableRun(service, "gpt-4o-mini", 1);
    const { project } = run;
    const other = await project.ok("POST /v1/datasets", { name: "other" });
    const { insertedId } = other["result"] as { insertedId: string };
    const datapoint = { inputs: { n: 1 }, linked_datasets: [insertedId] };
    const execute = async () => {
      const created = await project.ok("POST /v1/runs", { name: "r", dataset_id: insertedId });
      const path = `POST /v1/runs/${String(created["run_id"])}/execute`;
      return project.call(path, { configuration: "asker" });
    };

    const empty = await execute();
    await project.ok("POST /v1/datapoints", datapoint);
    const lacking = await execute();

    expect([empty.status, empty.json["message"]]).toEqual([
      400,
      "dataset_id: the dataset has no datapoints",
    ]);
    expect([lacking.status, lacking.json["message"]]).toEqual([
      400,
      expect.stringMatching(/^inputs\.question: is missing/),
    ]);
  });

  test("is refused for a run without a dataset, and for one of another project", async () => {
    const { project, runId } = await givenAnExecutableRun(service, "gpt-4o-mini", 1);
    const { run_id: bare } = await project.ok("POST /v1/runs", { name: "bare" });
    const other = await givenAMetricProject(service);
    const body = { configuration: "asker" };

    const without = await project.call(`POST /v1/runs/${String(bare)}/execute`, body);
    const foreign = await other.call(`POST /v1/runs/${runId}/execute`, body);

    expect([without.status, without.json["message"]]).toEqual([
      400,
      "dataset_id: is required: the run names no dataset",
    ]);
    expect(foreign.status).toBe(404);
  });

  test("gives a run without a dataset the one of the request", async () => {
    const { project, datasetId } = await givenAnExecutableRun(service, "gpt-4o-mini", 3);
    const { run_id: bare } = await project.ok("POST /v1/runs", { name: "bare" });
    const body = { configuration: "asker", dataset_id: datasetId };
    const path = `POST /v1/runs/${String(bare)}/execute`;
    // A refused start leaves the run without a dataset.
    const refused = await project.call(path, { ...body, dataset_id: "absent" });

    await project.ok(path, body);

    const message = "dataset_id: the project has no such dataset";
    expect([refused.status, refused.json["message"]]).toEqual([400, message]);

    expect((await project.ok(`GET /v1/runs/${String(bare)}`))["evaluation"]).toMatchObject({
      status: "running",
      dataset_id: datasetId,
      dataset_version: 2,
    });
  });
});

test("a run is executed once, and its execution goes with it", async () => {
  const run = await givenAnExecutableRun(service, "gpt-4o-mini", 2);
  const path = `/v1/runs/${run.runId}`;
  await run.start();

  const second = await run.project.call(`POST ${path}/execute`, { configuration: "asker" });
  const resumed = await run.project.call(`POST ${path}/execution/resume`, {});
  const cancelled = [(await run.change("cancel")).state, (await run.change("cancel")).state];

  expect([second.status, second.json["errorCode"]]).toEqual([409, "EXECUTION_RUNNING"]);
  expect([resumed.status, resumed.json["errorCode"]]).toEqual([409, "EXECUTION_RUNNING"]);
  expect(cancelled).toEqual(["cancelling", "cancelling"]);
  await run.project.ok(`DELETE ${path}`);
  expect((await run.project.call(`GET ${path}/execution`)).status).toBe(404);
});

test("the audit log says who started and cancelled an execution", async () => {
  const run = await givenAnExecutableRun(service, "gpt-4o-mini", 2);
  await run.start();
  await run.change("cancel");

  const rows = await service.database.sql()<{ action: string; target: string }[]>`
    select action, target_id as target
    from audit_log
    where target_id = ${run.runId}
    order by action`;

  expect([...rows]).toEqual([
    { action: "execution.cancel", target: run.runId },
    { action: "execution.start", target: run.runId },
  ]);
});

test("a run without events has no scores to wait for", async () => {
  const { project, runId } = await givenAnExecutableRun(service, "gpt-4o-mini", 1);

  expect(await project.ok(`GET /v1/runs/${runId}/progress`)).toEqual({
    complete: true,
    events: 0,
    waiting: 0,
    metrics: [],
    total: { queued: 0, running: 0, scored: 0, failed: 0, cost: 0 },
  });
});
