// OTLP from the wire to reading back: recorded exports, encodings, retries, order, bad spans. The
// standard exporters are in test/clients/otlp-exporters.test.ts.

import { givenStarted } from "../support/given.ts";
import { parseTraces } from "../support/spans.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
  TraceService,
} from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { StatusSchema } from "../../gen/google/rpc/status_pb.js";
import type { JsonObject } from "../../src/base/json.ts";
import { deriveEventId, deriveSessionId } from "../../src/tracing/spans/identity.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const json = "application/json";
const protobuf = "application/x-protobuf";

async function post(
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
  path = "/opentelemetry/v1/traces",
): Promise<Response> {
  return fetch(`${service.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.ingestionKey}`,
      "content-type": json,
      ...headers,
    },
    body,
  });
}

async function read(path: string): Promise<JsonObject> {
  const response = await fetch(`${service.url}${path}`, {
    headers: { authorization: `Bearer ${service.projectKey}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as JsonObject;
}

async function readEvent(eventId: string): Promise<JsonObject> {
  const { event } = await read(`/v1/events/${eventId}`);
  return event as JsonObject;
}

let traces = 0;

/** A trace id that no other test uses. */
function newTraceId(): string {
  traces += 1;
  return traces.toString(16).padStart(32, "a");
}

const rootId = "1111111111111111";
const childId = "2222222222222222";

function spanOf(parts: JsonObject): JsonObject {
  return {
    name: "step",
    startTimeUnixNano: "1760000000000000000",
    endTimeUnixNano: "1760000001000000000",
    ...parts,
  };
}

function bodyOf(...spans: readonly JsonObject[]): string {
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
}

describe("recorded exports", () => {
  test.each(["traceloop-workflow/agent", "vercel-ai/tools", "openinference-langchain/agent"])(
    "%s reads back as the events beside it",
    async (path) => {
      const folder = join(import.meta.dirname, "../fixtures/otlp");
      const golden = JSON.parse(readFileSync(join(folder, `${path}.events.json`), "utf8")) as {
        readonly events: readonly (JsonObject & { readonly event_id: string })[];
      };

      const response = await post(readFileSync(join(folder, `${path}.json`)));

      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({});
      for (const want of golden.events) {
        const { start_time: start, end_time: end, ...fields } = want;
        const got = await readEvent(want.event_id);
        expect(got).toMatchObject(fields);
        expect(Math.abs(Number(got["start_time"]) - Number(start))).toBeLessThanOrEqual(1);
        expect(Math.abs(Number(got["end_time"]) - Number(end))).toBeLessThanOrEqual(1);
      }
    },
  );
});

test("a call that two instrumentations recorded counts once in its session", async () => {
  const path = join(import.meta.dirname, "../fixtures/otlp/anthropic/openinference");
  const golden = JSON.parse(readFileSync(`${path}.events.json`, "utf8")) as {
    readonly events: readonly { readonly session_id: string }[];
  };

  expect((await post(readFileSync(`${path}.json`))).status).toBe(200);

  const session = await read(`/v1/sessions/${golden.events[0]?.session_id}`);
  expect(session).toMatchObject({ metadata: { num_events: 2, total_tokens: 121 } });
});

describe("encodings", () => {
  const encodings: readonly {
    readonly name: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly encode: (body: string) => Uint8Array | string | Promise<Uint8Array>;
  }[] = [
    { name: "JSON", headers: {}, encode: (body) => body },
    { name: "gzip", headers: { "content-encoding": "gzip" }, encode: (body) => gzipSync(body) },
    {
      name: "zstd",
      headers: { "content-encoding": "zstd" },
      encode: (body) => zstdCompressSync(body),
    },
    { name: "Protobuf", headers: { "content-type": protobuf }, encode: toProtobuf },
  ];

  test.each(encodings)("$name is stored at both paths", async ({ headers, encode }) => {
    for (const path of ["/opentelemetry/v1/traces", "/v1/traces"]) {
      const traceId = newTraceId();

      const response = await post(
        await encode(bodyOf(spanOf({ traceId, spanId: rootId }))),
        headers,
        path,
      );

      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe(headers["content-type"] ?? json);
      expect(await readEvent(deriveEventId(traceId, rootId))).toMatchObject({ event_name: "step" });
    }
  });

  test("gRPC is stored and answers the rejected spans", async () => {
    const traceId = newTraceId();
    const transport = createGrpcTransport({ baseUrl: service.url });
    const client = createClient(TraceService, transport);
    const body = bodyOf(spanOf({ traceId, spanId: rootId }), spanOf({ name: "bad", traceId }));
    const { request } = await parseTraces(json, new TextEncoder().encode(body));

    const headers = { authorization: `Bearer ${service.ingestionKey}` };
    const response = await client.export(request, { headers });

    expect(response.partialSuccess).toMatchObject({
      rejectedSpans: 1n,
      errorMessage: 'span "bad": span id is not 8 bytes other than zero',
    });
    expect(await readEvent(deriveEventId(traceId, rootId))).toMatchObject({ event_name: "step" });
  });
});

async function toProtobuf(body: string): Promise<Uint8Array> {
  const { request } = await parseTraces(json, new TextEncoder().encode(body));
  return toBinary(ExportTraceServiceRequestSchema, request);
}

describe("traces", () => {
  test("a child that comes before its parent hangs under it", async () => {
    const traceId = newTraceId();
    await post(bodyOf(spanOf({ traceId, spanId: childId, parentSpanId: rootId, name: "child" })));

    await post(bodyOf(spanOf({ traceId, spanId: rootId, name: "root" })));

    const session = await read(`/v1/sessions/${deriveSessionId(traceId)}`);
    expect(session).toMatchObject({
      event_type: "session",
      children: [{ event_name: "root", children: [{ event_name: "child", children: [] }] }],
    });
  });

  test("a retry changes nothing", async () => {
    const traceId = newTraceId();
    const body = bodyOf(
      spanOf({ traceId, spanId: rootId }),
      spanOf({ traceId, spanId: childId, parentSpanId: rootId }),
    );
    await post(body);
    const before = await read(`/v1/sessions/${deriveSessionId(traceId)}`);

    const again = await post(body);

    expect(await again.json()).toEqual({});
    expect(await read(`/v1/sessions/${deriveSessionId(traceId)}`)).toEqual(before);
  });

  test("a session whose id is no UUID is one over any number of batches", async () => {
    const attributes = [{ key: "session.id", value: { stringValue: "user-7/chat" } }];
    for (const [index, traceId] of [newTraceId(), newTraceId()].entries()) {
      const startTimeUnixNano = `17600000${String(2 - index)}0000000000`;
      await post(bodyOf(spanOf({ traceId, spanId: rootId, startTimeUnixNano, attributes })));
    }

    const session = await read(`/v1/sessions/${encodeURIComponent("user-7/chat")}`);

    expect(session).toMatchObject({ event_id: "user-7/chat", start_time: 1_760_000_010_000 });
    expect(session["children"]).toHaveLength(2);
  });

  test("X-Source is the source where no attribute names one", async () => {
    const traceId = newTraceId();

    await post(bodyOf(spanOf({ traceId, spanId: rootId })), { "x-source": "staging" });

    expect(await readEvent(deriveEventId(traceId, rootId))).toMatchObject({ source: "staging" });
  });
});

describe("the source of a session that its spans name", () => {
  const key = "honeyhive.session_name";
  const attributes = [{ key, value: { stringValue: "nm" } }];

  function bodyFrom(serviceName: string, ...spans: readonly JsonObject[]): string {
    const resource = {
      attributes: [{ key: "service.name", value: { stringValue: serviceName } }],
    };
    return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  }

  test("is that of its spans", async () => {
    const traceId = newTraceId();

    await post(bodyFrom("svc", spanOf({ traceId, spanId: rootId, attributes })));

    const got = await read(`/session/${deriveSessionId(traceId)}`);
    expect(got).toMatchObject({ event_name: "nm", source: "svc" });
  });

  test("stays as it was started", async () => {
    const session_id = newTraceId();
    await fetch(`${service.url}/session/start`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.projectKey}` },
      body: JSON.stringify({ session: { session_id, session_name: "mine", source: "own" } }),
    });
    const joins = { key: "honeyhive.session_id", value: { stringValue: session_id } };
    const span = { traceId: newTraceId(), spanId: rootId, attributes: [...attributes, joins] };

    await post(bodyFrom("svc", spanOf(span)));

    expect(await read(`/v1/sessions/${session_id}`)).toMatchObject({
      event_name: "nm",
      source: "own",
    });
  });
});

