// The service's own spans: none by default, one a call when they are asked for.

import { setTimeout as delay } from "node:timers/promises";
import { propagation, SpanStatusCode, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { startService, type TestService } from "../support/service.ts";
import { keyOf, startTransport } from "../support/transport.ts";
import { patience } from "../support/patience.ts";

const exporter = new InMemorySpanExporter();
const traceId = "0af7651916cd43dd8448eb211c80319c";
let service: TestService | undefined;

beforeAll(() => {
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  exporter.reset();
});
afterAll(() => {
  trace.disable();
  propagation.disable();
});

function get({ url, projectKey }: TestService, path: string): Promise<Response> {
  return fetch(url + path, {
    headers: {
      authorization: `Bearer ${projectKey}`,
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    },
  });
}

test("there are none by default", async () => {
  service = await startService();

  expect((await get(service, "/v1/events/schema")).status).toBe(200);

  expect(exporter.getFinishedSpans()).toEqual([]);
});

test("each call makes one under the caller's trace, and a failure names its reason", async () => {
  service = await startService({ tracing: "on" });

  expect((await get(service, "/v1/events/schema")).status).toBe(200);
  expect((await get(service, "/v1/events/absent")).status).toBe(404);

  const got = exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    traceId: span.spanContext().traceId,
    error: span.attributes["error.type"],
  }));
  expect(got).toEqual([
    { name: "waggle.v1.ExportService/GetEventSchema", traceId, error: undefined },
    { name: "waggle.v1.EventService/GetEvent", traceId, error: "NOT_FOUND" },
  ]);
});

test("a stream that its client left ends as CANCELED, which is no failure", async () => {
  const transport = await startTransport({
    isTracing: true,
    async *streamEvents() {
      for (;;) {
        yield { item: { case: "event", value: { eventId: "e", inputs: {} } } };
        await delay(10);
      }
    },
  });
  onTestFinished(() => transport.stop());
  const left = new AbortController();
  const response = await fetch(`${transport.url}/v1/events/stream`, {
    method: "POST",
    headers: { authorization: keyOf("project") },
    body: "{}",
    signal: left.signal,
  });
  await response.body?.getReader().read();

  left.abort();

  const [span] = await vi.waitUntil(() => {
    const spans = exporter.getFinishedSpans();
    return spans.length > 0 && spans;
  }, patience);
  expect(span?.attributes["error.type"]).toBe("CANCELED");
  expect(span?.status.code).toBe(SpanStatusCode.UNSET);
});
