// Bodies that the whole service accepts or refuses, beyond the unit tests of each reader.

import { create } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { EvaluationService } from "../../gen/waggle/v1/evaluation_pb.js";
import { ConfigurationService } from "../../gen/waggle/v1/configuration_pb.js";
import { DatasetService } from "../../gen/waggle/v1/dataset_pb.js";
import { DatapointService } from "../../gen/waggle/v1/datapoint_pb.js";
import { RunService } from "../../gen/waggle/v1/run_pb.js";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

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

describe("a value of Protobuf that JSON lacks", () => {
  const nan = create(ValueSchema, { kind: { case: "numberValue", value: NaN } });
  test.each([
    { name: "no number", value: nan },
    { name: "no kind", value: create(ValueSchema) },
  ])("is refused by name: $name", async ({ value: one }) => {
    const transport = createGrpcTransport({ baseUrl: service.url });
    const options = { headers: { authorization: `Bearer ${service.projectKey}` } };
    const values = [one];
    const [runs, evaluations, datasets, datapoints, configurations] = [
      createClient(RunService, transport),
      createClient(EvaluationService, transport),
      createClient(DatasetService, transport),
      createClient(DatapointService, transport),
      createClient(ConfigurationService, transport),
    ];
    const id = "01a22781-ccac-77a8-93d8-54bd69db6cac";
    const env = { kind: { case: "listValue" as const, value: { values } } };

    const calls = [
      runs.createRun({ evaluators: values }, options),
      evaluations.createEvaluation({ metrics: [{ values }] }, options),
      datasets.updateDataset({ datasetId: id, datapoints: { values } }, options),
      datapoints.updateDatapoint({ id, history: { values } }, options),
      configurations.updateConfiguration({ id, env }, options),
    ];

    const got = await Promise.allSettled(calls);
    expect(got.map((one) => String(one.status === "rejected" && one.reason))).toEqual(
      ["evaluators[0]", "metrics[0][0]", "datapoints[0]", "history[0]", "env[0]"].map(
        (field) => `ConnectError: [invalid_argument] ${field}: must be a value of JSON`,
      ),
    );
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
