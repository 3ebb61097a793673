// Annotation queues as users of PyPI honeyhive 1.7.0 keep them; the client takes a 201 alone for a
// new queue, and refuses answers that are not as they were published. npm honeyhive 1.0.42 has no
// queues. Source: the published clients; docs/decisions.md, 45.1 and 45.5.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";
import { givenReport, honeyhiveReport, installPython } from "./environment.ts";

type Queue = Readonly<Record<string, unknown>>;
type Answer = { readonly queue: Queue; readonly message: string };
type Report = {
  readonly created: Answer;
  readonly least: Answer;
  readonly got: Queue;
  readonly updated: Answer;
  readonly listed: { readonly queues: readonly Queue[] };
  readonly enabled: { readonly queues: readonly Queue[] };
  readonly later: Queue;
  readonly deleted: Queue;
  readonly absent: number;
};

const service = givenStarted(startService);

async function send(route: string, body?: unknown): Promise<unknown> {
  const [method = "", path = ""] = route.split(" ");
  const response = await fetch(service.url + path, {
    method,
    headers: {
      authorization: `Bearer ${service.projectKey}`,
      "content-type": "application/json",
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return response.json();
}

describe("PyPI honeyhive 1.7.0", () => {
  const report = givenReport(
    "PyPI honeyhive 1.7.0",
    () => installPython("honeyhive.txt"),
    async (environment) => {
      const events = ["e1", "e2"].map((event_id) => ({
        event_id,
        event_type: "tool",
        source: "sdk",
        inputs: {},
      }));
      await send("POST /v1/events/batch", { events });
      return honeyhiveReport<Report>(environment, "honeyhive_queues.py", [
        service.url,
        service.projectKey,
      ]);
    },
  );

  test("creates a queue and reads it back", () => {
    const { created, got, later, updated } = report;

    expect(created.queue).toMatchObject({
      name: "answers",
      description: "of models",
      enabled: true,
      is_active: true,
      scope_type: "project",
      updated_at: null,
    });
    expect(got).toEqual(created.queue);
    expect(later).toMatchObject({ ...updated.queue, name: "renamed" });
  });

  test("creates one with a name alone", () => {
    expect(report.least.queue).toMatchObject({ name: "least", description: "", enabled: false });
  });

  test("lists all queues, and those that are enabled", () => {
    const namesOf = (queues: readonly Queue[]) => queues.map(({ name }) => name);

    expect(namesOf(report.listed.queues)).toEqual(["renamed", "least"]);
    expect(namesOf(report.enabled.queues)).toEqual(["renamed"]);
  });

  test("deletes one, which is gone then", () => {
    expect(report.deleted).toEqual({ message: "The queue is deleted" });
    expect(report.absent).toBe(404);
  });
});
