// The loads of `bench ingest`: the requests that it sends.

import { randomBytes } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { ExportTraceServiceRequestSchema } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { Span_SpanKind } from "../../gen/opentelemetry/proto/trace/v1/trace_pb.js";
import { createRandom, payloadOf, textOf } from "./events.ts";
import { binaryTemplate, byteMarks, type Template, textMarks, textTemplate } from "./template.ts";

export type Load = {
  readonly method?: "PUT";
  readonly path: string;
  readonly contentType: string;
  readonly events: number;
  /** Makes a body; the seed determines its texts. Ids end in `run`, 8 hexadecimal digits. */
  readonly body: (seed: number, run: string) => Template;
};

/** Loads that store new events; `ingest` and `compare` send them. */
export const loadNames = ["batch-2k", "batch-20k", "otlp-2k", "single-2k"] as const;
/** Includes small writes that only `small` sends; an update needs the events of its run. */
export type LoadName = (typeof loadNames)[number] | "update" | "session-start";

const json = "application/json";

export const loads: Readonly<Record<LoadName, Load>> = {
  "batch-2k": batch(100, 2_048),
  "batch-20k": batch(100, 20_480),
  "otlp-2k": {
    path: "/v1/traces",
    contentType: "application/x-protobuf",
    events: 100,
    body: spans,
  },
  "single-2k": {
    path: "/events",
    contentType: json,
    events: 1,
    body: (seed, run) =>
      textTemplate(JSON.stringify({ event: eventOf(createRandom(seed), 0, 2_048, run) }), 1),
  },
  update: {
    method: "PUT",
    path: "/events",
    contentType: json,
    events: 1,
    body(seed, run) {
      const { event_id } = eventOf(createRandom(seed), 0, 0, run);
      const change = { feedback: { rating: 5 }, metadata: { checked: true, seed } };
      return textTemplate(JSON.stringify({ event_id, ...change }), 1);
    },
  },
  "session-start": {
    path: "/session/start",
    contentType: json,
    events: 1,
    body(seed, run) {
      const random = createRandom(seed);
      const { session_id, start_time } = eventOf(random, 0, 0, run);
      const names = { session_name: "bench", source: "bench" };
      const inputs = { question: textOf(random, 200) };
      return textTemplate(
        JSON.stringify({ session: { session_id, ...names, start_time, inputs } }),
        1,
      );
    },
  },
};

export function newRun(): string {
  return randomBytes(4).toString("hex");
}

/** Returns the load of batches of `events` events with `bytes` bytes each. */
export function batch(events: number, bytes: number): Load {
  return {
    path: "/events/batch",
    contentType: json,
    events,
    body(seed, run) {
      const random = createRandom(seed);
      const list = Array.from({ length: events }, (_, index) => eventOf(random, index, bytes, run));
      return textTemplate(JSON.stringify({ events: list }), events);
    },
  };
}

function eventOf(
  random: ReturnType<typeof createRandom>,
  index: number,
  bytes: number,
  run: string,
) {
  const idOf = (kind: "event" | "session", n: number): string =>
    `${textMarks.id(kind, n)}-0000-4000-${kind === "event" ? "8000" : "9000"}-0000${run}`;
  return {
    event_id: idOf("event", index),
    session_id: idOf("session", 0),
    parent_id: index === 0 ? idOf("session", 0) : idOf("event", index - (index % 10 || 10)),
    source: "bench",
    ...payloadOf(random, index, bytes),
    start_time: textMarks.time("start", index),
    end_time: textMarks.time("end", index),
  };
}

/** Returns a request of the standard exporter: one resource, one scope, GenAI attributes. */
function spans(seed: number, run: string): Template {
  const random = createRandom(seed);
  const end = Buffer.from(run, "hex");
  const text = (value: string) => ({ value: { value: { case: "stringValue" as const, value } } });
  const whole = (n: number) => ({
    value: { value: { case: "intValue" as const, value: BigInt(n) } },
  });
  const spanOf = (index: number) => {
    const { metadata, event_name: name } = payloadOf(random, 2 * index, 0);
    const message = (role: string, length: number) =>
      JSON.stringify([{ role, parts: [{ type: "text", content: textOf(random, length) }] }]);
    const parent = index - (index % 10 || 10);
    return {
      traceId: Buffer.concat([byteMarks.id("session", 0), Buffer.alloc(8, 7), end]),
      spanId: Buffer.concat([byteMarks.id("event", index), end]),
      parentSpanId:
        index === 0 ? Buffer.alloc(0) : Buffer.concat([byteMarks.id("event", parent), end]),
      name,
      kind: Span_SpanKind.CLIENT,
      startTimeUnixNano: byteMarks.time("start", index),
      endTimeUnixNano: byteMarks.time("end", index),
      attributes: [
        { key: "gen_ai.operation.name", ...text("chat") },
        { key: "gen_ai.provider.name", ...text("openai") },
        { key: "gen_ai.request.model", ...text(metadata.model) },
        { key: "gen_ai.response.model", ...text(metadata.model) },
        { key: "gen_ai.response.id", ...text(`chatcmpl-${random(1_000_000)}`) },
        { key: "gen_ai.usage.input_tokens", ...whole(metadata.prompt_tokens) },
        { key: "gen_ai.usage.output_tokens", ...whole(metadata.completion_tokens) },
        { key: "gen_ai.input.messages", ...text(message("user", 950)) },
        { key: "gen_ai.output.messages", ...text(message("assistant", 400)) },
        { key: "server.address", ...text("api.openai.com") },
        { key: "customer", ...text(metadata.customer) },
      ],
    };
  };
  const request = create(ExportTraceServiceRequestSchema, {
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", ...text("bench") }] },
        scopeSpans: [
          {
            scope: { name: "bench", version: "1" },
            spans: Array.from({ length: 100 }, (_, i) => spanOf(i)),
          },
        ],
      },
    ],
  });
  return binaryTemplate(toBinary(ExportTraceServiceRequestSchema, request), 100);
}
