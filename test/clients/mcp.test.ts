// `waggle mcp` with the official client of the Model Context Protocol: an agent finds an error,
// reads its session, asks why it was scored, and compares two runs.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { KeyKind } from "../../src/access/principal.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService, type TestService } from "../support/service.ts";
import { addKey } from "../support/tenants.ts";

const mainPath = new URL("../../src/main.ts", import.meta.url).pathname;
let service: TestService;
let project: MetricProject;

beforeAll(async () => {
  service = await startService();
  project = await givenAMetricProject(service);
});
afterAll(() => service.stop());

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
  });

  test("finds an error, reads its session and its payload", async () => {
    await project.ok("POST /events/batch", {
      events: [
        { event_id: "m-ok", error: null },
        { event_id: "m-bad", error: "the tool answered 503" },
      ].map((event) => ({
        ...event,
        ...{ event_type: "tool", event_name: "lookup", session_id: "visit", source: "test" },
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

  test("explains a score and compares runs", async () => {
    const metricId = await project.make({
      name: "short",
      type: "PYTHON",
      criteria: "result = len(str(event['outputs'])) < 100",
      return_type: "boolean",
      enabled_in_prod: false,
    });
    const runs = await Promise.all([
      project.ok("POST /v1/runs", { name: "old" }),
      project.ok("POST /v1/runs", { name: "new" }),
    ]);
    const [oldRun, newRun] = runs.map((run) => String(run["run_id"]));
    const client = await connect(project.key);

    const why = await call(client, "explain_score", {
      metric_id: metricId,
      event_id: "m-bad",
    });
    const listed = await call(client, "list_runs", {});
    const compared = await call(client, "compare_runs", { new_run_id: newRun, old_run_id: oldRun });

    expect(why.isError).toBe(false);
    expect(JSON.stringify(listed.json)).toContain(newRun);
    expect(compared.isError).toBe(false);
  });

  test("has the permissions of its key, and says what was refused", async () => {
    const client = await connect(await keyOf("ingestion"));

    const got = await call(client, "search_events", {});

    expect(got.isError).toBe(true);
    expect(got.json["text"]).toMatch(/POST \/v1\/events\/search: 40[134]/);
  });
});
