// A generic gRPC client (@grpc/grpc-js) that learns the whole contract from server reflection.

import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { status, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "../../gen/google/rpc/status_pb.js";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import { connectByReflection, type Plain, type ReflectedClient } from "./reflected-client.ts";

const service = givenStarted(startService);
let client: ReflectedClient;

beforeAll(async () => {
  client = await connectByReflection(service.url);
});

afterAll(async () => {
  client.close();
});

/** google.protobuf.Struct of texts; with reflected descriptors a map is a list of its entries. */
function struct(texts: Readonly<Record<string, string>>): Plain {
  const fields = Object.entries(texts).map(([key, text]) => ({
    key,
    value: { string_value: text },
  }));
  return { fields };
}

/** A filter; an event's session, made with it, has its source and name too. */
function is(field: string, text: string): Plain {
  return { field, operator: "is", value: { string_value: text } };
}

describe("a client that knows reflection only", () => {
  test("finds every service", () => {
    expect(client.serviceNames.toSorted()).toEqual(
      expect.arrayContaining([
        "grpc.health.v1.Health",
        "opentelemetry.proto.collector.trace.v1.TraceService",
        "waggle.compat.v0.TracingService",
        "waggle.v1.EventService",
        "waggle.v1.ExportService",
        "waggle.v1.SessionService",
      ]),
    );
  });

  test("creates an event and exports it back", async () => {
    const event = {
      event_type: "tool",
      event_name: "search",
      source: "reflection",
      inputs: struct({ query: "bees" }),
      start_time: 1_700_000_000_000.25,
      duration: 12.5,
    };

    const created = await client.call(
      "waggle.v1.EventService",
      "CreateEvent",
      { event },
      service.ingestionKey,
    );

    expect(created).toMatchObject({ success: true });
    const filters = [is("source", "reflection"), is("event_type", "tool")];
    const page = await client.call(
      "waggle.v1.ExportService",
      "ExportEvents",
      { filters },
      service.readOnlyKey,
    );
    expect(page).toMatchObject({
      totalEvents: 1,
      events: [
        {
          event_id: created["event_id"],
          event_name: "search",
          project_id: service.projectId,
          duration: 12.5,
          inputs: struct({ query: "bees" }),
        },
      ],
    });
  });

  test("starts a session and reads it as a tree", async () => {
    const session = { session_name: "reflected", source: "reflection-tree" };
    const started = await client.call(
      "waggle.v1.SessionService",
      "StartSession",
      { session },
      service.projectKey,
    );
    const session_id = started["session_id"];
    const inputs = struct({ a: "b" });
    const events = [{ event_type: "chain", event_name: "step", source: "x", inputs }];

    await client.call(
      "waggle.v1.SessionService",
      "AddSessionEvents",
      { session_id, events },
      service.projectKey,
    );

    const tree = await client.call(
      "waggle.v1.SessionService",
      "GetSessionTree",
      { session_id, view: "skeleton" },
      service.projectKey,
    );
    expect(tree).toMatchObject({ event_name: "reflected", children: [{ event_name: "step" }] });
  });

  test("streams events to the end mark", async () => {
    const event = { event_type: "tool", source: "reflection-stream", inputs: struct({}) };
    for (let index = 0; index < 3; index += 1) {
      await client.call("waggle.v1.EventService", "CreateEvent", { event }, service.projectKey);
    }

    const filters = [is("source", "reflection-stream"), is("event_type", "tool")];
    const messages = await client.stream(
      "waggle.v1.ExportService",
      "StreamEvents",
      { filters },
      service.projectKey,
    );

    expect(messages).toHaveLength(4);
    expect(messages.at(-1)).toMatchObject({ end: { done: true, count: 3 } });
  });

  test("exports spans by OTLP over gRPC", async () => {
    const traceId = Buffer.from("0af7651916cd43dd8448eb211c80319c", "hex");
    const span = {
      trace_id: traceId,
      span_id: Buffer.from("b7ad6b7169203331", "hex"),
      name: "reflected-span",
      start_time_unix_nano: 1_700_000_000_000_000_000,
      end_time_unix_nano: 1_700_000_001_000_000_000,
    };
    const bad = { ...span, span_id: Buffer.alloc(8) };

    const answer = await client.call(
      "opentelemetry.proto.collector.trace.v1.TraceService",
      "Export",
      { resource_spans: [{ scope_spans: [{ spans: [span, bad] }] }] },
      service.ingestionKey,
    );

    expect(answer).toMatchObject({ partial_success: { rejected_spans: 1 } });
    const filters = [is("event_name", "reflected-span"), is("event_type", "tool")];
    const page = await client.call(
      "waggle.v1.ExportService",
      "ExportEvents",
      { filters },
      service.projectKey,
    );
    expect(page).toMatchObject({ totalEvents: 1, events: [{ duration: 1000 }] });
  });

  test("reads the reason of a refusal from google.rpc.ErrorInfo", async () => {
    const event = { event_type: "walk", inputs: struct({}) };

    const failure: unknown = await client
      .call("waggle.v1.EventService", "CreateEvent", { event }, service.projectKey)
      .catch((error: unknown) => error);

    const { code, details, metadata } = failure as ServiceError;
    expect(code).toBe(status.INVALID_ARGUMENT);
    expect(details).toContain("event_type");
    const [bytes] = metadata.get("grpc-status-details-bin");
    const [detail] = fromBinary(StatusSchema, bytes as Buffer).details;
    if (!detail) throw new Error("the status has no detail");
    expect(anyUnpack(detail, ErrorInfoSchema)).toMatchObject({ reason: "INVALID_ARGUMENT" });
  });

  test("meets one NOT_FOUND without a key, with a wrong one and for what is absent", async () => {
    const outcomes = await Promise.all(
      [undefined, "hh_wrong", service.projectKey].map((key) =>
        client
          .call("waggle.v1.EventService", "GetEvent", { event_id: "absent" }, key)
          .catch((error: unknown) => error as ServiceError),
      ),
    );

    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ code: status.NOT_FOUND, details: "Not found" });
    }
  });

  test("sees the service's health", async () => {
    const answer = await client.call("grpc.health.v1.Health", "Check", { service: "" });

    expect(answer).toMatchObject({ status: "SERVING" });
  });
});
