// honeyhive 1.0.42 as its users write it: a tracer, wrapped functions, enrichment, and its client.
// Run by test/clients/honeyhive-npm.test.ts: honeyhive-client.mjs FOLDER URL API_KEY PROJECT

import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, url, apiKey, project] = process.argv.slice(2);
const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...words) => complaints.push(`${level}: ${words.join(" ")}`);
}
const require = createRequire(join(folder, "package.json"));
const { HoneyHive, HoneyHiveTracer, enrichSpan } = require("honeyhive");

const source = "honeyhive-npm";
const tracer = await HoneyHiveTracer.init({
  apiKey,
  project,
  serverUrl: url,
  sessionName: "trip",
  source,
  inputs: { question: "Where to?" },
  metadata: { region: "eu" },
  verbose: true,
});
const getWeather = tracer.traceTool(
  function get_weather(city) {
    enrichSpan({ metadata: { cached: false }, metrics: { score: 0.5 } });
    return { city, celsius: 18 };
  },
  { eventName: "get_weather" },
);
const plan = tracer.traceChain(
  async function plan(city) {
    enrichSpan({ config: { temperature: 0.2 }, feedback: { rating: 5 } });
    return getWeather(city);
  },
  { eventName: "plan" },
);
const broken = tracer.traceTool(
  function broken() {
    throw new Error("no weather today");
  },
  { eventName: "broken" },
);
await tracer.trace(async () => {
  await plan("Paris");
  try {
    broken();
  } catch {
    // The failed span is what the test looks for.
  }
});
await tracer.enrichSession({ metadata: { first: 1 }, metrics: { quality: 0.9 } });
await tracer.enrichSession({
  metadata: { second: 2 },
  outputs: { answer: "Paris" },
  feedback: { ground_truth: "Lyon" },
  userProperties: { user: "ada" },
});
await tracer.flush();

const client = new HoneyHive({ bearerAuth: apiKey, serverURL: url });
const started = await client.session.startSession({
  session: { project, sessionName: "by client", source },
});
const startTime = 1_760_000_000_000;
const event = {
  project,
  source,
  sessionId: started.sessionId,
  eventName: "answer",
  eventType: "model",
  config: { model: "gpt-4o", provider: "openai" },
  inputs: { chat_history: [{ role: "user", content: "hi" }] },
  outputs: { role: "assistant", content: "hello" },
  duration: 250.5,
};
const posted = await client.events.createEvent({
  event: { ...event, startTime, endTime: startTime + 250 },
});
await client.events.updateEvent({
  eventId: posted.eventId,
  feedback: { rating: 1 },
  outputs: { content: "hello!" },
});
// No times of its own, and an error.
await client.events.createEvent({
  event: { ...event, eventName: "failed", error: "too slow", outputs: undefined },
});
const batch = await client.events.createEventBatch({
  events: ["one", "two"].map((eventName) => ({ ...event, sessionId: undefined, eventName })),
  isSingleSession: true,
  sessionProperties: { sessionName: "batched", source },
});
const modelCall = {
  project,
  source,
  model: "gpt-4o",
  provider: "openai",
  messages: [{ role: "user", content: "hi" }],
  response: { role: "assistant", content: "hello" },
  duration: 42,
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  cost: 0.01,
};
const modelEvent = await client.events.createModelEvent({ modelEvent: modelCall });
const modelBatch = await client.events.createModelEventBatch({
  modelEvents: [modelCall, modelCall],
  isSingleSession: true,
  sessionProperties: { sessionName: "model calls", source },
});

async function eventsOf(sessionId) {
  const filters = [{ field: "session_id", value: sessionId, operator: "is", type: "string" }];
  const { events, totalEvents } = await client.events.getEvents({ project, filters, limit: 50 });
  return { events, totalEvents };
}

const modelFilter = { field: "event_id", value: modelEvent.eventId, operator: "is", type: "id" };
const number = {
  field: "metadata.total_tokens",
  value: "6",
  operator: "greater than",
  type: "number",
};
const report = {
  complaints,
  sessionId: tracer.sessionId,
  traced: await eventsOf(tracer.sessionId),
  startedId: started.sessionId,
  session: await client.session.getSession(started.sessionId),
  posted,
  logged: await eventsOf(started.sessionId),
  batch,
  batched: await eventsOf(batch.sessionId),
  modelEvents: await client.events.getEvents({ project, filters: [modelFilter] }),
  modelBatch,
  manyTokens: await client.events.getEvents({ project, filters: [number] }),
};
console.log(JSON.stringify(report));
process.exit(0);
