// npm honeyhive 1.0.42 as its users write it: its events are readable through its own client, which
// validates every answer. Source: the published client; docs/decisions.md, 3 and 11.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import { givenReport, installNode, nodeReport } from "./environment.ts";

const title = "npm honeyhive 1.0.42";

/** An event as that client hands it out. */
type ClientEvent = {
  readonly eventId: string;
  readonly eventName: string;
  readonly startTime: number;
} & Readonly<Record<string, unknown>>;
type Page = { readonly events: readonly ClientEvent[]; readonly totalEvents: number };
type Report = {
  readonly complaints: readonly string[];
  readonly sessionId: string;
  readonly traced: Page;
  readonly startedId: string;
  readonly session: ClientEvent;
  readonly posted: { readonly eventId: string; readonly success: boolean };
  readonly logged: Page;
  readonly batch: { readonly eventIds: string[]; readonly sessionId: string };
  readonly batched: Page;
  readonly modelEvents: Page;
  readonly modelBatch: { readonly eventIds: string[]; readonly success: boolean };
  readonly manyTokens: Page;
};

const service = givenStarted(startService);
const report = givenReport(title, installNode, (environment) =>
  nodeReport<Report>(environment, "honeyhive-client.mjs", [
    service.url,
    service.projectKey,
    service.projectName,
  ]),
);

function eventIn({ events }: Page, name: string): ClientEvent {
  const event = events.find(({ eventName }) => eventName === name);
  if (event) return event;
  const names = events.map(({ eventName }) => eventName);
  throw new Error(`no event ${name} among ${names.join(", ")}`);
}

describe(title, () => {
  test("says nothing is wrong", () => {
    expect(report.complaints).toEqual([]);
  });

  test("starts its session here and not on its own", () => {
    expect(eventIn(report.traced, "trip")).toMatchObject({
      eventId: report.sessionId,
      sessionId: report.sessionId,
      eventType: "session",
      source: "honeyhive-npm",
      inputs: { question: "Where to?" },
    });
  });

  test("brings wrapped functions in as a tree", () => {
    const plan = eventIn(report.traced, "plan");

    expect(plan).toMatchObject({
      eventType: "chain",
      config: { temperature: 0.2 },
      feedback: { rating: 5 },
      outputs: { result: { city: "Paris", celsius: 18 } },
    });
    expect(eventIn(report.traced, "get_weather")).toMatchObject({
      eventType: "tool",
      parentId: plan.eventId,
      outputs: { result: { city: "Paris", celsius: 18 } },
      metrics: { score: 0.5 },
      metadata: { cached: false },
    });
  });

  test("marks a function that threw as an error", () => {
    expect(eventIn(report.traced, "broken")["error"]).toContain("no weather today");
  });

  test("enriches its session more than once", () => {
    expect(eventIn(report.traced, "trip")).toMatchObject({
      metadata: { first: 1, second: 2 },
      metrics: { quality: 0.9 },
      outputs: { answer: "Paris" },
      feedback: { ground_truth: "Lyon" },
      userProperties: { user: "ada" },
    });
  });

  test("creates and updates an event and reads its session", () => {
    expect(report.session).toMatchObject({
      eventId: report.startedId,
      eventName: "by client",
      eventType: "session",
    });
    expect(eventIn(report.logged, "answer")).toMatchObject({
      eventId: report.posted.eventId,
      sessionId: report.startedId,
      startTime: 1_760_000_000_000,
      endTime: 1_760_000_000_250,
      duration: 250.5,
      feedback: { rating: 1 },
      outputs: { role: "assistant", content: "hello!" },
    });
    expect(eventIn(report.logged, "failed")).toMatchObject({ error: "too slow" });
    expect(report.logged.totalEvents).toBe(3);
  });

  test("creates a batch as one session", () => {
    expect(report.batch.eventIds).toHaveLength(2);
    expect(report.batched.events.map(({ eventName }) => eventName).toSorted()).toEqual([
      "batched",
      "one",
      "two",
    ]);
  });

  test("logs a model call by its own fields", () => {
    const [event] = report.modelEvents.events;

    expect(event).toMatchObject({
      eventType: "model",
      config: { model: "gpt-4o", provider: "openai" },
      inputs: { chat_history: [{ role: "user", content: "hi" }] },
      outputs: { role: "assistant", content: "hello" },
      duration: 42,
      metadata: { total_tokens: 7, cost: 0.01 },
    });
    expect(report.modelBatch).toMatchObject({ success: true });
    expect(report.modelBatch.eventIds).toHaveLength(2);
  });

  test("filters by a number that it sends as text", () => {
    expect(report.manyTokens.totalEvents).toBe(3);
  });
});
