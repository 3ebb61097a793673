// Mapping of exports of other services to events, on realistic records of each format.

import { describe, expect, test } from "vitest";
import { mapLangfuse } from "../../../../src/commands/import/langfuse.ts";
import { mapLangSmith } from "../../../../src/commands/import/langsmith.ts";
import type { Mapped, Mapper } from "../../../../src/commands/import/mapping.ts";
import { mapOtlp } from "../../../../src/commands/import/otlp.ts";
import { mapPhoenix } from "../../../../src/commands/import/phoenix.ts";
import { mapWaggle } from "../../../../src/commands/import/waggle.ts";
import type { JsonObject } from "../../../../src/base/json.ts";
import { linesOf } from "./records.ts";

function mapFile(name: string, mapper: Mapper): Mapped[] {
  return linesOf(name).map((line) => mapper(JSON.parse(line) as JsonObject, line));
}

function eventsOf(mapped: readonly Mapped[]): JsonObject[] {
  return mapped.flatMap(({ writes }) =>
    writes.flatMap((write) => (write.kind === "event" ? [write.event] : [])),
  );
}

const traceId = "7d1c1b6e-0f6b-4d8a-9f1e-3c5a2b7e9d01";
const generationId = "0b9f4a52-6f40-4a6d-8f0e-6d1f5c6a7b02";

