// Pages whose number of matches is estimated, over REST. Source: docs/decisions.md, 15.3.

import { beforeAll, describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);
let project: MetricProject;

const count = 30;

beforeAll(async () => {
  project = await givenAMetricProject(service);
  const events = Array.from({ length: count }, (_, at) => ({
    event_type: "tool",
    event_name: "step",
    source: "test",
    inputs: {},
    event_id: `e${at}`,
    session_id: "s",
    start_time: 1_700_000_000_000 + at,
    metadata: { kind: at % 10 === 0 ? "rare" : "usual" },
  }));
  await project.ok("POST /events/batch", { events });
});

const tools = [{ field: "event_type", operator: "is", value: "tool" }];
const rare = [...tools, { field: "metadata.kind", operator: "is", value: "rare" }];

describe.each([
  { route: "POST /v1/events/export", name: "totalEvents" },
  { route: "POST /v1/events/search", name: "count" },
])("$route", ({ route, name }) => {
  test("counts by default, and says nothing of an estimate", async () => {
    const body = await project.ok(route, { filters: tools, limit: 10 });

    expect(body[name]).toBe(count);
    expect(body).not.toHaveProperty("is_estimate");
  });

  test("estimates on request, with the same events and a next page", async () => {
    const counted = await project.ok(route, { filters: tools, limit: 10 });

    const body = await project.ok(route, { filters: tools, limit: 10, total: "estimate" });

    expect(body["is_estimate"]).toBe(true);
    expect(body[name]).toBeGreaterThan(10);
    expect(body["events"]).toEqual(counted["events"]);
    expect(body["next_cursor"]).toBe(counted["next_cursor"]);
  });

  test.each([
    { name: "the page is the last one", filters: tools, page: 3, limit: 12, want: count },
    { name: "the page has all matches", filters: tools, page: 1, limit: 100, want: count },
    { name: "an index finds few matches", filters: rare, page: 1, limit: 1, want: 3 },
  ])("is exact where $name", async ({ filters, page, limit, want }) => {
    const body = await project.ok(route, { filters, page, limit, total: "estimate" });

    expect(body[name]).toBe(want);
    expect(body).not.toHaveProperty("is_estimate");
  });

  test("estimates no more than the events before a page beyond the end", async () => {
    const body = await project.ok(route, { filters: tools, page: 9, limit: 10, total: "estimate" });

    expect(body["events"]).toEqual([]);
    expect(body[name]).toBeLessThanOrEqual(80);
  });

  test("refuses another word", async () => {
    const answer = await project.call(route, { filters: tools, total: "guess" });

    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.json)).toContain("total");
  });
});
