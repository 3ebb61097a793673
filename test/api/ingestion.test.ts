// Ingestion of a project: each call that writes events is counted once, for its caller and outcome,
// over every protocol. Source: docs/ingestion.md.

import { toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeEach, expect, test, vi } from "vitest";
import { ExportTraceServiceRequestSchema } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { createByteBudget } from "../../src/base/byte-budget.ts";
import { parseExportRequest } from "../../src/transport/otlp/http.ts";
import { traces } from "../../src/transport/otlp/signals.ts";
import { callRoute } from "../support/call-route.ts";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";
import { addKey, withKey } from "../support/tenants.ts";

const service = givenStarted(startService);
let project: MetricProject;
let reader: Readonly<Record<string, string>>;

beforeEach(async () => {
  project = await givenAMetricProject(service);
  const options = { kind: "data_plane", root: "project" } as const;
  reader = await withKey(service.database, project, options);
});

type Group = Readonly<Record<string, unknown>>;
type Report = { readonly hours: readonly Group[]; readonly groups: readonly Group[] };

function get(query = "") {
  const path = `/v1/projects/${project.projectId}/ingestion${query}`;
  return callRoute({ url: service.url, headers: reader }, `GET ${path}`);
}

/** Returns the report once it has counted so many calls. */
async function reportOf(calls: number): Promise<Report> {
  let report: Report = { hours: [], groups: [] };
  await vi.waitUntil(async () => {
    const { json } = await get("?hours=2");
    report = (json as { readonly data: Report }).data;
    return report.groups.reduce((sum, group) => sum + Number(group["calls"]), 0) >= calls;
  }, patience);
  return report;
}

/** Outcomes by rpc, without the names of its service. */
function outcomesOf({ groups }: Report): Readonly<Record<string, unknown>> {
  const entries = groups.map(({ rpc, reason, calls, stored_events, rejected_events, message }) => [
    `${String(rpc).replace(/^.*\//, "")} ${String(reason)}`,
    [calls, stored_events, rejected_events, message],
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

const event = { event_type: "tool", event_name: "a tool", source: "test", inputs: {} };
const bad = { ...event, event_type: "nothing" };
const why = /event_type/;

test("Counts what each call stored and rejected, and keeps the last refusal.", async () => {
  await project.call("POST /events", { event });
  await project.call("POST /events", { event });
  await project.call("POST /events", { event: bad });
  await project.call("POST /events/batch", { events: [event, bad, event] });
  await project.call("POST /events/batch", { events: [bad, bad] });
  await project.call("POST /session/start", { session: { session_name: "s", source: "test" } });
  const report = await reportOf(6);
  expect(outcomesOf(report)).toEqual({
    "CreateEvent OK": [2, 2, 0, null],
    "CreateEvent INVALID_ARGUMENT": [1, 0, 0, expect.stringMatching(why)],
    "CreateEventBatch OK": [1, 2, 1, expect.stringMatching(why)],
    "CreateEventBatch BATCH_REJECTED": [1, 0, 2, expect.stringMatching(why)],
    "StartSession OK": [1, 1, 0, null],
  });
  const sums = ["accepted_calls", "refused_calls", "stored_events", "rejected_events"].map((name) =>
    report.hours.reduce((sum, hour) => sum + Number(hour[name]), 0),
  );
  expect(sums).toEqual([4, 2, 5, 1]);
});

const span = (traceId: string, spanId: string) => ({
  traceId,
  spanId,
  name: "a span",
  startTimeUnixNano: "1760000000000000000",
  endTimeUnixNano: "1760000001000000000",
});

test("Counts spans and events over OTLP and gRPC, and bodies that are no messages.", async () => {
  const { secret, keyId } = await addKey(service.database, project, {
    kind: "ingestion",
    root: "project",
  });
  const headers = { authorization: `Bearer ${secret}` };
  const traceId = "0123456789abcdef0123456789abcdef";
  const spans = [
    span(traceId, "0123456789abcdef"),
    span("no id", "x"),
    { ...span(traceId, "0123456789abcde0"), startTimeUnixNano: "soon" },
  ];
  const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
  const otlp = { url: service.url, headers };
  expect((await callRoute(otlp, "POST /v1/traces", body)).status).toBe(200);
  const { request } = await parseExportRequest(
    traces,
    "application/json",
    Buffer.from(JSON.stringify(body)),
    createByteBudget(Infinity).open(),
  );
  const answer = await fetch(`${service.url}/v1/traces`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/x-protobuf" },
    body: toBinary(ExportTraceServiceRequestSchema, request as never),
  });
  expect(answer.status).toBe(200);
  const malformed = await fetch(`${service.url}/v1/traces`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{",
  });
  expect(malformed.status).toBe(400);
  const transport = createGrpcTransport({ baseUrl: service.url });
  const client = createClient(EventService, transport);
  await client.createEvent(
    { event: { eventType: "tool", eventName: "a tool", source: "test", inputs: {} } },
    { headers },
  );
  const report = await reportOf(4);
  expect(outcomesOf(report)).toEqual({
    // The span without a time cannot be read from JSON, so only the JSON has it.
    "Export OK": [2, 2, 3, expect.stringContaining("trace id")],
    "Export MALFORMED_BODY": [1, 0, 0, expect.any(String)],
    "CreateEvent OK": [1, 1, 0, null],
  });
  const actors = report.groups.map(({ actor_type, actor_id, actor_name }) => [
    actor_type,
    actor_id,
    actor_name,
  ]);
  expect(new Set(actors.map(String))).toEqual(new Set([`key,${keyId},a key`]));
});

test("A key that may not send is counted in its project, and answered as nothing.", async () => {
  const options = { kind: "project_read_only", root: "project" } as const;
  const headers = await withKey(service.database, project, options);
  const { status, json } = await callRoute({ url: service.url, headers }, "POST /events", {
    event,
  });
  expect(status).toBe(404);
  expect(JSON.stringify(json)).not.toContain("denied");
  expect(outcomesOf(await reportOf(1))).toEqual({
    "CreateEvent NOT_FOUND": [1, 0, 0, "denied project.event.create"],
  });
});

test("A kept answer counts as a call that stored nothing.", async () => {
  for (const key of ["one", "one", "other"]) {
    const headers = { "idempotency-key": key };
    expect((await project.call("POST /events", { event }, headers)).status).toBe(200);
  }
  expect(outcomesOf(await reportOf(3))).toEqual({ "CreateEvent OK": [3, 2, 0, null] });
});

test("A refusal is kept masked.", async () => {
  const rules = [{ pattern: "SECRET-[0-9]+" }];
  const path = `/v1/projects/${project.projectId}/masking`;
  await callRoute({ url: service.url, headers: reader }, `PUT ${path}`, { rules });
  await project.call("POST /events", { event: { ...event, event_type: "SECRET-123" } });
  const [group] = (await reportOf(1)).groups;
  expect(group?.["message"]).toMatch(why);
  expect(group?.["message"]).not.toContain("SECRET-123");
});

test("Refuses hours out of range by name.", async () => {
  expect(await get("?hours=720")).toMatchObject({ status: 200, json: { success: true } });
  for (const hours of [0, 721]) {
    const { status, text } = await get(`?hours=${hours}`);
    expect([status, text]).toEqual([400, expect.stringContaining("hours")]);
  }
});
