// Retention carried out by the schedule of a real Temporal: what goes, what stays, the report, and
// the files.

import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScheduleOverlapPolicy } from "@temporalio/client";
import { parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { givenWorker } from "../support/given-worker.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { patience } from "../support/patience.ts";
import { startService, type TestService } from "../support/service.ts";
import { withKey } from "../support/tenants.ts";
import { isRecording, recordHistory } from "./histories.ts";

let service: TestService;
let folder: string;

const flags = () => ({ "retention-export": folder });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waggle-retention-"));
  service = await startService(flags());
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});
const workflows = givenWorker("retention", () => service.database, flags);

const dayMs = 86_400_000;
const nowMs = Date.now();

/** Returns a call of the retention of a project by a data plane key. */
async function caller(project: MetricProject) {
  const options = { kind: "data_plane", root: "project" } as const;
  const credential = await withKey(service.database, project, options);
  return async (method: string, path = "", body?: object): Promise<JsonObject> => {
    const url = `${service.url}/v1/projects/${project.projectId}/retention${path}`;
    const response = await fetch(url, {
      method,
      headers: { ...credential, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, ...((await response.json()) as JsonObject) };
  };
}

/** Stores model events of a session, each some days old. */
async function give(project: MetricProject, session: string, ...daysOld: readonly number[]) {
  const events = daysOld.map((days, at) => ({
    event_id: `${session}-${at}`,
    event_type: "model",
    event_name: "call",
    source: "sdk",
    session_id: session,
    start_time: nowMs - days * dayMs,
    duration: 10,
    inputs: { text: "séance" },
  }));
  await project.ok("POST /v1/events/batch", { events });
}

type Run = JsonObject & { readonly state: string; readonly files: readonly string[] };

/** Has the schedule look, and waits until a project has so many completed runs. */
async function runs(call: Awaited<ReturnType<typeof caller>>, count: number): Promise<Run[]> {
  const schedule = workflows.operator.client.schedule.getHandle("waggle-retention");
  await vi.waitUntil(() => schedule.describe().catch(() => undefined), patience);
  await schedule.trigger(ScheduleOverlapPolicy.ALLOW_ALL);
  return vi.waitUntil(
    async () => {
      const all = (await call("GET", "/runs"))["data"] as unknown as Run[];
      return all.filter(({ state }) => state === "completed").length >= count && all;
    },
    { ...patience, interval: 100 },
  );
}

test("sessions go when their newest event is old, with all that belongs to them", async () => {
  const project = await givenAMetricProject(service);
  const { projectId } = project;
  const call = await caller(project);
  await give(project, "old", 40, 35);
  await give(project, "lives", 40, 3);
  await give(project, "new", 2);
  await project.ok("POST /feedback", {
    generation_id: "old-0",
    task: "t",
    feedback_json: { rating: 1 },
  });
  const sql = service.database.sql();
  for (const eventId of ["old-0", "lives-0"]) {
    await sql`
      insert into scores (project_id, evaluator_id, version, event_id, state, enablement)
      values (${projectId}, ${createUuid()}, 1, ${eventId}, 'scored', 1)`;
  }

  const before = await call("GET");
  const preview = await call("GET", "/preview?days=30");
  const set = await call("PUT", "", { days: 30 });
  const [run] = await runs(call, 1);

  expect(before).toMatchObject({ status: 200, data: { days: null, is_exported: true } });
  expect(preview).toMatchObject({ status: 200, data: { days: 30, sessions: 1, events: 3 } });
  expect(set).toMatchObject({ status: 200, data: { days: 30 } });
  expect(await call("GET", "/preview")).toMatchObject({ data: { days: 30, sessions: 0 } });
  expect(run).toMatchObject({
    state: "completed",
    skipped_sessions: 0,
    deleted: { sessions: 1, events: 3, scores: 1, feedback: 1, annotation_items: 0 },
  });
  expect((await project.call("GET /v1/sessions/old")).status).toBe(404);
  expect((await project.call("GET /v1/events/old-0")).status).toBe(404);
  expect((await project.call("GET /v1/events/lives-0")).status).toBe(200);
  expect((await project.call("GET /v1/events/new-0")).status).toBe(200);
  const [left] = await sql`
    select
      (select count(*)::integer from scores where project_id = ${projectId}) as scores,
      (select count(*)::integer from feedback where project_id = ${projectId}) as feedback,
      (select count(*)::integer from session_totals where project_id = ${projectId}) as totals`;
  expect(left).toEqual({ scores: 1, feedback: 0, totals: 2 });
  const [file = ""] = run?.files ?? [];
  const bytes = await readFile(join(folder, file));
  const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer });
  expect(rows.map((row) => String(row["event_id"])).toSorted()).toEqual(["old", "old-0", "old-1"]);
  expect(rows.find((row) => row["event_id"] === "old-1")?.["inputs"]).toBe('{"text":"séance"}');
  if (!isRecording) return;
  for (const [name, type] of [
    ["apply-retention", "applyRetention"],
    ["check-retention", "checkRetention"],
  ] as const) {
    const query = `WorkflowType = '${type}' and ExecutionStatus = 'Completed'`;
    for await (const { workflowId } of workflows.operator.client.workflow.list({ query })) {
      await recordHistory(workflows.operator.client, workflowId, name);
    }
  }
}, 300_000);

