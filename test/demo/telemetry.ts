// OpenTelemetry as the demo's program sets it up: the published instrumentation of the OpenAI
// client, whose messages are log records, and the standard OTLP exporters. Keeps the sent spans for
// comparison with the stored ones.

import { createRequire } from "node:module";
import { context, diag, DiagLogLevel, trace, type Tracer } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { registerInstrumentations } from "@opentelemetry/instrumentation";
import { OpenAIInstrumentation } from "@opentelemetry/instrumentation-openai";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import {
  BatchSpanProcessor,
  TracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace";
import type * as OpenAiModule from "openai";

export type Telemetry = {
  readonly tracer: Tracer;
  /** The OpenAI client's module, instrumented. */
  readonly openai: typeof OpenAiModule;
  /** Sends buffered spans; returns every span that ended and the exporter's complaints. */
  finish(): Promise<{ spans: readonly ReadableSpan[]; complaints: readonly string[] }>;
};

/** `url` is where the service listens; the exporter adds the standard path. */
export function startTelemetry(url: string, key: string): Telemetry {
  const complaints: string[] = [];
  const complain = (message: string, ...rest: unknown[]) => {
    complaints.push([message, ...rest.map(String)].join(" "));
  };
  const quiet = () => undefined;
  diag.setLogger(
    { error: complain, warn: complain, info: quiet, debug: quiet, verbose: quiet },
    DiagLogLevel.WARN,
  );
  const spans: ReadableSpan[] = [];
  const keep: SpanProcessor = {
    onStart: quiet,
    onEnd: (span) => spans.push(span),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const headers = { authorization: `Bearer ${key}`, "x-source": "demo" };
  const spanExporter = new OTLPTraceExporter({ url: `${url}/v1/traces`, headers });
  const logExporter = new OTLPLogExporter({ url: `${url}/v1/logs`, headers });
  const resource = resourceFromAttributes({ "service.name": "waggle-demo" });
  const provider = new TracerProvider({
    resource,
    spanProcessors: [keep, new BatchSpanProcessor({ exporter: spanExporter })],
  });
  const loggerProvider = new LoggerProvider({
    resource,
    processors: [new BatchLogRecordProcessor({ exporter: logExporter })],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  registerInstrumentations({
    tracerProvider: provider,
    loggerProvider,
    instrumentations: [new OpenAIInstrumentation({ captureMessageContent: true })],
  });
  return {
    tracer: provider.getTracer("waggle-demo"),
    // The instrumentation patches what is required after it is registered.
    openai: createRequire(import.meta.url)("openai") as typeof OpenAiModule,
    async finish() {
      await Promise.all([provider.shutdown(), loggerProvider.shutdown()]);
      return { spans, complaints };
    },
  };
}