describe("mapLangfuse", () => {
  test("makes a session of a trace, with its labels, and keeps the rest raw", () => {
    const [trace] = mapFile("langfuse-api.jsonl", mapLangfuse);

    const [session] = eventsOf(trace === undefined ? [] : [trace]);
    expect(session).toMatchObject({
      event_type: "session",
      event_id: traceId,
      session_id: traceId,
      event_name: "support-chat",
      start_time: Date.UTC(2025, 10, 3, 9, 15),
      end_time: Date.UTC(2025, 10, 3, 9, 15) + 2_500,
      inputs: { question: "Where is my order?" },
      outputs: { output: "It ships today." },
      user_properties: { user_id: "user-7" },
    });
    expect(session?.["metadata"]).toEqual({
      channel: "web",
      environment: "production",
      release: "v1.4.2",
      session_id: "chat-42",
      tags: ["prod", "vip"],
      trace_id: traceId,
      version: "3",
      langfuse: {
        metadata: { run_id: "mine" },
        public: false,
        htmlPath: "/project/p/traces/x",
        totalCost: 0.0021,
        observations: ["obs-root"],
        scores: ["score-1"],
      },
    });
    expect(trace?.raw.toSorted()).toEqual([
      "htmlPath",
      "observations",
      "public",
      "scores",
      "totalCost",
    ]);
  });

  test("makes a model event of a generation, under its parent's derived id", () => {
    const events = eventsOf(mapFile("langfuse-api.jsonl", mapLangfuse));
    const root = events.find((event) => event["event_name"] === "answer");
    const model = events.find((event) => event["event_type"] === "model");
    const tool = events.find((event) => event["event_type"] === "tool");

    expect(root).toMatchObject({ event_type: "chain", session_id: traceId });
    expect(root).not.toHaveProperty("parent_id");
    expect(model).toMatchObject({
      event_id: generationId,
      parent_id: root?.["event_id"],
      config: {
        model: "gpt-4o-2024-08-06",
        hyperparameters: { temperature: 0.2, max_tokens: 256 },
      },
      inputs: {
        chat_history: [
          { role: "system", content: "Be kind." },
          { role: "user", content: "Where is my order?" },
        ],
      },
      outputs: { role: "assistant", content: "It ships today." },
      metadata: {
        attempt: 1,
        prompt_tokens: 120,
        completion_tokens: 12,
        total_tokens: 132,
        cache_read_input_tokens: 64,
        cost: 0.00042,
        prompt_name: "support",
        prompt_version: 4,
        langfuse: { modelId: "m1" },
      },
    });
    expect(tool).toMatchObject({ error: "order service timed out", inputs: { order: 17 } });
  });

  test("puts scores into metrics, and all of them into feedback", () => {
    const updates = mapFile("langfuse-api.jsonl", mapLangfuse).flatMap(({ writes }) =>
      writes.filter((write) => write.kind === "update"),
    );

    expect(updates).toMatchObject([
      {
        eventId: traceId,
        update: {
          metrics: { helpful: true, helpful_explanation: "clear answer" },
          feedback: {
            "langfuse_score_score-1": { value: true, source: "ANNOTATION", authorUserId: "rev-1" },
          },
        },
      },
      { eventId: generationId, update: { metrics: { tone: "friendly" } } },
    ]);
  });

  test.each(["CATEGORICAL", "TEXT", "CORRECTION"])("keeps the text of a %s score", (data_type) => {
    const ids = { id: "s", trace_id: traceId, name: "tone" };
    const score = { ...ids, value: 0, string_value: "warm", data_type };

    const { writes } = mapLangfuse(score);

    expect(writes).toMatchObject([
      {
        update: {
          metrics: { tone: "warm" },
          feedback: { langfuse_score_s: { value: 0, string_value: "warm" } },
        },
      },
    ]);
  });

  test.each([
    { kind: "trace", subject: { id: traceId }, eventId: traceId },
    { kind: "observation", subject: { id: generationId, traceId }, eventId: generationId },
  ])("puts a score whose subject is of kind $kind on its event", ({ kind, subject, eventId }) => {
    const ids = { id: "s", projectId: "p", name: "safe", dataType: "BOOLEAN" };

    const { writes, raw } = mapLangfuse({ ...ids, value: true, subject: { kind, ...subject } });

    expect(writes).toMatchObject([{ eventId, update: { metrics: { safe: true } } }]);
    expect(raw).not.toContain("subject");
  });

  test.each(["session", "experiment"])("names a score of a Langfuse %s as bad", (kind) => {
    const score = { id: "s", name: "safe", value: 1, subject: { kind, id: "x" } };

    expect(() => mapLangfuse(score)).toThrow("is a score of no trace");
  });

  test.each([
    { usage: { input_cache_read: 100, input_cache_creation: 1_000, output_reasoning: 2 } },
    {
      usage: {
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 1_000,
        output_reasoning_tokens: 2,
      },
    },
  ])("adds cached and reasoning tokens of $usage to those of their kind", ({ usage }) => {
    const ids = { id: "o", trace_id: traceId, type: "GENERATION" };
    const usage_details = { input: 10, output: 5, total: 1_117, ...usage };

    const mapped = mapLangfuse({ ...ids, start_time: "2026-11-20 10:00:00", usage_details });

    expect(eventsOf([mapped])[0]).toMatchObject({
      metadata: {
        prompt_tokens: 1_110,
        completion_tokens: 7,
        total_tokens: 1_117,
        cache_read_input_tokens: 100,
        cache_write_input_tokens: 1_000,
        reasoning_tokens: 2,
      },
    });
  });

  test("reads the blob export: snake_case names, payloads as JSON text, trace names", () => {
    const events = eventsOf(mapFile("langfuse-blob.jsonl", mapLangfuse));

    expect(events).toMatchObject([
      {
        event_type: "session",
        event_name: "nightly",
        event_id: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736",
      },
      {
        event_type: "chain",
        inputs: { rows: 3 },
        metadata: { batch: "7" },
        user_properties: { user_id: "cron" },
      },
      {
        event_type: "model",
        config: { model: "claude-sonnet-4", hyperparameters: { temperature: 1 } },
        inputs: { chat_history: [{ role: "user", content: "Sum up" }] },
        outputs: { role: "assistant", content: "A summary" },
        metadata: { cost: 0.00045, prompt_tokens: 50 },
        parent_id: events[1]?.["event_id"],
      },
    ]);
  });

  test.each([
    { name: "no id", record: { startTime: "2025-01-01", traceId: "t" }, reason: "id is required" },
    {
      name: "a start that is no time",
      record: { id: "a", traceId: "t", startTime: "soon" },
      reason: "start_time is not a time",
    },
    {
      name: "a score of no trace",
      record: { id: "a", name: "s", value: 1, sessionId: "x" },
      reason: "is a score of no trace",
    },
  ])("refuses $name", ({ record, reason }) => {
    expect(() => mapLangfuse(record)).toThrow(reason);
  });
});