describe("metrics", () => {
  test.each([
    { path: "/v1/metrics", type: protobuf, key: "a project's key" },
    { path: "/v1/metrics", type: protobuf, key: "an ingestion key" },
    { path: "/v1/metrics", type: protobuf, key: "no key" },
    { path: "/opentelemetry/v1/metrics", type: protobuf, key: "an ingestion key" },
    { path: "/opentelemetry/v1/metrics", type: json, key: "an ingestion key" },
  ])("$type to $path with $key is a 400 that says what to do", async ({ path, type, key }) => {
    const keys = new Map([
      ["a project's key", service.projectKey],
      ["an ingestion key", service.ingestionKey],
    ]);
    const authorization = `Bearer ${keys.get(key) ?? ""}`;
    const body = type === json ? "{}" : new Uint8Array([10, 0]);

    const response = await post(body, { authorization, "content-type": type }, path);

    const want = "metrics are not stored; OTEL_METRICS_EXPORTER=none stops their export";
    expect(response.status).toBe(400);
    expect(response.statusText).toBe(want);
    expect(response.headers.get("content-type")).toBe(type);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const { message } =
      type === json
        ? (JSON.parse(new TextDecoder().decode(bytes)) as JsonObject)
        : fromBinary(StatusSchema, bytes);
    expect(message).toBe(want);
  });

  test("JSON to /v1/metrics makes an evaluator still", async () => {
    const response = await post(
      JSON.stringify({
        name: "after metrics",
        type: "PYTHON",
        code_snippet: "def f(e):\n  return 1",
      }),
      { authorization: `Bearer ${service.projectKey}` },
      "/v1/metrics",
    );

    expect(response.status, await response.text()).toBe(200);
  });
});

