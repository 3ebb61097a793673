// The published OpenTelemetry exporters against the service: their spans are read back by API.
// Source: OTLP specification; docs/decisions.md, 37.1.

import {
  context,
  diag,
  DiagLogLevel,
  SpanStatusCode,
  trace,
  type DiagLogger,
  type Span,
} from "@opentelemetry/api";
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { CompressionAlgorithm } from "@opentelemetry/otlp-exporter-base";
import { ExportResultCode } from "@opentelemetry/core";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace";
import { Metadata } from "@grpc/grpc-js";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { is, readEvents, type ReadAccess, type ReadEvent } from "../support/read-back.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);
let reader: ReadAccess;
const said: string[] = [];

beforeAll(async () => {
  reader = { url: service.url, key: service.readOnlyKey };
});

beforeEach(() => {
  said.length = 0;
  const say = (message: string, ...rest: unknown[]) => said.push([message, ...rest].join(" "));
  const logger: DiagLogger = { error: say, warn: say, info() {}, debug() {}, verbose() {} };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
});
afterEach(() => diag.disable());

type MakeExporter = (url: string, key: string, isGzip: boolean) => SpanExporter;

const compressionOf = (isGzip: boolean) =>
  isGzip ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE;

function httpExporter(Exporter: typeof JsonExporter | typeof ProtoExporter, path: string) {
  const make: MakeExporter = (url, key, isGzip) =>
    new Exporter({
      url: `${url}${path}`,
      headers: { authorization: `Bearer ${key}`, "x-source": "exporters" },
      compression: compressionOf(isGzip),
    });
  return make;
}

const makeGrpc: MakeExporter = (url, key, isGzip) => {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${key}`);
  metadata.set("x-source", "exporters");
  return new GrpcExporter({ url, metadata, compression: compressionOf(isGzip) });
};

const exporters: readonly { readonly name: string; readonly make: MakeExporter }[] = [
  { name: "HTTP JSON", make: httpExporter(JsonExporter, "/opentelemetry/v1/traces") },
  { name: "HTTP protobuf", make: httpExporter(ProtoExporter, "/v1/traces") },
  { name: "gRPC", make: makeGrpc },
];
const rows = exporters.flatMap(({ name, make }) => [
  { name, make, isGzip: false },
  { name: `${name} with gzip`, make, isGzip: true },
]);

/** Half milliseconds show that times keep their fraction on the way to a duration. */
const startMs = 1_760_000_000_000;

/** Sends agent → (model call, failing tool) and returns the trace id. */
async function sendAgentTrace(exporter: SpanExporter): Promise<string> {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "exporter-test" }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("test", "1.0.0");
  const start = (
    name: string,
    atMs: number,
    attributes: Record<string, string | number>,
    of?: Span,
  ) =>
    tracer.startSpan(
      name,
      { startTime: startMs + atMs, attributes },
      of ? trace.setSpan(context.active(), of) : undefined,
    );
  const agent = start("agent", 0, { "gen_ai.operation.name": "invoke_agent" });
  const model = start(
    "chat gpt-4o",
    10,
    {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 5,
    },
    agent,
  );
  model.end(startMs + 110.5);
  const tool = start("search", 120, { "gen_ai.operation.name": "execute_tool" }, agent);
  tool.recordException(new RangeError("no such page"));
  tool.setStatus({ code: SpanStatusCode.ERROR, message: "no such page" });
  tool.end(startMs + 130);
  agent.end(startMs + 200);
  await provider.shutdown();
  return agent.spanContext().traceId;
}

async function readTrace(traceId: string): Promise<Record<string, ReadEvent | undefined>> {
  const events = await readEvents(reader, [is("metadata.trace_id", traceId)]);
  return Object.fromEntries(events.map((event) => [event.event_name, event]));
}

describe("the OpenTelemetry exporter", () => {
  test.each(rows)("over $name brings a whole trace in", async ({ make, isGzip }) => {
    const traceId = await sendAgentTrace(make(service.url, service.ingestionKey, isGzip));

    const { agent, search, ...rest } = await readTrace(traceId);
    const model = rest["chat gpt-4o"];
    expect(said).toEqual([]);
    expect(agent).toMatchObject({
      event_type: "chain",
      source: "exporters",
      start_time: startMs,
      end_time: startMs + 200,
      duration: 200,
      error: null,
    });
    expect(agent?.parent_id).toBe(agent?.session_id);
    expect(model).toMatchObject({
      event_type: "model",
      parent_id: agent?.event_id,
      session_id: agent?.session_id,
      start_time: startMs + 10,
      duration: 100.5,
      config: { model: "gpt-4o" },
      metadata: { "service.name": "exporter-test" },
    });
    expect(search).toMatchObject({
      event_type: "tool",
      parent_id: agent?.event_id,
      error: "no such page",
      duration: 10,
    });
  });

  test.each(exporters)("over $name hears of a span that is left out", async ({ make }) => {
    const exporter = make(service.url, service.ingestionKey, false);
    const [good, bad] = recordSpans(["good", "bad"]);
    const context = { ...bad.spanContext(), spanId: "0000000000000000" };

    await exportOnce(exporter, [good, withContext(bad, context)]);

    expect(said.join("\n")).toMatch(/partial success.*rejectedSpans"?:"?1.*span id/i);
    const { traceId } = good.spanContext();
    const events = await readTrace(traceId);
    expect(Object.keys(events)).toEqual(["good"]);
  });

  test.each(exporters)("over $name hears that its key is wrong", async ({ make }) => {
    const exporter = make(service.url, "hh_wrong", false);

    const failure = await exportOnce(exporter, recordSpans(["one"])).catch(
      (cause: unknown) => cause,
    );

    expect(failure).toBeInstanceOf(Error);
  });

  test("that sends a batch again adds nothing", async () => {
    const spans = recordSpans(["again"]);
    const { traceId } = spans[0].spanContext();

    for (const { make } of exporters) {
      await exportOnce(make(service.url, service.ingestionKey, false), spans);
    }

    const events = await readEvents(reader, [is("metadata.trace_id", traceId)]);
    expect(events.map(({ event_name }) => event_name)).toEqual(["again"]);
  });
});

/** Makes one ended span of each name, each its own trace. */
function recordSpans<const Names extends readonly string[]>(
  names: Names,
): { [Index in keyof Names]: ReadableSpan } {
  const spans: ReadableSpan[] = [];
  const keep: SpanProcessor = {
    onStart() {},
    onEnd: (span) => spans.push(span),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const tracer = new TracerProvider({ spanProcessors: [keep] }).getTracer("test");
  for (const name of names) tracer.startSpan(name).end();
  return spans as { [Index in keyof Names]: ReadableSpan };
}

function withContext(
  span: ReadableSpan,
  spanContext: ReturnType<ReadableSpan["spanContext"]>,
): ReadableSpan {
  return Object.create(span, { spanContext: { value: () => spanContext } }) as ReadableSpan;
}

async function exportOnce(exporter: SpanExporter, spans: readonly ReadableSpan[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    exporter.export([...spans], ({ code, error }) => {
      if (code === ExportResultCode.SUCCESS) resolve();
      else reject(error ?? new Error("the export failed"));
    });
  });
  await exporter.shutdown();
}
