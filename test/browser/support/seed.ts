// Demo data for the web app: conversations of agents with models and tools, some with errors,
// spread over a day. `node test/browser/support/seed.ts --url URL --key PROJECT_KEY` fills a
// running service with it.

import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

export type SeedOptions = {
  readonly url: string;
  readonly key: string;
  readonly sessions?: number;
  /** Latest start, Unix milliseconds. */
  readonly nowMs?: number;
};

const names = ["support-agent", "invoice-extractor", "docs-search", "triage", "weekly-report"];
const models = ["gpt-5-mini", "claude-sonnet-5", "gemini-3-flash", "gpt-5"];
const tools = ["search_orders", "fetch_invoice", "lookup_customer", "send_email"];
const questions = [
  "Where is my order 4711? It should have come on Friday.",
  "Please extract the total and the due date of this invoice.",
  "How do I rotate an API key without downtime?",
  "Summarise the open tickets of this week for the team.",
];
const failures = ["rate limit reached for requests", "tool answered with status 503"];
const dayMs = 86_400_000;
const batchEvents = 500;

type SeedEvent = Record<string, unknown>;

/** Sends sessions with their events; resolves when the service has stored them. */
export async function seedSessions(options: SeedOptions): Promise<void> {
  const { url, key, sessions = 300, nowMs = Date.now() } = options;
  const events = Array.from({ length: sessions }, (_, index) =>
    sessionEvents(index, nowMs - Math.floor((index / sessions) * dayMs * 0.98) - 20_000),
  ).flat();
  for (let at = 0; at < events.length; at += batchEvents) {
    const response = await fetch(`${url}/events/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ events: events.slice(at, at + batchEvents) }),
    });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  }
}

function sessionEvents(index: number, startMs: number): readonly SeedEvent[] {
  const sessionId = crypto.randomUUID();
  const name = pick(names, index);
  const question = pick(questions, index);
  const isFailing = index % 9 === 4;
  const common = { session_id: sessionId, source: index % 3 === 0 ? "staging" : "production" };
  const steps = 1 + (index % 4);
  const events: SeedEvent[] = [];
  let atMs = startMs;
  for (let step = 0; step < steps; step += 1) {
    const toolMs = randomInt(20, 600);
    events.push({
      ...common,
      event_type: "tool",
      event_name: pick(tools, index + step),
      inputs: { query: question, limit: 5 },
      outputs: { rows: [{ id: 4711 + index, state: "shipped" }] },
      start_time: atMs,
      end_time: atMs + toolMs,
    });
    atMs += toolMs;
    const modelMs = randomInt(300, 4_000);
    events.push(modelEvent({ ...common, question, index, step, atMs, modelMs, isFailing }));
    atMs += modelMs;
  }
  const session = {
    ...common,
    event_id: sessionId,
    event_type: "session",
    event_name: name,
    inputs: { question },
    outputs: { answer: "It left our warehouse this morning and arrives tomorrow." },
    user_properties: { plan: index % 2 === 0 ? "pro" : "free" },
    start_time: startMs,
    end_time: atMs,
  };
  return [session, ...events];
}

type ModelEvent = {
  readonly session_id: string;
  readonly source: string;
  readonly question: string;
  readonly index: number;
  readonly step: number;
  readonly atMs: number;
  readonly modelMs: number;
  readonly isFailing: boolean;
};

function modelEvent(options: ModelEvent): SeedEvent {
  const { question, index, step, atMs, modelMs, isFailing, session_id, source } = options;
  const [prompt, completion] = [randomInt(300, 4_000), randomInt(40, 900)];
  return {
    session_id,
    source,
    event_type: "model",
    event_name: "answer",
    config: { model: pick(models, index), provider: "openai", temperature: 0.2 },
    inputs: {
      chat_history: [
        { role: "system", content: "You help customers of a shop. Answer in one sentence." },
        { role: "user", content: question },
      ],
    },
    outputs: { role: "assistant", content: "It left our warehouse this morning." },
    ...(isFailing && step === 0 && { error: pick(failures, index) }),
    metadata: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      ...(index % 5 !== 3 && { cost: (prompt * 0.25 + completion * 2) / 1_000_000 }),
    },
    metrics: { helpfulness: (index % 5) / 4 },
    start_time: atMs,
    end_time: atMs + modelMs,
  };
}

function pick<T>(list: readonly [T, ...T[]] | readonly T[], index: number): T {
  return list[index % list.length] as T;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { url: { type: "string" }, key: { type: "string" }, sessions: { type: "string" } },
  });
  const { url, key, sessions } = values;
  if (url === undefined || key === undefined) throw new Error("give --url URL and --key KEY");
  await seedSessions({ url, key, ...(sessions !== undefined && { sessions: Number(sessions) }) });
}