describe("bad spans and bodies", () => {
  test("bad spans are counted with their reasons, good ones stored", async () => {
    const traceId = newTraceId();

    const response = await post(
      bodyOf(
        spanOf({ traceId, spanId: rootId }),
        spanOf({ traceId, spanId: "0".repeat(16), name: "zero" }),
        spanOf({ traceId, spanId: childId, name: "late", startTimeUnixNano: null }),
        spanOf({ traceId, spanId: childId, attributes: 7, name: "odd" }),
      ),
    );

    expect(response.status).toBe(200);
    const { partialSuccess } = (await response.json()) as {
      readonly partialSuccess: { readonly rejectedSpans: string; readonly errorMessage: string };
    };
    expect(partialSuccess.rejectedSpans).toBe("3");
    expect(partialSuccess.errorMessage.split("; ").sort()).toEqual([
      'span "late": start time is missing',
      'span "odd": attributes must be an array',
      'span "zero": span id is not 8 bytes other than zero',
    ]);
    expect(await readEvent(deriveEventId(traceId, rootId))).toMatchObject({ event_name: "step" });
  });

  test("text that Postgres refuses reads back as it came", async () => {
    const traceId = newTraceId();
    const attributes = [{ key: "odd\u0000key", value: { stringValue: "a\u0000b\ud800c" } }];

    const response = await post(bodyOf(spanOf({ traceId, spanId: rootId, attributes })));

    expect(response.status).toBe(200);
    const event = await readEvent(deriveEventId(traceId, rootId));
    expect(event["metadata"]).toMatchObject({ "odd\u0000key": "a\u0000b\ud800c" });
  });

  test("a malformed body is a 400 with a Status in its encoding", async () => {
    const asJson = await post("{");
    const asProtobuf = await post(Uint8Array.of(0x0a, 0x05), { "content-type": protobuf });

    expect([asJson.status, asProtobuf.status]).toEqual([400, 400]);
    expect(await asJson.json()).toEqual({
      code: 3,
      message: "the body must be JSON: unexpected end at position 1",
    });
    const status = fromBinary(StatusSchema, new Uint8Array(await asProtobuf.arrayBuffer()));
    expect(status.message).toBe(
      "the body must be Protobuf of the method: it ends in the middle of a field",
    );
  });

  test("an empty Protobuf export is a success", async () => {
    const response = await post(new Uint8Array(0), { "content-type": protobuf });

    expect(response.status).toBe(200);
    const body = new Uint8Array(await response.arrayBuffer());
    expect(fromBinary(ExportTraceServiceResponseSchema, body).partialSuccess).toBeUndefined();
  });
});
