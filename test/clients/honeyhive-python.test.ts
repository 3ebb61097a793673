// PyPI honeyhive 1.7.0 as its users write it: its events are readable by itself and by others.
// Source: the published client; docs/decisions.md, 6 and 11.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import type { ReadEvent } from "../support/read-back.ts";
import { startService } from "../support/service.ts";
import { givenReport, honeyhiveReport, installPython } from "./environment.ts";

const title = "PyPI honeyhive 1.7.0";

type Report = {
  readonly session_id: string;
  readonly flushed: boolean;
  readonly created_id: string;
  readonly posted_id: string;
  readonly started: Record<string, unknown>;
  readonly batch: { readonly event_ids: string[]; readonly session_id: string };
  readonly exported: readonly ReadEvent[];
  readonly exported_total: number;
  readonly listed: readonly ReadEvent[];
  readonly in_order: readonly string[];
  readonly logged: readonly string[];
};

const service = givenStarted(startService);
const report = givenReport(
  title,
  () => installPython("honeyhive.txt"),
  (environment) =>
    honeyhiveReport<Report>(environment, "honeyhive_client.py", [
      service.url,
      service.projectKey,
      service.ingestionKey,
    ]),
);

function exported(name: string): ReadEvent {
  const event = report.exported.find(({ event_name }) => event_name === name);
  if (!event) {
    const names = report.exported.map(({ event_name }) => event_name);
    throw new Error(`no event ${name} among ${names.join(", ")}`);
  }
  return event;
}

describe(title, () => {
  test("logs no warning and no error", () => {
    expect(report.logged).toEqual([]);
    expect(report.flushed).toBe(true);
  });

  test("starts its session here and not on its own", () => {
    const session = exported("trip");

    expect(session).toMatchObject({
      event_id: report.session_id,
      session_id: report.session_id,
      event_type: "session",
      source: "honeyhive-python",
      inputs: { question: "Where to?" },
    });
  });

  test("brings traced functions in as a tree", () => {
    const plan = exported("__main__.plan");

    expect(plan).toMatchObject({
      event_type: "chain",
      parent_id: report.session_id,
      inputs: { city: "Paris" },
      config: { temperature: 0.2 },
      feedback: { rating: 5 },
      user_properties: { plan: "pro" },
    });
    expect(exported("get_weather")).toMatchObject({
      event_type: "tool",
      parent_id: plan.event_id,
      outputs: { result: { city: "Paris", celsius: 18 } },
      metrics: { score: 0.5 },
      metadata: { cached: false },
    });
  });

  test("marks a function that raised as an error", () => {
    expect(exported("__main__.broken").error).toContain("no weather today");
  });

  test("enriches its session more than once", () => {
    expect(exported("trip")).toMatchObject({
      metadata: { first: 1, second: 2 },
      metrics: { quality: 0.9 },
      feedback: { ground_truth: "Lyon" },
      outputs: { answer: "Paris" },
      user_properties: { user: "ada" },
    });
  });

  test("creates an event in its session", () => {
    expect(exported("lookup")).toMatchObject({
      event_id: report.created_id,
      session_id: report.session_id,
      outputs: { value: 1 },
      duration: 12.5,
      metadata: { via: "create_event" },
    });
  });

  test("counts what it exports, and gets whole milliseconds", () => {
    expect(report.exported_total).toBe(report.exported.length);
    for (const { start_time } of report.exported) expect(start_time).toSatisfy(Number.isInteger);
  });

  test("starts, creates, updates and lists by its client", () => {
    expect(report.started).toMatchObject({
      project_id: service.projectId,
      event_id: report.started["session_id"],
      org_id: expect.any(String) as unknown,
      workspace_id: expect.any(String) as unknown,
    });
    const answer = report.listed.find(({ event_name }) => event_name === "answer");
    expect(answer).toMatchObject({
      event_id: report.posted_id,
      session_id: report.started["session_id"],
      duration: 250,
      feedback: { rating: 1 },
      outputs: { role: "assistant", content: "hello!" },
    });
  });

  test("creates a batch as one session and reads it in order of time", () => {
    expect(report.batch.event_ids).toHaveLength(2);
    expect(report.in_order.toSorted()).toEqual(["batched", "one", "two"]);
  });
});
