// ExportService from message to message, on a real database.

import { create } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import {
  ExportEventsRequestSchema,
  GetEventSchemaRequestSchema,
  SearchEventsRequestSchema,
  StreamEventsRequestSchema,
} from "../../gen/waggle/v1/export_pb.js";
import type { ProjectId } from "../../src/base/ids.ts";
import { exportHandlers } from "../../src/tracing/export/handlers.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { createTracing } from "../../src/tracing/tracing.ts";
import { scopeKey } from "../../src/access/call.ts";
import { givenTestDatabase } from "../support/database.ts";
import { anEvent, aProjectId, insertEvents } from "../support/events.ts";

const given = givenTestDatabase();
let handlers: ReturnType<typeof exportHandlers>;
const projectId: ProjectId = aProjectId();

beforeAll(async () => {
  const fields = createFieldCatalogue({ database: given.database });
  const clusters = { database: () => given.database };
  handlers = exportHandlers(createTracing({ clusters }).of);
  const events = [
    anEvent({
      event_id: "a",
      session_id: "s",
      start_time: 1_000.9,
      end_time: 1_002.1,
      metadata: { score: 1 },
    }),
    anEvent({ event_id: "s", session_id: "s", event_type: "session", start_time: 500 }),
  ];
  await insertEvents(given.database, projectId, events, fields);
});

function contextAt(url: string): HandlerContext {
  const values = createContextValues().set(scopeKey, {
    level: "project",
    id: projectId,
    name: "demo",
    orgId: "org",
    dataplaneId: "dataplane",
    workspaceId: "workspace",
    projectId,
    clusterId: "default",
  });
  return { url, values, signal: new AbortController().signal } as HandlerContext;
}

describe("exportEvents", () => {
  const exportAt = (url: string, project?: string) =>
    handlers.exportEvents(
      create(ExportEventsRequestSchema, project === undefined ? {} : { project }),
      contextAt(url),
    );

  test("answers whole milliseconds, the session as parent, and both totals", async () => {
    const got = await exportAt("/events/export", "demo");

    expect(got).toMatchObject({ totalEvents: 2, count: 2, events: { length: 2 } });
    expect(got.nextCursor).toBeUndefined();
    expect(got.events?.[0]).toMatchObject({
      eventId: "a",
      projectId,
      startTime: 1_000,
      endTime: 1_002,
      duration: 1.2,
      parentId: "s",
      metadata: { score: 1 },
    });
    expect(got.events?.[1]?.parentId).toBeUndefined();
  });

  test.each([
    { url: "/events/export", project: undefined },
    { url: "/events/export", project: "demo" },
    { url: "/events/export?x=y", project: projectId },
    { url: "/v1/events/export", project: "stale name" },
    { url: "/events?project=stale", project: "stale name" },
    { url: "http://host/waggle.v1.ExportService/ExportEvents", project: "demo" },
  ])("takes project $project at $url", async ({ url, project }) => {
    expect((await exportAt(url, project)).totalEvents).toBe(2);
  });

  test.each(["/events/export", "http://host/waggle.v1.ExportService/ExportEvents"])(
    "another project at %s is absent",
    async (url) => {
      await expect(exportAt(url, "another")).rejects.toMatchObject({ reason: "NOT_FOUND" });
    },
  );

  test("projections leave out every other field", async () => {
    const request = create(ExportEventsRequestSchema, { projections: ["parent_id", "duration"] });
    const { events } = await handlers.exportEvents(request, contextAt("/v1/events/export"));

    expect(events?.[0]).toEqual({
      $typeName: "waggle.v1.Event",
      childrenIds: [],
      eventId: "a",
      parentId: "s",
      duration: 1.2,
    });
  });

  test("a number that is not finite is refused by name, as RPC clients can send it", async () => {
    const value = { kind: { case: "numberValue", value: Number.NaN } } as const;
    const filters = [{ field: "metadata.score", operator: "is", value }];
    const request = create(ExportEventsRequestSchema, { filters });

    const got = handlers.exportEvents(request, contextAt("/v1/events/export"));

    await expect(got).rejects.toMatchObject({
      reason: "INVALID_FILTER",
      message: /^metadata\.score: /,
    });
  });
});

test("searchEvents refuses more than 1,000 a page", async () => {
  const request = create(SearchEventsRequestSchema, { limit: 1_001 });

  const got = handlers.searchEvents(request, contextAt("/v1/events/search"));

  await expect(got).rejects.toMatchObject({ message: /^limit: .*1000/ });
});

test("streamEvents ends with the count of what it sent", async () => {
  const dateRange = { gte: 1_000, lte: 1_000 };
  const request = create(StreamEventsRequestSchema, { dateRange });
  const got = [];
  for await (const { item } of handlers.streamEvents(request, contextAt("/v1/events/stream"))) {
    got.push(item);
  }

  expect(got).toMatchObject([
    { case: "event", value: { eventId: "a" } },
    { case: "end", value: { done: true, count: 1 } },
  ]);
});

test("getEventSchema answers names, event types and types", async () => {
  const request = create(GetEventSchemaRequestSchema);
  const { fields } = await handlers.getEventSchema(request, contextAt("/v1/events/schema"));

  expect(fields).toContainEqual(
    expect.objectContaining({ name: "metadata.score", eventType: "tool", type: "integer" }),
  );
});