describe("mapLangSmith", () => {
  const mapped = mapFile("langsmith.jsonl", mapLangSmith);
  const [model, tool, session, root] = eventsOf(mapped);

  test("reads LangChain's messages, tokens, cost and feedback of a model call", () => {
    expect(model).toMatchObject({
      event_type: "model",
      event_id: "2f0a3c1e-59c2-4f4e-8f55-0c9d8a7b6c02",
      session_id: "1f0a3c1e-59c2-4f4e-8f55-0c9d8a7b6c01",
      config: { model: "gpt-4o-mini", provider: "openai" },
      inputs: {
        chat_history: [
          { role: "system", content: "You are terse." },
          { role: "user", content: "2+2?" },
        ],
      },
      outputs: { role: "assistant", content: "4", generation_info: { finish_reason: "stop" } },
      metadata: {
        prompt_tokens: 20,
        completion_tokens: 1,
        total_tokens: 21,
        cost: 0.0000036,
        thread_id: "th-1",
        project_name: "calc",
        tags: ["seq:step:1"],
        langsmith: { app_path: "/o/x/projects/p/r/y", feedback_stats: { correctness: { n: 2 } } },
      },
      metrics: { correctness: 0.5 },
    });
  });

  test("reads a tool call once that LangChain gives in the content too", () => {
    const run = { id: generationId, run_type: "llm", start_time: "2026-11-20T10:00:00" };
    const content = [
      { type: "text", text: "I look." },
      { type: "tool_use", id: "c1", name: "search", input: { q: "bees" } },
    ];
    const tool_calls = [{ type: "tool_call", id: "c1", name: "search", args: { q: "bees" } }];
    const message = { id: ["langchain", "AIMessage"], kwargs: { content, tool_calls } };
    const outputs = { generations: [[{ text: "I look.", message }]] };

    const events = eventsOf([mapLangSmith({ ...run, inputs: {}, outputs })]);

    expect(events.at(-1)?.["outputs"]).toEqual({
      role: "assistant",
      content: "I look.",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "search", arguments: '{"q":"bees"}' } },
      ],
    });
  });

  test("reads cached and reasoning tokens", () => {
    const run = { id: generationId, run_type: "llm", start_time: "2026-11-20T10:00:00" };
    const details = {
      prompt_token_details: { cache_read: 60, cache_creation: 30, audio: 1 },
      completion_token_details: { reasoning: 4 },
    };

    const events = eventsOf([mapLangSmith({ ...run, prompt_tokens: 100, ...details })]);

    expect(events.at(-1)).toMatchObject({
      metadata: {
        prompt_tokens: 100,
        cache_read_input_tokens: 60,
        cache_write_input_tokens: 30,
        reasoning_tokens: 4,
        langsmith: details,
      },
    });
  });

  test("reads the runs inside a run, of any depth, each under the one it is in", () => {
    const start_time = "2026-11-20T10:00:00";
    const tool = { id: generationId, name: "add", run_type: "tool", start_time, trace_id: null };
    const step = { id: "step-1", name: "plan", start_time, child_runs: [tool] };

    const { writes, records, raw } = mapLangSmith({
      id: traceId,
      name: "agent",
      start_time,
      child_runs: [step, { ...tool, id: "last", name: "tell" }],
    });

    const events = eventsOf([{ writes, records, raw, mapped: [] }]);
    const [session, root, plan, tell, add] = events;
    expect(events).toHaveLength(5);
    expect(root).toMatchObject({ event_name: "agent", session_id: session?.["event_id"] });
    expect(plan).toMatchObject({ event_name: "plan", parent_id: root?.["event_id"] });
    expect(tell).toMatchObject({ event_name: "tell", parent_id: root?.["event_id"] });
    expect(add).toMatchObject({ event_name: "add", parent_id: plan?.["event_id"] });
    expect(new Set(events.map((event) => event["session_id"])).size).toBe(1);
    expect(raw).not.toContain("child_runs");
  });

  test("hangs runs under the root, whose id is not that of the session", () => {
    expect(session).toMatchObject({ event_type: "session", event_name: "Calculator" });
    expect(root).toMatchObject({ event_type: "chain", session_id: session?.["event_id"] });
    expect(root?.["event_id"]).not.toBe(session?.["event_id"]);
    expect([model?.["parent_id"], tool?.["parent_id"]]).toEqual(Array(2).fill(root?.["event_id"]));
    expect(tool).toMatchObject({ error: "ZeroDivisionError('division by zero')" });
  });

  test("leaves the sums of a chain raw, so that totals count a token once", () => {
    expect(root?.["metadata"]).not.toHaveProperty("total_tokens");
    expect(root).toMatchObject({ metadata: { langsmith: { total_tokens: 21 } } });
  });
});

