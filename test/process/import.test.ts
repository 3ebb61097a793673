// `waggle import` as a process, against a running service: stored events, the report, and a second
// run, which changes nothing.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Report } from "../../src/commands/import/report.ts";
import { givenAKey } from "../support/keys.ts";
import { run } from "../support/process.ts";
import { givenAProject } from "../support/project.ts";
import { callRest, type ReadAccess, type ReadEvent, readEvents } from "../support/read-back.ts";
import { startService, type TestService } from "../support/service.ts";

const timeoutMs = 300_000;
const fixtures = new URL("../fixtures/import/", import.meta.url).pathname;

let service: TestService;
let access: ReadAccess;
let folder: string;
let keyFile: string;

beforeAll(async () => {
  service = await startService();
}, timeoutMs);
afterAll(() => service.stop());

beforeEach(async () => {
  const project = await givenAProject(service.database, "moving in");
  const { secret } = await givenAKey(service.database, project, { kind: "project" });
  access = { url: service.url, key: secret };
  folder = await mkdtemp(join(tmpdir(), "waggle-import-"));
  const made = folder;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  keyFile = join(folder, "key");
  await writeFile(keyFile, `${secret}\n`);
});

type Imported = { readonly code: number | null; readonly output: string; readonly report: Report };

async function importFile(format: string, ...words: readonly string[]): Promise<Imported> {
  const path = join(folder, "report.json");
  const flags = ["--format", format, "--url", service.url, "--key-file", keyFile];
  const ended = await run("import", ...flags, "--report", path, ...words).ended();
  const text = await readFile(path, "utf8").catch(() => {
    throw new Error(ended.output);
  });
  return { ...ended, report: JSON.parse(text) as Report };
}

/** Returns all that a reader sees of the project: events, and the totals of its sessions. */
async function readAll(): Promise<{ events: readonly ReadEvent[]; sessions: unknown }> {
  const events = await readEvents(access, []);
  const ids = new Set(events.map((event) => event.session_id));
  const sessions: unknown[] = [];
  for (const id of ids) sessions.push(await callRest(access, "GET", `/v1/sessions/${id}`));
  return { events, sessions };
}

describe("waggle import", { timeout: timeoutMs }, () => {
  test.each([
    { format: "langfuse", file: "langfuse-api.jsonl", records: 6, events: 4 },
    { format: "langfuse", file: "langfuse-blob.jsonl", records: 3, events: 3 },
    { format: "langsmith", file: "langsmith.jsonl", records: 3, events: 4 },
    { format: "phoenix", file: "phoenix.jsonl", records: 3, events: 4 },
    { format: "otlp", file: "otlp.jsonl", records: 3, events: 4 },
  ])("stores $file once, however often it runs", async ({ format, file, records, events }) => {
    const first = await importFile(format, join(fixtures, file));
    const stored = await readAll();
    const second = await importFile(format, join(fixtures, file));
    const again = await readAll();

    expect(first.report.rejections).toEqual([]);
    expect(first.code).toBe(0);
    expect(first.report.records).toEqual({
      read: records,
      stored: records,
      already_stored: 0,
      rejected: 0,
    });
    expect(second.report.records).toEqual({
      read: records,
      stored: 0,
      already_stored: records,
      rejected: 0,
    });
    expect(stored.events).toHaveLength(events);
    expect(again).toEqual(stored);
  });

  test("gives scores, parents and totals their places", async () => {
    await importFile("langfuse", join(fixtures, "langfuse-api.jsonl"));

    const { events, sessions } = await readAll();
    const byName = new Map(events.map((event) => [event.event_name, event]));
    expect(byName.get("llm")?.parent_id).toBe(byName.get("answer")?.event_id);
    expect(byName.get("llm")?.metrics).toEqual({ tone: "friendly" });
    expect(byName.get("support-chat")?.metrics).toMatchObject({ helpful: true });
    expect(JSON.stringify(sessions)).toContain('"total_tokens":132');
  });

  test("reads Phoenix spans as OpenInference spans, in the session of their trace", async () => {
    await importFile("phoenix", join(fixtures, "phoenix.jsonl"));

    const { events } = await readAll();
    const model = events.find((event) => event.event_type === "model");
    expect(model).toMatchObject({
      session_id: "5bf92f35-77b3-4da6-a3ce-929d0e0e4701",
      config: { model: "gpt-4o", hyperparameters: { temperature: 0.1 } },
      inputs: { chat_history: [{ role: "user", content: "What is Waggle?" }] },
      outputs: { role: "assistant", content: "A dance." },
      metadata: { prompt_tokens: 30, total_tokens: 33, cost: 0.0001, "phoenix.id": "U3BhbjoxMg==" },
    });
    const retrieval = events.find((event) => event.event_name === "retrieve");
    expect(retrieval).toMatchObject({ event_type: "tool", error: "index missing" });
  });

  test("goes on past bad records, and names their lines and reasons", async () => {
    const text = await readFile(join(fixtures, "langsmith.jsonl"), "utf8");
    const [first = "", ...others] = text.trim().split("\n");
    const bad = JSON.stringify({ ...(JSON.parse(first) as object), id: "late", end_time: 9e15 });
    const lines = [first, "{not json", "", '{"id":"x"}', bad, ...others];
    const path = join(folder, "runs.jsonl.gz");
    await writeFile(path, gzipSync(lines.join("\n")));

    const { code, output, report } = await importFile("langsmith", path);

    expect(code).toBe(1);
    expect(report.records).toEqual({ read: 6, stored: 3, already_stored: 0, rejected: 3 });
    expect(report.rejections.map(({ line, reason }) => [line, reason])).toEqual([
      [2, "is not JSON"],
      [4, "start_time is required"],
      [5, expect.stringContaining("end_time")],
    ]);
    expect(output).toContain(`rejected: ${path}:2: is not JSON`);
  });

  test("reads a list over many lines, and sends nothing in a dry run", async () => {
    const text = await readFile(join(fixtures, "langfuse-api.jsonl"), "utf8");
    const records = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    const path = join(folder, "traces.json");
    await writeFile(path, JSON.stringify(records, null, 2));

    const { code, report } = await importFile("langfuse", path, "--dry-run");

    expect(code).toBe(0);
    expect(report.records).toEqual({ read: 6, stored: 0, already_stored: 0, rejected: 0 });
    expect(report.fields_kept_raw).toMatchObject({ htmlPath: 1 });
    expect(await readEvents(access, [])).toEqual([]);
  });

  test("counts the spans that a request of a collector has too many", async () => {
    const good = (await readFile(join(fixtures, "otlp.jsonl"), "utf8")).trim();
    const bad = good.split("\n")[0]?.replaceAll("10f067aa0ba902b2", "0000000000000000") ?? "";
    const path = join(folder, "spans.jsonl");
    await writeFile(path, `${bad}\n{"resourceLogs":[]}\n`);

    const { code, report } = await importFile("otlp", path);

    expect(code).toBe(1);
    expect(report.records).toEqual({ read: 3, stored: 1, already_stored: 0, rejected: 2 });
    expect(report.rejections.map(({ line }) => line).toSorted()).toEqual([1, 2]);
  });

  test("stops with a hint where the key is wrong", async () => {
    await writeFile(keyFile, "nothing");
    const { code, output } = await importFile("otlp", join(fixtures, "otlp.jsonl"));

    expect(code).toBe(1);
    expect(output).toContain("the service answers");
  });
});
