// The cases of golden.test.ts: what docs/spec.md "Logging" and the /v1 forms answer. Each runs on a
// project of its own, first its `given` calls, then its request, by REST and by the equal rpc.
// Source: docs/spec.md, "Logging", "Errors"; docs/decisions.md, 3, 9, 10, 11, 12, 13, 14, 15.1, 16.

import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { TracingService } from "../../gen/waggle/compat/v0/tracing_pb.js";
import { BackfillService } from "../../gen/waggle/v1/backfill_pb.js";
import { EvaluatorService } from "../../gen/waggle/v1/evaluator_pb.js";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { ExportService } from "../../gen/waggle/v1/export_pb.js";
import { FeedbackService } from "../../gen/waggle/v1/feedback_pb.js";
import { GenerationService } from "../../gen/waggle/v1/generation_pb.js";
import { MetricService } from "../../gen/waggle/v1/metric_pb.js";
import { MetricVersionService } from "../../gen/waggle/v1/metric_version_pb.js";
import { SessionService } from "../../gen/waggle/v1/session_pb.js";
import { type Case, golden, type Options, type Request } from "./golden-case.ts";
import { administrationCases } from "./golden-administration.ts";
import { experimentCases } from "./golden-experiments.ts";
import { promptCases } from "./golden-prompts.ts";
import { alertCases } from "./golden-alerts.ts";
import { chartCases } from "./golden-charts.ts";
import { dashboardCases, viewCases } from "./golden-views.ts";
import { queueCases } from "./golden-queues.ts";

const event = EventService.method;
const session = SessionService.method;
const exporting = ExportService.method;
const tracing = TracingService.method;
const feedback = FeedbackService.method;
const generation = GenerationService.method;
const evaluator = EvaluatorService.method;
const metric = MetricService.method;
const backfill = BackfillService.method;

const at = 1_760_000_000_000;
/** The session that every case but a few is about. */
export const sessionId = "5e551000-0000-4000-8000-000000000001";
const eventId = "e7e17000-0000-4000-8000-000000000001";
const otherId = "e7e17000-0000-4000-8000-000000000002";
const absentId = "e7e17000-0000-4000-8000-00000000000f";

const sessionStart: JsonObject = {
  project: "demo",
  source: "golden",
  event_type: "session",
  session_name: "Playground Session",
  session_id: sessionId,
  event_id: sessionId,
  parent_id: null,
  children_ids: [],
  config: {},
  inputs: { question: "Where to?" },
  outputs: {},
  error: null,
  start_time: at,
  end_time: at + 824,
  duration: 824.8056,
  metrics: {},
  feedback: {},
  metadata: {},
  user_properties: { user: "ada@example.com" },
};
const modelEvent: JsonObject = {
  project: "demo",
  source: "golden",
  event_name: "Model Completion",
  event_type: "model",
  event_id: eventId,
  session_id: sessionId,
  parent_id: sessionId,
  children_ids: [],
  config: {
    model: "gpt-4o",
    version: "v0.1",
    provider: "openai",
    hyperparameters: { temperature: 0, top_p: 1, max_tokens: 1000, stop: [], n: 1 },
    template: [{ role: "system", content: "Hello, {{ name }}" }],
    type: "chat",
  },
  inputs: { name: "Ada", chat_history: [{ role: "user", content: "Hi" }] },
  outputs: { role: "assistant", content: "Hello" },
  error: null,
  start_time: at + 100,
  end_time: at + 924,
  duration: 824.8056,
  metadata: { cost: 0.00008, completion_tokens: 23, prompt_tokens: "35", total_tokens: 58 },
  feedback: {},
  metrics: { "Answer Faithfulness": 5, "Answer Faithfulness_explanation": "Says what is there" },
  user_properties: { user: "ada@example.com" },
};
const toolEvent: JsonObject = {
  event_id: otherId,
  session_id: sessionId,
  parent_id: eventId,
  source: "golden",
  event_name: "search",
  event_type: "tool",
  inputs: { query: "bees" },
  outputs: { hits: 3 },
  error: "timeout",
  start_time: at + 200,
  end_time: at + 300,
};
/** A step with one below it, whose times are microseconds, and a wrong one. */
const nestedLog: JsonObject = {
  event_id: eventId,
  source: "golden",
  event_name: "chain",
  event_type: "chain",
  inputs: { question: "Where to?" },
  start_time: at * 1_000 + 500,
  end_time: (at + 500) * 1_000,
  children: [
    {
      event_id: otherId,
      source: "golden",
      event_name: "search",
      event_type: "tool",
      inputs: { input: "bees" },
      start_time: (at + 1) * 1_000,
      children: [],
    },
    { event_type: "tool" },
  ],
};
const modelCall: JsonObject = {
  project: "demo",
  source: "golden",
  event_id: eventId,
  session_id: sessionId,
  start_time: at,
  model: "gpt-4o",
  provider: "openai",
  messages: [{ role: "user", content: "Hi" }],
  response: { role: "assistant", content: "Hello" },
  duration: 42,
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  cost: 0.0001,
  hyperparameters: { temperature: 0 },
};