describe("mapPhoenix", () => {
  const spans = mapFile("phoenix.jsonl", mapPhoenix).flatMap(({ writes }) =>
    writes.flatMap((write) => (write.kind === "spans" ? [JSON.stringify(write.spans)] : [])),
  );

  test("makes OpenInference attributes of a data frame's columns", () => {
    expect(spans[0]).toContain(
      '{"key":"metadata","value":{"stringValue":"{\\"team\\":\\"bees\\"}"}}',
    );
    expect(spans[0]).toContain('"startTimeUnixNano":"1762336800000000000"');
    expect(spans[1]).toContain('"retrieval.documents.0.document.content"');
    expect(spans[1]).toContain('"status":{"code":2,"message":"index missing"}');
  });

  test("makes them of the REST API's nested attributes", () => {
    expect(spans[2]).toContain('"llm.input_messages.0.message.role"');
    expect(spans[2]).toContain('{"key":"phoenix.id","value":{"stringValue":"U3BhbjoxMg=="}}');
  });

  test("refuses a span without valid ids", () => {
    expect(() => mapPhoenix({ name: "a", "context.trace_id": "1" })).toThrow("context.trace_id");
  });
});

describe("mapOtlp", () => {
  test("counts spans, and refuses metrics and logs", () => {
    expect(mapFile("otlp.jsonl", mapOtlp).map(({ records }) => records)).toEqual([2, 1]);
    expect(() => mapOtlp({ resourceMetrics: [] }, "")).toThrow("only traces");
  });
});

describe("mapWaggle", () => {
  const given = {
    event_id: "e",
    session_id: "s",
    event_type: "tool",
    event_name: "n",
    source: "x",
    start_time: 1_000,
    end_time: 1_012,
    duration: 12,
    inputs: {},
    parent_id: "s",
    project_id: "p",
    error: null,
    cost_estimate: { cost: 1, price_table: "t" },
  };

  test("leaves out what the project gives anew, and what the export shows by default", () => {
    const { writes, raw } = mapWaggle(given);

    const { duration: _, parent_id: __, project_id: ___, error: ____, ...rest } = given;
    const { cost_estimate: _____, ...event } = rest;
    expect(writes).toEqual([{ kind: "event", eventId: "e", event }]);
    expect(raw).toEqual([]);
  });

  test("keeps a duration and a parent of its own", () => {
    const { writes } = mapWaggle({ ...given, duration: 12.5, parent_id: "q" });

    expect(writes).toMatchObject([{ event: { duration: 12.5, parent_id: "q" } }]);
  });

  test("takes the last line of an export as no record", () => {
    expect(mapWaggle({ done: true, count: 3 })).toMatchObject({ records: 0, writes: [] });
  });
});