test("many sessions go in batches, each in a file of its own", async () => {
  const project = await givenAMetricProject(service);
  const call = await caller(project);
  const sessions = 450;
  for (let at = 0; at < sessions; at += 1) await give(project, `s${at}`, 10 + at / sessions);
  await give(project, "kept", 1);
  await call("PUT", "", { days: 7 });

  const [run] = await runs(call, 1);

  expect(run).toMatchObject({ deleted: { sessions, events: 2 * sessions } });
  expect(run?.files).toHaveLength(3);
  const written = await readdir(join(folder, project.projectId, run?.["id"] as string));
  expect(written.toSorted()).toEqual(["000001.parquet", "000002.parquet", "000003.parquet"]);
  const { totalEvents } = await project.ok("POST /v1/events/export", { filters: [] });
  expect(totalEvents).toBe(2);
}, 300_000);

test("a folder that cannot be written costs nothing, and its failures are counted", async () => {
  const project = await givenAMetricProject(service);
  const call = await caller(project);
  await give(project, "old", 40);
  await call("PUT", "", { days: 30 });
  await rename(folder, `${folder}-away`);
  await writeFile(folder, "a file in the place of the folder");

  await runs(call, 0);
  await vi.waitUntil(async () => {
    const counts = await workflows.metrics.registry.metrics();
    return /waggle_activities_total\{.*"deleteRetentionBatch",result="failed"\} [1-9]/.test(counts);
  }, patience);
  const kept = await project.call("GET /v1/sessions/old");
  await rm(folder);
  await rename(`${folder}-away`, folder);
  const [run] = await runs(call, 1);

  expect(kept.status).toBe(200);
  expect(run).toMatchObject({ deleted: { sessions: 1, events: 2 } });
  expect(run?.files).toHaveLength(1);
}, 300_000);

test("a project whose retention ended, or lies far back, keeps everything", async () => {
  const project = await givenAMetricProject(service);
  const other = await givenAMetricProject(service);
  const call = await caller(project);
  await give(project, "old", 400);
  await give(other, "old", 400);
  await call("PUT", "", { days: 365 });
  await call("DELETE");

  const otherCall = await caller(other);
  await otherCall("PUT", "", { days: 3_650 });
  await runs(otherCall, 1);

  expect((await project.call("GET /v1/sessions/old")).status).toBe(200);
  expect((await other.call("GET /v1/sessions/old")).status).toBe(200);
  expect((await call("GET"))["data"]).toMatchObject({ days: null });
  expect((await call("GET", "/runs"))["data"]).toEqual([]);
  for (const days of [0, 3_651, 1.5, null]) {
    expect(await call("PUT", "", { days })).toMatchObject({ status: 400 });
  }
}, 300_000);