const aSession: Request = { route: "POST /session/start", body: { session: sessionStart } };
const aTrace: readonly Request[] = [
  aSession,
  { route: "POST /events/batch", body: { events: [modelEvent, toolEvent] } },
];

function without(record: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

const noTypes = "messages have types: the value cannot be said";
const noKeys = "messages have no unknown fields";

const sessions: readonly Case[] = [
  golden("post-session-start/started", "POST /session/start", session.startSession, {
    body: { session: sessionStart },
  }),
  golden("post-session-start/with-defaults", "POST /session/start", session.startSession, {
    body: { session: { start_time: at } },
    key: "ingestion",
  }),
  golden("post-session-start/started-again", "POST /session/start", session.startSession, {
    given: [aSession],
    body: { session: { session_id: sessionId, metadata: { again: true }, start_time: at + 50 } },
  }),
  golden("post-session-start/no-session", "POST /session/start", session.startSession, {
    body: {},
  }),
  golden("post-session-start/wrong-type", "POST /session/start", noTypes, {
    body: { session: { inputs: "text" } },
  }),
  golden("post-session-start/read-only-key", "POST /session/start", session.startSession, {
    body: { session: sessionStart },
    key: "readOnly",
  }),
  golden("post-v1-sessions/started", "POST /v1/sessions", session.startSession, {
    body: without(sessionStart, "project"),
    message: { session: sessionStart },
  }),
  golden("post-v1-sessions/unknown-key", "POST /v1/sessions", noKeys, { body: { nmae: "typo" } }),
  golden("put-session/updated", `PUT /session/${sessionId}`, session.updateSession, {
    given: [aSession],
    body: {
      duration: 900,
      error: "",
      output: { answer: "Paris" },
      feedback: { rating: 5 },
      metadata: { done: true },
      user_properties: { plan: "pro" },
    },
    message: {
      session_id: sessionId,
      duration: 900,
      error: "",
      output: { answer: "Paris" },
      feedback: { rating: 5 },
      metadata: { done: true },
      user_properties: { plan: "pro" },
    },
  }),
  golden("put-session/no-output", `PUT /session/${sessionId}`, session.updateSession, {
    given: [aSession],
    body: { error: "" },
    message: { session_id: sessionId, error: "" },
  }),
  golden("put-session/absent", `PUT /session/${absentId}`, session.updateSession, {
    body: { error: "", output: {} },
    message: { session_id: absentId, error: "", output: {} },
  }),
  golden("get-session/with-totals", `GET /session/${sessionId}`, session.getSession, {
    given: aTrace,
    message: { session_id: sessionId },
    key: "readOnly",
  }),
  golden("get-session/absent", `GET /session/${absentId}`, session.getSession, {
    message: { session_id: absentId },
  }),
  golden("get-v1-session/tree", `GET /v1/sessions/${sessionId}`, session.getSessionTree, {
    given: aTrace,
    message: { session_id: sessionId },
  }),
  golden(
    "get-v1-session/skeleton",
    `GET /v1/sessions/${sessionId}?view=skeleton`,
    session.getSessionTree,
    { given: aTrace, message: { session_id: sessionId, view: "skeleton" } },
  ),
  golden(
    "get-v1-session/unknown-view",
    `GET /v1/sessions/${sessionId}?view=all`,
    session.getSessionTree,
    { given: aTrace, message: { session_id: sessionId, view: "all" } },
  ),
  golden("get-v1-sessions/listed", "GET /v1/sessions?limit=10", session.listSessions, {
    given: aTrace,
    message: { limit: 10 },
  }),
  golden("get-v1-sessions/limit-too-large", "GET /v1/sessions?limit=1001", session.listSessions, {
    message: { limit: 1001 },
  }),
  golden("delete-v1-session/deleted", `DELETE /v1/sessions/${sessionId}`, session.deleteSession, {
    given: aTrace,
    message: { session_id: sessionId },
  }),
  golden("delete-v1-session/absent", `DELETE /v1/sessions/${absentId}`, session.deleteSession, {
    message: { session_id: absentId },
  }),
  golden("post-session-traces/logs", `POST /session/${sessionId}/traces`, tracing.addTraces, {
    given: [aSession],
    body: { logs: [modelEvent, toolEvent] },
    message: { session_id: sessionId, logs: [modelEvent, toolEvent] },
  }),
  golden("post-session-traces/nested", `POST /session/${sessionId}/traces`, tracing.addTraces, {
    given: [aSession],
    body: { logs: [nestedLog] },
    message: { session_id: sessionId, logs: [nestedLog] },
  }),
  golden("post-session-traces/both", `POST /session/${sessionId}/traces`, tracing.addTraces, {
    body: { logs: [modelEvent], events: [toolEvent] },
    message: { session_id: sessionId, logs: [modelEvent], events: [toolEvent] },
  }),
  golden(
    "post-v1-session-events-batch/added",
    `POST /v1/sessions/${sessionId}/events/batch`,
    session.addSessionEvents,
    {
      given: [aSession],
      body: { events: [without(modelEvent, "project", "session_id")] },
      message: {
        session_id: sessionId,
        events: [without(modelEvent, "project", "session_id")],
      },
    },
  ),
];

const events: readonly Case[] = [
  golden("post-events/created", "POST /events", event.createEvent, {
    body: { event: modelEvent },
    key: "ingestion",
  }),
  golden("post-events/no-inputs", "POST /events", event.createEvent, {
    body: { event: without(modelEvent, "inputs") },
  }),
  golden("post-events/no-event-type", "POST /events", event.createEvent, {
    body: { event: without(modelEvent, "event_type") },
  }),
  golden("post-events/unknown-event-type", "POST /events", event.createEvent, {
    body: { event: { ...modelEvent, event_type: "walk" } },
  }),
  golden("post-events/no-event", "POST /events", event.createEvent, { body: {} }),
  golden("post-events/wrong-time", "POST /events", noTypes, {
    body: { event: { ...modelEvent, start_time: "yesterday" } },
  }),
  golden("post-events/iso-time", "POST /events", event.createEvent, {
    body: { event: { ...modelEvent, start_time: "2025-10-09T08:53:20.100Z" } },
    message: { event: modelEvent },
  }),
  golden("post-events/no-key", "POST /events", event.createEvent, {
    body: { event: modelEvent },
    key: "none",
  }),
  golden("post-v1-events/created", "POST /v1/events", event.createEvent, {
    body: without(modelEvent, "project"),
    message: { event: modelEvent },
  }),
  golden("post-v1-events/unknown-key", "POST /v1/events", noKeys, {
    body: { ...modelEvent, evnet_name: "typo" },
  }),
  golden("put-events/enriched", "PUT /events", event.enrichEvent, {
    given: aTrace,
    body: { event_id: eventId, metrics: { quality: 1 }, outputs: { content: "Hello!" } },
  }),
  golden("put-events/not-seen-yet", "PUT /events", event.enrichEvent, {
    body: { event_id: absentId, metadata: { early: true } },
  }),
  golden("put-events/no-id", "PUT /events", event.enrichEvent, { body: { metadata: {} } }),
  golden("get-v1-event/found", `GET /v1/events/${eventId}`, event.getEvent, {
    given: aTrace,
    message: { event_id: eventId },
    key: "readOnly",
  }),
  golden("get-v1-event/with-defaults", "GET /v1/events/e1", event.getEvent, {
    given: [
      aSession,
      {
        route: "POST /events",
        body: {
          event: {
            event_id: "e1",
            event_type: "chain",
            inputs: {},
            session_id: sessionId,
            start_time: at,
          },
        },
      },
    ],
    message: { event_id: "e1" },
  }),
  golden("get-v1-event/absent", `GET /v1/events/${absentId}`, event.getEvent, {
    message: { event_id: absentId },
  }),
  golden("get-v1-event/ingestion-key", `GET /v1/events/${eventId}`, event.getEvent, {
    given: aTrace,
    message: { event_id: eventId },
    key: "ingestion",
  }),
  golden("put-v1-event/updated", `PUT /v1/events/${eventId}`, event.updateEvent, {
    given: aTrace,
    body: { outputs: { content: "Hello!" }, feedback: { rating: 1 } },
    message: { event_id: eventId, outputs: { content: "Hello!" }, feedback: { rating: 1 } },
  }),
  golden("put-v1-event/outputs-no-object", `PUT /v1/events/${eventId}`, noTypes, {
    given: aTrace,
    body: { outputs: "Hello!" },
  }),
  golden("put-v1-event/absent", `PUT /v1/events/${absentId}`, event.updateEvent, {
    body: { outputs: {} },
    message: { event_id: absentId, outputs: {} },
  }),
  golden("delete-v1-event/deleted", `DELETE /v1/events/${eventId}`, event.deleteEvent, {
    given: aTrace,
    message: { event_id: eventId },
  }),
  golden("delete-v1-event/absent", `DELETE /v1/events/${absentId}`, event.deleteEvent, {
    message: { event_id: absentId },
  }),
  golden("unknown-route/not-found", "GET /v1/nothing", "an rpc is a route", {}),
  golden("unknown-route/wrong-method", "PATCH /events", "an rpc has no method", {}),
];

const batches: readonly Case[] = [
  golden("post-events-batch/all-created", "POST /events/batch", event.createEventBatch, {
    body: { events: [modelEvent, toolEvent], is_single_session: false },
  }),
  golden("post-events-batch/single-session", "POST /events/batch", event.createEventBatch, {
    body: {
      events: [without(modelEvent, "session_id", "parent_id"), without(toolEvent, "session_id")],
      is_single_session: true,
      session_properties: { session_id: sessionId, session_name: "joined", source: "golden" },
    },
  }),
  golden("post-events-batch/some-rejected", "POST /events/batch", event.createEventBatch, {
    body: {
      events: [
        modelEvent,
        without({ ...toolEvent, session_id: "s2" }, "inputs"),
        without({ ...toolEvent, session_id: "s3" }, "source"),
      ],
    },
  }),
  golden("post-events-batch/none-stored", "POST /events/batch", event.createEventBatch, {
    body: { events: [without(toolEvent, "inputs")] },
  }),
  golden("post-events-batch/no-events", "POST /events/batch", event.createEventBatch, {
    body: { events: [] },
  }),
  golden("post-v1-events-batch/all-created", "POST /v1/events/batch", event.createEventBatch, {
    body: {
      events: [without(modelEvent, "project"), toolEvent],
      single_session: true,
      session_properties: { session_id: sessionId, session_name: "joined", source: "golden" },
    },
  }),
  golden("post-v1-events-batch/legacy-alias", "POST /v1/events/batch", "an alias is a field", {
    body: { events: [toolEvent], is_single_session: true },
  }),
  golden("post-events-model/created", "POST /events/model", tracing.createModelEvent, {
    body: { model_event: modelCall },
  }),
  golden("post-v1-events-model/created", "POST /v1/events/model", tracing.createModelEvent, {
    body: { model_event: modelCall },
  }),
  golden("post-events-model/no-model", "POST /events/model", tracing.createModelEvent, {
    body: { model_event: without(modelCall, "model") },
  }),
  golden(
    "post-events-model-batch/all-created",
    "POST /events/model/batch",
    tracing.createModelEventBatch,
    { body: { model_events: [modelCall, { ...modelCall, event_id: otherId }] } },
  ),
];

const said: JsonObject = {
  task: "answer",
  generation_id: eventId,
  feedback_json: { rating: 5, comment: "To the point" },
  ground_truth: "Paris",
};

const feedbacks: readonly Case[] = [
  golden("post-feedback/created", "POST /feedback", feedback.createFeedback, {
    given: aTrace,
    body: said,
  }),
  golden("post-feedback/merged", "POST /feedback", feedback.createFeedback, {
    given: [...aTrace, { route: "POST /feedback", body: said }],
    body: { task: "answer", generation_id: eventId, feedback_json: { rating: 1, seen: true } },
  }),
  golden("post-feedback/no-task", "POST /feedback", feedback.createFeedback, {
    given: aTrace,
    body: without(said, "task"),
  }),
  golden("post-feedback/no-generation-id", "POST /feedback", feedback.createFeedback, {
    given: aTrace,
    body: without(said, "generation_id"),
  }),
  golden("post-feedback/two-ground-truths", "POST /feedback", feedback.createFeedback, {
    given: aTrace,
    body: { ...said, feedback_json: { ground_truth: "Rome" } },
  }),
  golden("post-feedback/items-no-object", "POST /feedback", noTypes, {
    given: aTrace,
    body: { ...said, feedback_json: "good" },
  }),
  golden("post-feedback/unknown-generation", "POST /feedback", feedback.createFeedback, {
    given: aTrace,
    body: { ...said, generation_id: absentId },
  }),
  golden("post-feedback/no-generation", "POST /feedback", feedback.createFeedback, {
    given: aTrace,
    body: { ...said, generation_id: otherId },
  }),
  golden("post-feedback/read-only-key", "POST /feedback", feedback.createFeedback, {
    given: aTrace,
    body: said,
    key: "readOnly",
  }),
  golden(
    "get-v1-feedback/listed",
    `GET /v1/feedback?generation_id=${eventId}&limit=1`,
    feedback.listFeedback,
    {
      given: [
        ...aTrace,
        { route: "POST /feedback", body: said },
        { route: "POST /feedback", body: { task: "judge", generation_id: eventId } },
      ],
      message: { generation_id: eventId, limit: 1 },
      key: "readOnly",
    },
  ),
  golden(
    "get-v1-feedback/of-an-unknown-generation",
    `GET /v1/feedback?generation_id=${absentId}`,
    feedback.listFeedback,
    { given: aTrace, message: { generation_id: absentId } },
  ),
  golden("get-v1-feedback/no-generation-id", "GET /v1/feedback", feedback.listFeedback, {
    given: aTrace,
  }),
];

const is = (field: string, value: JsonObject[string], type?: string): JsonObject => ({
  field,
  operator: "is",
  value,
  ...(type !== undefined && { type }),
});

const exports: readonly Case[] = [
  golden("post-events-export/by-type", "POST /events/export", exporting.exportEvents, {
    given: aTrace,
    body: {
      project: "demo",
      filters: [is("event_type", "model", "string")],
      dateRange: { $gte: "2025-10-09T00:00:00Z", $lte: "2025-10-10T00:00:00Z" },
      limit: 100,
      page: 1,
    },
    message: {
      project: "demo",
      filters: [is("event_type", "model", "string")],
      dateRange: { $gte: at - 86_400_000, $lte: at + 86_400_000 },
      limit: 100,
      page: 1,
    },
  }),
  golden("post-events-export/by-several", "POST /events/export", exporting.exportEvents, {
    given: aTrace,
    body: {
      project: "demo",
      filters: [
        { field: "metadata.cost", operator: "exists" },
        { field: "event_name", operator: "contains", value: "model", type: "string" },
        { field: "metadata.total_tokens", operator: "greater than", value: 57, type: "number" },
      ],
      projections: ["event_name", "metadata"],
    },
    key: "readOnly",
  }),
  golden("post-events-export/nothing-matches", "POST /events/export", exporting.exportEvents, {
    given: aTrace,
    body: { project: "demo", filters: [is("event_name", "walk")] },
  }),
  golden("post-events-export/unknown-field", "POST /events/export", exporting.exportEvents, {
    given: aTrace,
    body: { project: "demo", filters: [is("metadata.nothing", "x")] },
  }),
  golden("post-events-export/unknown-operator", "POST /events/export", exporting.exportEvents, {
    given: aTrace,
    body: { filters: [{ field: "event_name", operator: "like", value: "x" }] },
  }),
  golden("post-events-export/blank-number", "POST /events/export", exporting.exportEvents, {
    given: aTrace,
    body: { filters: [is("metadata.cost", " ", "number")] },
  }),
  golden("post-events-export/limit-too-large", "POST /events/export", exporting.exportEvents, {
    body: { limit: 7501 },
  }),
  golden("post-events-export/other-project", "POST /events/export", exporting.exportEvents, {
    body: { project: "other", filters: [] },
  }),
  golden("post-v1-events-export/by-page", "POST /v1/events/export", exporting.exportEvents, {
    given: aTrace,
    body: { limit: 1, page: 2, filters: [is("session_id", sessionId, "string")] },
  }),
  golden("post-v1-events-export/by-cursor", "POST /v1/events/export", exporting.exportEvents, {
    given: aTrace,
    body: { limit: 2, filters: [], projections: ["event_name", "start_time"] },
  }),
  golden("get-events/by-page", "GET /events?limit=1&page=1", exporting.exportEvents, {
    given: aTrace,
    message: { limit: 1, page: 1 },
  }),
  golden("post-v1-events-search/by-date", "POST /v1/events/search", exporting.searchEvents, {
    given: aTrace,
    body: {
      filters: [is("event_type", "tool")],
      dateRange: { start_time: "2025-10-09T00:00:00Z", end_time: "2025-10-10T00:00:00Z" },
      limit: 10,
      ignore_order: true,
    },
    message: {
      filters: [is("event_type", "tool")],
      dateRange: { start_time: at - 86_400_000, end_time: at + 86_400_000 },
      limit: 10,
      ignore_order: true,
    },
  }),
  golden(
    "post-v1-events-search/limit-too-large",
    "POST /v1/events/search",
    exporting.searchEvents,
    {
      body: { limit: 1001 },
    },
  ),
  golden("post-v1-events-stream/json-lines", "POST /v1/events/stream", exporting.streamEvents, {
    given: aTrace,
    body: { filters: [], projections: ["event_name", "error"] },
  }),
  golden("get-v1-events-schema/of-a-trace", "GET /v1/events/schema", exporting.getEventSchema, {
    given: aTrace,
  }),
];

const chat: JsonObject = {
  project: "demo",
  model: "gpt-4o",
  messages: [{ role: "user", content: "Weather in {{ city }}?" }],
  inputs: { city: "Paris" },
  session_id: sessionId,
};
const functions = [{ name: "get_weather", parameters: { type: "object", properties: {} } }];

const chats: readonly Case[] = [
  golden("post-chat/answered", "POST /chat", generation.createChat, {
    given: [aSession],
    body: { ...chat, version: "v1", hyperparameters: { temperature: 0, max_tokens: 50 } },
  }),
  golden("post-chat/several", "POST /chat", generation.createChat, {
    body: { ...chat, num_samples: 2 },
  }),
  golden("post-chat/function-called", "POST /chat", generation.createChat, {
    body: { ...chat, functions, function_call: "auto" },
  }),
  golden("post-chat/streamed", "POST /chat", "chat-failures.test.ts reads the rpc's stream", {
    body: { ...chat, stream: true },
  }),
  golden("post-chat/broken-off", "POST /chat", generation.createChat, {
    body: { ...chat, model: "openai/cut-off" },
  }),
  golden("post-chat/refused-by-provider", "POST /chat", generation.createChat, {
    body: { ...chat, model: "openai/fail-400" },
  }),
  golden("post-chat/no-model", "POST /chat", generation.createChat, {
    body: without(chat, "model"),
  }),
  golden("post-chat/missing-value", "POST /chat", generation.createChat, {
    body: { ...chat, inputs: { town: "Paris" } },
  }),
  golden("post-chat/unknown-hyperparameter", "POST /chat", generation.createChat, {
    body: { ...chat, hyperparameters: { heat: 1 } },
  }),
  golden("post-chat/other-project", "POST /chat", generation.createChat, {
    body: { ...chat, project: "other" },
  }),
  golden("post-chat/ingestion-key", "POST /chat", generation.createChat, {
    key: "ingestion",
    body: chat,
  }),
];

const judge: JsonObject = {
  definition: "Is {{ outputs.answer }} right? [[{{ outputs.rating }}]]",
  type: "LLM",
  model_provider: "openai",
  model_name: "gpt-4o-echo",
  scale: 5,
};
const code: JsonObject = {
  definition: "def evaluate(event):\n    return 10 / event['outputs']['rating'], 'ten over it'",
  type: "PYTHON",
};
const judged: JsonObject = { ...toolEvent, outputs: { answer: "42", rating: 4 } };

const pythonMetric: JsonObject = {
  name: "polite",
  task: "demo",
  type: "custom",
  description: "Is it?",
  return_type: "boolean",
  code_snippet: "result = 'please' in outputs['answer']",
  event_type: "model",
  pass_when: true,
};
const judgeMetric: JsonObject = {
  name: "tone",
  type: "LLM",
  criteria: "Is {{ outputs.answer }} {{ feedback.ground_truth }}? Answer [[good]] or [[bad]].",
  return_type: "categorical",
  enabled_in_prod: true,
  sampling_percentage: 33.5,
  model_provider: "openai",
  model_name: "gpt-4o",
  categories: [{ category: "good", score: 1 }, { category: "bad" }],
  threshold: { passing_categories: ["good"] },
  filters: { filterArray: [{ field: "source", operator: "is", value: "prod", type: "string" }] },
};
const oldMetric: Request = { route: "POST /metrics", body: pythonMetric };
const newestMetric: Request = { route: "POST /v1/metrics", body: judgeMetric };

function newMetric(name: string, more: JsonObject, given: readonly Request[] = []): Case {
  const body = { ...judgeMetric, ...more };
  return golden(`post-v1-metrics/${name}`, "POST /v1/metrics", metric.createMetric, {
    body,
    given,
  });
}

const metrics: readonly Case[] = [
  golden("post-metrics/inserted", "POST /metrics", metric.createMetric, { body: pythonMetric }),
  newMetric("inserted", {}),
  newMetric("name-taken", {}, [newestMetric]),
  newMetric("unknown-placeholder", { criteria: "Rate it.\n{{ nothing }}" }),
  newMetric("composite", { type: "COMPOSITE" }),
  newMetric("unknown-filter", { filters: { filterArray: [{ field: "x", operator: "is" }] } }),
  golden("post-v1-metrics/syntax-error", "POST /v1/metrics", metric.createMetric, {
    body: { name: "polite", type: "PYTHON", criteria: "result = 1\nreturn (" },
  }),
  golden("post-v1-metrics/unknown-key", "POST /v1/metrics", noKeys, {
    body: { ...judgeMetric, colour: "red" },
  }),
  golden("get-metrics/listed", "GET /metrics", "REST answers the list itself", {
    given: [oldMetric, newestMetric],
    key: "readOnly",
  }),
  golden("get-v1-metrics/listed", "GET /v1/metrics", metric.listMetrics, {
    given: [oldMetric, newestMetric],
    key: "readOnly",
  }),
  golden("get-v1-metrics/page", "GET /v1/metrics?limit=1&type=model", metric.listMetrics, {
    given: [newestMetric, { route: "POST /v1/metrics", body: { ...judgeMetric, name: "tone 2" } }],
    message: { limit: 1, type: "model" },
  }),
  golden("get-v1-metrics/unknown-type", "GET /v1/metrics?type=ruby", metric.listMetrics, {
    message: { type: "ruby" },
  }),
  golden("get-v1-metric/unknown", `GET /v1/metrics/${absentId}`, metric.getMetric, {
    message: { id: absentId },
  }),
  golden("put-v1-metrics/without-id", "PUT /v1/metrics", metric.updateMetric, {
    body: { name: "x" },
  }),
  golden(
    "delete-v1-metrics/unknown",
    `DELETE /metrics?metric_id=${absentId}`,
    metric.deleteMetric,
    {
      message: { metric_id: absentId },
    },
  ),
  golden(
    "get-v1-metric-versions/of-an-unknown-metric",
    `GET /v1/metrics/${absentId}/versions`,
    MetricVersionService.method.listMetricVersions,
    { message: { id: absentId } },
  ),
];

function runCase(name: string, body: JsonObject, path = "/v1/metrics/run"): Case {
  return golden(`post-v1-metrics-run/${name}`, `POST ${path}`, evaluator.runMetric, { body });
}

const runs: readonly Case[] = [
  runCase("scored", { metric: { ...code, threshold: { min: 2 } }, event: judged }),
  runCase("judged", { metric: judge, event: judged }, "/v1/metrics/run_metric"),
  runCase("no-ground-truth", {
    metric: { ...judge, definition: "{{ feedback.ground_truth }} [[1]]" },
    event: judged,
  }),
  runCase("failed-code", { metric: code, event: { outputs: { rating: 0 } } }),
  runCase("failed-judge", { metric: { ...judge, scale: 3 }, event: judged }),
  runCase("syntax-error", { metric: { ...code, definition: "result = (1" }, event: judged }),
  runCase("unknown-placeholder", { metric: { ...judge, definition: "{{ x }}" }, event: judged }),
  runCase("event-twice", { metric: code, event: judged, event_id: eventId }),
  runCase("unknown-metric", { metric_id: absentId, event: judged }),
];

const aMetric: Request = {
  route: "POST /v1/metrics",
  body: {
    name: "Faithful",
    type: "LLM",
    prompt: "Is {{ outputs.content }} true? [[5]]",
    model_provider: "openai",
    model_name: "gpt-4o-mini",
    filters: { filterArray: [{ field: "event_type", operator: "is", value: "model" }] },
  },
};
const aQuestion: Request = {
  route: "POST /v1/metrics",
  body: { name: "Helpful", type: "HUMAN", criteria: "Does it help?", return_type: "float" },
};
const ofMetric: JsonObject = { id: "{metric_id}" };
const aBackfill: Request = { route: "POST /v1/metrics/{metric_id}/backfills", body: {} };
const ofBackfill: JsonObject = { ...ofMetric, backfill_id: "{backfill_id}" };

function backfillCase(
  name: string,
  route: string,
  method: DescMethod,
  { given = [...aTrace, aMetric, aBackfill], body, message = ofBackfill, ...more }: Options = {},
): Case {
  const [verb = "", path = ""] = route.split(" ");
  const whole = `${verb} /v1/metrics/{metric_id}/backfills${path}`;
  const sent = body ?? (verb === "POST" ? {} : undefined);
  return golden(name, whole, method, { given, message, ...(sent && { body: sent }), ...more });
}

const narrowed: JsonObject = {
  filters: [{ field: "source", operator: "is", value: "golden", type: "string" }],
  include_failed: true,
};
const mistyped: JsonObject = {
  filters: [{ field: "metadata.nothing", operator: "is", value: 1 }],
};

const backfills: readonly Case[] = [
  backfillCase("post-v1-backfills/started", "POST", backfill.createBackfill, {
    given: [...aTrace, aMetric],
    body: narrowed,
    message: { ...narrowed, ...ofMetric },
  }),
  backfillCase("post-v1-backfills/another-runs", "POST", backfill.createBackfill, {
    message: ofMetric,
  }),
  backfillCase("post-v1-backfills/unknown-field", "POST", backfill.createBackfill, {
    given: [...aTrace, aMetric],
    body: mistyped,
    message: { ...mistyped, ...ofMetric },
  }),
  backfillCase("post-v1-backfills/read-only-key", "POST", backfill.createBackfill, {
    message: ofMetric,
    key: "readOnly",
  }),
  backfillCase("get-v1-backfills/listed", "GET", backfill.listBackfills, { message: ofMetric }),
  backfillCase("get-v1-backfill/found", "GET /{backfill_id}", backfill.getBackfill),
  backfillCase("get-v1-backfill/absent", `GET /${absentId}`, backfill.getBackfill, {
    message: { ...ofMetric, backfill_id: absentId },
  }),
  backfillCase("post-v1-backfill/paused", "POST /{backfill_id}/pause", backfill.pauseBackfill),
  backfillCase("post-v1-backfill/resumed", "POST /{backfill_id}/resume", backfill.resumeBackfill),
  backfillCase("post-v1-backfill/cancelled", "POST /{backfill_id}/cancel", backfill.cancelBackfill),
];

const why = "/v1/metrics/{metric_id}/events";

const explanations: readonly Case[] = [
  golden("get-v1-metric-why/disabled", `GET ${why}/${eventId}/why`, evaluator.explainMetric, {
    given: [...aTrace, aMetric],
    message: { ...ofMetric, event_id: eventId },
  }),
  golden("get-v1-metric-why/absent", `GET ${why}/${absentId}/why`, evaluator.explainMetric, {
    given: [aMetric],
    message: { ...ofMetric, event_id: absentId },
  }),
  golden(
    "get-v1-metric-status/found",
    "GET /v1/metrics/{metric_id}/status",
    evaluator.getMetricStatus,
    { given: [aMetric], message: ofMetric, key: "readOnly" },
  ),
  golden(
    "get-v1-metric-reliability/nothing-scored",
    "GET /v1/metrics/{metric_id}/reliability?against=Helpful",
    evaluator.getMetricReliability,
    { given: [aQuestion, aMetric], message: { ...ofMetric, against: "Helpful" } },
  ),
  golden(
    "get-v1-metric-reliability/no-human-metric",
    "GET /v1/metrics/{metric_id}/reliability?against=Faithful",
    evaluator.getMetricReliability,
    { given: [aMetric], message: { ...ofMetric, against: "Faithful" } },
  ),
];

export const cases: readonly Case[] = [
  ...sessions,
  ...events,
  ...batches,
  ...feedbacks,
  ...exports,
  ...chats,
  ...metrics,
  ...runs,
  ...backfills,
  ...explanations,
  ...experimentCases,
  ...promptCases,
  ...queueCases,
  ...chartCases,
  ...viewCases,
  ...administrationCases,
  ...dashboardCases,
  ...alertCases,
];
