// `waggle mcp` with the official client of the Model Context Protocol: an agent finds an error,
// reads its session, asks why it was scored, and compares two runs.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { KeyKind } from "../../src/access/principal.ts";
import { givenStarted } from "../support/given.ts";
import { composeEvaluation, runOnEvent } from "../support/evaluation.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";
import { addKey } from "../support/tenants.ts";

const mainPath = new URL("../../src/main.ts", import.meta.url).pathname;
const service = givenStarted(startService);
let project: MetricProject;

beforeAll(async () => {
  project = await givenAMetricProject(service);
});

/** Commits a score of an event, as a worker would. */
async function commitScore(metricId: string, eventId: string): Promise<void> {
  const evaluation = composeEvaluation(service.database);
  onTestFinished(() => evaluation.stop());
  const result = { kind: "score", score: true, explanation: "two words", output: "" } as const;
  await runOnEvent(evaluation, project.projectId, { metricId, eventId, result });
}

async function connect(key: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [mainPath, "mcp", "--url", service.url],
    env: { WAGGLE_API_KEY: key, PATH: process.env["PATH"] ?? "" },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

async function keyOf(kind: KeyKind): Promise<string> {
  return (await addKey(service.database, project, { kind, root: "project" })).secret;
}

type Answer = { readonly isError: boolean; readonly json: Record<string, unknown> };

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Answer> {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [first] = content as readonly { readonly text?: string }[];
  const text = first?.text ?? "";
  return { isError, json: isError ? { text } : (JSON.parse(text) as Record<string, unknown>) };
}

describe("waggle mcp", () => {
  test("lists its tools, which only read", async () => {
    const client = await connect(project.key);

    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name)).toEqual([
      "list_fields",
      "search_events",
      "read_session",
      "read_events",
      "list_runs",
      "compare_runs",
      "list_metrics",
      "explain_score",
    ]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    // The marks of cuts name these, whichever tool answers.
    const reading = ["path", "text_from", "items_from"];
    for (const { name, inputSchema } of tools) {
      expect(Object.keys(inputSchema.properties ?? {}), name).toEqual(
        expect.arrayContaining(reading),
      );
    }
  });

  test("finds an error, reads its session and its payload", async () => {
    await project.ok("POST /events/batch", {
      events: [
        { event_id: "m-ok", error: null },
        { event_id: "m-bad", error: "the tool answered 503" },
      ].map((event) => ({
        ...event,
        event_type: "tool",
        event_name: "lookup",
        session_id: "visit",
        source: "test",
        inputs: { order: 4711 },
      })),
    });
    const client = await connect(await keyOf("project_read_only"));

    const filters = [{ field: "error", operator: "exists" }];
    const found = await call(client, "search_events", { filters, limit: 5 });
    const session = await call(client, "read_session", { session_id: "visit" });
    const read = await call(client, "read_events", { event_ids: ["m-bad"] });

    expect(found.json).toMatchObject({ count: 1, events: [{ event_id: "m-bad" }] });
    expect(JSON.stringify(session.json)).toContain("m-ok");
    expect(read.json["events"]).toMatchObject([{ inputs: { order: 4711 } }]);
  });

  test("explains a score", async () => {
    const metricId = await project.make({
      name: "short",
      type: "PYTHON",
      criteria: "result = len(str(event['outputs'])) < 100",
      return_type: "boolean",
    });
    await commitScore(metricId, "m-ok");
    const client = await connect(project.key);
    const explain = (eventId: string) =>
      call(client, "explain_score", { metric_id: metricId, event_id: eventId });

    const scored = await explain("m-ok");
    const other = await explain("m-bad");

    expect(scored.json["data"]).toMatchObject({
      outcome: "scored",
      result: true,
      explanation: "two words",
      failure: null,
    });
    expect(other.json["data"]).not.toMatchObject({ outcome: "scored" });
  });

  test("compares runs", async () => {
    const runs = [];
    for (const [name, scores] of [
      ["old", [1, 2, 3]],
      ["new", [2, 2, 1]],
    ] as const) {
      const { run_id: runId } = await project.ok("POST /v1/runs", { name });
      for (const [n, quality] of scores.entries()) {
        const fields = { event_type: "session", source: "test", inputs: {}, metrics: { quality } };
        const metadata = { run_id: runId, datapoint_id: `d${n}` };
        await project.ok("POST /events", { event: { ...fields, metadata } });
      }
      runs.push(String(runId));
    }
    const [oldRun, newRun] = runs;
    const client = await connect(project.key);

    const listed = await call(client, "list_runs", {});
    const compared = await call(client, "compare_runs", { new_run_id: newRun, old_run_id: oldRun });

    expect(JSON.stringify(listed.json)).toContain(newRun);
    const counts = { improved_count: 1, same_count: 1, degraded_count: 1 };
    expect(compared.json["metrics"]).toMatchObject([
      { metric_name: "quality", ...counts, improved: ["d0"], same: ["d1"], degraded: ["d2"] },
    ]);
  });

  test("cuts what is long, and reads on with the same call and what the mark names", async () => {
    const keys = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`key ${n}`, n]));
    const page = `${"x".repeat(249_997)}end`;
    await project.ok("POST /events/batch", {
      events: [
        { event_id: "m-long", inputs: { page, order: 4711 } },
        { event_id: "m-keys", inputs: keys },
      ].map((event) => ({ ...event, event_type: "tool", source: "test", session_id: "visit" })),
    });
    const client = await connect(project.key);
    const filters = [{ field: "event_id", operator: "is", value: "m-long" }];
    const calls = {
      read_events: { event_ids: ["m-long", "m-keys"], fields: ["inputs"] },
      search_events: { filters, fields: ["inputs"] },
    };

    for (const [name, asked] of Object.entries(calls)) {
      const first = JSON.stringify((await call(client, name, asked)).json);
      const mark = /characters; the same call with path (\[.*?\]) and text_from (\d+) reads on/;
      const [, found = "", from] = mark.exec(first) ?? [];
      const path = JSON.parse(found.replaceAll("\\", "")) as string[];
      const rest = await call(client, name, { ...asked, path, text_from: Number(from) });

      expect(path, name).toEqual(["events", "m-long", "inputs", "page"]);
      expect(rest.json["value"], name).toBe(page.slice(Number(from)));
    }
    const path = ["events", "m-keys", "inputs"];
    const read = (more: object) => call(client, "read_events", { ...calls.read_events, ...more });
    const last = await read({ path, items_from: 29_999 });
    const past = await read({ path, items_from: 30_000 });

    expect(Object.keys(last.json["value"] as object)).toHaveLength(1);
    expect(past.isError).toBe(true);
    expect(past.json["text"]).toBe(
      `items_from 30000 is past the end: at ${JSON.stringify(path)} ` +
        "is an object of 30000 keys, counted from 0",
    );
  });

  test("has the permissions of its key, and says what was refused", async () => {
    const client = await connect(await keyOf("ingestion"));

    const got = await call(client, "search_events", {});

    expect(got.isError).toBe(true);
    expect(got.json["text"]).toMatch(
      /POST \/v1\/events\/search: 404: Not found; the key of .*is wrong, /,
    );
  });
});
