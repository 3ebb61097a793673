// Bodies that the whole service accepts or refuses, beyond the unit tests of each reader.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function post(path: string, body: unknown) {
  const response = await fetch(service.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.projectKey}`,
      "content-type": "application/json",
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

function nested(levels: number): unknown {
  return levels === 0 ? 1 : { deeper: nested(levels - 1) };
}

describe("nesting", () => {
  const routes = [
    { name: "REST", path: "/events" },
    { name: "Connect JSON", path: "/waggle.v1.EventService/CreateEvent" },
  ];
  test.each(routes)("over $name 128 levels are stored and 129 refused by name", async (route) => {
    const send = (levels: number) =>
      post(route.path, { event: { event_type: "tool", inputs: nested(levels) } });

    expect((await send(128)).status).toBe(200);
    const refused = await send(129);

    expect(refused.status).toBe(400);
    expect(refused.json["message"]).toMatch(/inputs\.deeper.* deeper than 128 levels$/);
  });
});

test("an event past a megabyte in Connect JSON is answered with its id", async () => {
  const event = { event_type: "tool", event_id: "large", inputs: { text: "x".repeat(1_500_000) } };

  const got = await post("/waggle.v1.EventService/CreateEvent", { event });

  expect(got).toEqual({ status: 200, json: { eventId: "large", success: true } });
});

describe("a filter for null", () => {
  test.each([
    { operator: "is", want: ["whole"] },
    { operator: "is not", want: ["broken"] },
  ])("$operator asks whether there is a value", async ({ operator, want }) => {
    const event = { event_type: "tool", inputs: {}, session_id: "nulls" };
    await post("/events", { event: { ...event, event_id: "whole" } });
    await post("/events", { event: { ...event, event_id: "broken", error: "no" } });

    const { status, json } = await post("/v1/events/export", {
      filters: [
        { field: "error", operator, value: null },
        { field: "session_id", operator: "is", value: "nulls" },
        { field: "event_type", operator: "is", value: "tool" },
      ],
    });

    expect([status, json["message"]]).toEqual([200, undefined]);
    expect((json["events"] as { event_id: string }[]).map((one) => one.event_id)).toEqual(want);
  });
});

describe("a project in a strict body", () => {
  test.each([
    { path: "/v1/events", body: { event_type: "tool", inputs: {} } },
    {
      path: "/v1/events/batch",
      body: { events: [{ event_type: "tool", inputs: {}, source: "x" }] },
    },
    { path: "/v1/sessions", body: {} },
    {
      path: "/v1/sessions/s/events/batch",
      body: { events: [{ event_type: "tool", inputs: {}, source: "x" }] },
    },
    { path: "/v1/events/search", body: { filters: [] } },
  ])("is ignored by $path, whatever it names", async ({ path, body }) => {
    const { status, json } = await post(path, { project: "nobody's", ...body });

    expect([status, json["message"] ?? json["errors"]]).toEqual([200, undefined]);
  });
});
