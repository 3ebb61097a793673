// Bindings: how path, query and body become a message, by the http rules of the protos.

import type { DescMethod } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { EventService } from "../../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../../gen/waggle/v1/export_pb.js";
import { SessionService } from "../../../gen/waggle/v1/session_pb.js";
import { bindingsOf } from "../../../src/transport/rest/http-rule.ts";

type Parts = { readonly path?: Record<string, string>; readonly query?: string; body?: unknown };

function read(method: DescMethod, route: string, { path = {}, query = "", body }: Parts) {
  const binding = bindingsOf(method).find((one) => `${one.httpMethod} ${one.path}` === route);
  if (!binding) throw new Error(`no binding ${route}`);
  const variables = Object.entries(path).map(([name, value]) => ({ fieldPath: [name], value }));
  return binding.read({ variables, query: new URLSearchParams(query), body }).message;
}

describe("bindingsOf", () => {
  test("lists the main route and the additional ones", () => {
    const routes = bindingsOf(ExportService.method.exportEvents).map(
      ({ httpMethod, path }) => `${httpMethod} ${path}`,
    );
    expect(routes).toEqual(["POST /events/export", "POST /v1/events/export", "GET /events"]);
  });

  test("reads a body of one field", () => {
    const body = { event_type: "model", inputs: {} };
    const message = read(EventService.method.createEvent, "POST /v1/events", { body });
    expect(message).toMatchObject({ event: { eventType: "model" } });
  });

  test("refuses an unknown key on a strict path alone, naming it", () => {
    const event = { event_type: "model", inputs: {}, colour: "red" };
    const { createEvent } = EventService.method;
    expect(() => read(createEvent, "POST /v1/events", { body: event })).toThrow(
      "colour: is not a known key",
    );
    expect(read(createEvent, "POST /events", { body: { event } })).toHaveProperty("event");
  });

  test("lets the path win over the body", () => {
    const { updateEvent } = EventService.method;
    const body = { event_id: "body", eventId: "body", event_name: "n" };
    const message = read(updateEvent, "PUT /v1/events/{event_id}", {
      path: { event_id: "path" },
      body,
    });
    expect(message).toMatchObject({ eventId: "path", eventName: "n" });
  });

  test.each([{ body: [] }, { body: "text" }, { body: 5 }])(
    "refuses the body $body, which is no object",
    ({ body }) => {
      expect(() => read(EventService.method.createEvent, "POST /events", { body })).toThrow(
        "the body must be a JSON object",
      );
    },
  );

  test.each([
    { name: "repeated names", query: "projections=a&projections=b", want: ["a", "b"] },
    { name: "names with brackets", query: "projections[]=a&projections[]=b", want: ["a", "b"] },
    { name: "JSON text", query: 'projections=["a","b"]', want: ["a", "b"] },
    { name: "both forms", query: "projections=a&projections[]=b", want: ["a", "b"] },
  ])("reads a list from $name", ({ query, want }) => {
    const message = read(ExportService.method.exportEvents, "GET /events", { query });
    expect(message).toHaveProperty("projections", want);
  });

  test("reads filters, date range, numbers and booleans from a query", () => {
    const query = new URLSearchParams({
      filters: '[{"field":"event_type","operator":"is","value":"model"}]',
      dateRange: '{"$gte":1,"$lte":"2"}',
      limit: "5",
      ignore_order: "true",
      colour: "red",
    }).toString();
    const message = read(ExportService.method.exportEvents, "GET /events", { query });
    expect(message).toMatchObject({
      filters: [{ field: "event_type", operator: "is" }],
      dateRange: { gte: 1, lte: 2 },
      limit: 5,
      ignoreOrder: true,
    });
  });

  test("reads a filter's null from a query", () => {
    const filters = '[{"field":"error","operator":"is not","value":null}]';
    const query = new URLSearchParams({ filters }).toString();
    const message = read(ExportService.method.exportEvents, "GET /events", { query });
    expect(message).toHaveProperty("filters.0.value.kind.case", "nullValue");
  });

  test.each([
    { name: "dots", query: "dateRange.start_time=5&dateRange.$lte=2023-11-14" },
    { name: "brackets", query: "dateRange%5Bstart_time%5D=5&dateRange[$lte]=2023-11-14" },
  ])("reads the fields of a message by names with $name", ({ query }) => {
    const message = read(SessionService.method.listSessions, "GET /v1/sessions", { query });
    expect(message).toMatchObject({ dateRange: { startTime: 5, lte: 1_699_920_000_000 } });
  });

  test.each([
    { query: "limit=many", want: "limit: must be an integer" },
    { query: "ignore_order=yes", want: "ignore_order: must be true or false" },
    { query: "dateRange={", want: "dateRange: must be JSON text" },
    { query: 'filters=[{"field":5}]', want: "filters[0].field: must be a string" },
    { query: "filters[0][field]=a", want: "filters[0][field]: must be JSON text, as in filters=[" },
    { query: "projections[0]=a", want: "projections[0]: must be JSON text" },
    { query: "dateRange[$gt]=5", want: "dateRange[$gt]: is not a known name" },
    { query: "dateRange.start=5", want: "dateRange.start: is not a known name" },
    { query: "limit[x]=5", want: "limit[x]: is not a known name" },
    { query: 'dateRange={"$gt":5}', want: "dateRange.$gt: is not a known key" },
  ])("refuses $query, naming the field", ({ query, want }) => {
    expect(() => read(ExportService.method.exportEvents, "GET /events", { query })).toThrow(want);
  });
});
