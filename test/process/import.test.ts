// `waggle import` as a process, against a running service: stored events, the report, and a second
// run, which changes nothing.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Report } from "../../src/commands/import/report.ts";
import { givenStarted } from "../support/given.ts";
import { givenAKey } from "../support/keys.ts";
import { givenNoWaggle } from "../support/no-waggle.ts";
import { patience } from "../support/patience.ts";
import { run, runWithInput } from "../support/process.ts";
import { givenAProject } from "../support/project.ts";
import { callRest, type ReadAccess, type ReadEvent, readEvents } from "../support/read-back.ts";
import { aFreePort } from "../support/socket.ts";
import { startService } from "../support/service.ts";

const timeoutMs = 300_000;
const fixtures = new URL("../fixtures/import/", import.meta.url).pathname;

const service = givenStarted(startService);
let access: ReadAccess;
let folder: string;
let keyFile: string;

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

/** Creates a project to export from, with the flags of commands that read it. */
async function givenAnotherProject() {
  const project = await givenAProject(service.database, "moving out");
  const { secret } = await givenAKey(service.database, project, { kind: "project" });
  const file = join(folder, "key-of-other");
  await writeFile(file, secret);
  return {
    access: { url: service.url, key: secret },
    flags: ["--url", service.url, "--key-file", file],
  };
}

const startMs = Date.UTC(2026, 4, 1);
const common = { session_id: "visit-1", source: "shop", inputs: {}, start_time: startMs };

/** A session with steps that together have every field. */
const richEvents = [
  {
    ...common,
    event_id: "visit-1",
    event_type: "session",
    event_name: "a visit",
    end_time: startMs + 90,
    outputs: { said: "grüße 🐝" },
    metadata: { channel: "web" },
    user_properties: { user_id: "u1" },
  },
  {
    ...common,
    event_id: "step",
    event_type: "chain",
    event_name: "answer",
    children_ids: ["listed"],
    end_time: startMs + 80,
    error: "timed out",
  },
  {
    ...common,
    event_id: "model",
    event_type: "model",
    event_name: "ask",
    parent_id: "step",
    start_time: startMs + 10.25,
    end_time: startMs + 30.75,
    config: { model: "gpt-4o", provider: "openai", hyperparameters: { temperature: 0.2 } },
    inputs: { chat_history: [{ role: "user", content: "Where is it?\n\u0007" }] },
    outputs: { role: "assistant", content: "Here.", none: null },
    metadata: { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23, cost: 0.0004 },
    metrics: { kind: true, kind_explanation: "a smile" },
    feedback: { ground_truth: "There.", rating: 5 },
  },
  {
    ...common,
    event_id: "listed",
    event_type: "tool",
    event_name: "look up",
    start_time: startMs + 40,
    duration: 12.5,
    inputs: { deep: [{ a: [1, 2.5, null] }] },
  },
] as const;

type Imported = { readonly code: number | null; readonly output: string; readonly report: Report };

function importFile(format: string, ...words: readonly string[]): Promise<Imported> {
  return importInput(Readable.from([]), format, ...words);
}

async function importInput(
  input: Readable,
  format: string,
  ...words: readonly string[]
): Promise<Imported> {
  const path = join(folder, "report.json");
  const flags = ["--format", format, "--url", service.url, "--key-file", keyFile];
  const ended = await runWithInput(input, "import", ...flags, "--report", path, ...words).ended();
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
    const great = first.replace("{", '{"great":1e400,');
    const lines = [first, "{not json", "", '{"id":"x"}', bad, great, ...others];
    const path = join(folder, "runs.jsonl.gz");
    await writeFile(path, gzipSync(lines.join("\n")));

    const { code, output, report } = await importFile("langsmith", path);

    expect(code).toBe(1);
    expect(report.records).toEqual({ read: 7, stored: 3, already_stored: 0, rejected: 4 });
    expect(report.rejections.map(({ line, reason }) => [line, reason])).toEqual([
      [2, "is not JSON"],
      [4, "start_time is required"],
      [5, expect.stringContaining("end_time")],
      [6, "has a number beyond 1.8e308, or too many levels"],
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

  test.each([
    { name: "lines", pack: (lines: string[]) => Buffer.from(lines.join("\n")) },
    { name: "gzipped lines", pack: (lines: string[]) => gzipSync(lines.join("\n")) },
    { name: "a document", pack: (lines: string[]) => Buffer.from(`[\n${lines.join(",\n")}\n]`) },
    { name: "DuckDB's list", pack: (lines: string[]) => Buffer.from(`[${lines.join(",\n")}]\n`) },
    {
      name: "lines after a byte order mark",
      pack: (lines: string[]) => Buffer.from(`\ufeff${lines.join("\n")}`),
    },
    { name: "a gzipped document", pack: (lines: string[]) => gzipSync(`[\n${lines.join(",\n")}]`) },
  ])("reads $name from standard input, beside a file", async ({ pack }) => {
    const text = await readFile(join(fixtures, "langsmith.jsonl"), "utf8");
    const [first = "", ...others] = text.trim().split("\n");
    const path = join(folder, "first.jsonl");
    await writeFile(path, first);
    const bytes = pack([...others, "5"]);
    const input = Readable.from([bytes.subarray(0, 1), bytes.subarray(1)]);

    const { code, report } = await importInput(input, "langsmith", path, "-");

    expect(code).toBe(1);
    expect(report.records).toEqual({ read: 4, stored: 3, already_stored: 0, rejected: 1 });
    expect(report.files).toEqual([path, "-"]);
    expect(report.rejections).toEqual([{ file: "-", line: 3, reason: "is not a JSON object" }]);
  });

  test("names a format that it does not know, and those that it does", async () => {
    const { code, output } = await run("import", "--format", "nope", "file.jsonl").ended();

    expect(code).toBe(1);
    expect(output).toContain('no format "nope"; there are langfuse, langsmith, otlp, phoenix');
  });

  test("refuses standard input given twice", async () => {
    const { code, output } = await run("import", "--format", "otlp", "-", "-").ended();

    expect(code).toBe(1);
    expect(output).toContain("- is standard input, which can be read only once");
  });

  test("stops when interrupted, although standard input goes on", async () => {
    const input = new PassThrough();
    input.write(await readFile(join(fixtures, "langsmith.jsonl")));
    const words = ["import", "--format", "langsmith", "--dry-run", "-"];
    const importing = runWithInput(input, ...words);
    await vi.waitFor(() => {
      expect(importing.output()).toContain("3 read");
    }, patience);

    importing.kill("SIGINT");
    const { code, output } = await importing.ended();

    expect(code).toBe(1);
    expect(output).toContain("stopped by SIGINT before it was done");
  });

  test("says that a gzipped file is cut", async () => {
    const path = join(folder, "cut.jsonl.gz");
    const whole = gzipSync(await readFile(join(fixtures, "langsmith.jsonl")));
    await writeFile(path, whole.subarray(0, -9));

    const { code, output } = await importFile("langsmith", path);

    expect(code).toBe(1);
    expect(output).toContain(`cannot read ${path}: unexpected end of file; what was stored before`);
  });

  test("ends at an empty file, which an export that failed leaves", async () => {
    const { code, output, report } = await importFile("langsmith", "-");

    expect(code).toBe(1);
    expect(output).toContain("cannot read -: it is empty\n");
    expect(report.records.read).toBe(0);
  });

  test("says why it waits where the service is away", async () => {
    const url = `http://127.0.0.1:${await aFreePort()}`;
    const file = join(fixtures, "langsmith.jsonl");

    const flags = ["--format", "langsmith", "--url", url, "--key-file", keyFile];
    const importing = run("import", ...flags, file);
    await vi.waitFor(() => {
      expect(importing.output()).toMatch(/^connect ECONNREFUSED .*; the next try is in 0\.5 s…/m);
    }, patience);
    importing.kill("SIGINT");
    await importing.ended();
  });

  test.each([
    { status: 502, said: "502 Bad Gateway" },
    { status: 429, said: "429 Too Many Requests" },
  ])("waits where a balancer answers with a page and $status", async ({ status, said }) => {
    const url = await givenNoWaggle({ status, headers: { "content-type": "text/html" } });
    const file = join(fixtures, "langsmith.jsonl");

    const flags = ["--format", "langsmith", "--url", url, "--key-file", keyFile];
    const importing = run("import", ...flags, file);
    await vi.waitFor(() => {
      expect(importing.output()).toContain(`${said}; the next try is in 0.5 s…`);
    }, patience);
    importing.kill("SIGINT");
    await importing.ended();
  });

  test.each([
    { name: "a page", answer: { status: 200, headers: { "content-type": "text/html" } } },
    { name: "another address", answer: { status: 302, headers: { location: "https://a.b/c?d" } } },
  ])("counts nothing as stored where the address answers with $name", async ({ answer }) => {
    const url = await givenNoWaggle(answer);

    const flags = ["--format", "langsmith", "--url", url, "--key-file", keyFile];
    const ended = await run("import", ...flags, join(fixtures, "langsmith.jsonl")).ended();

    expect(ended.code).toBe(1);
    expect(ended.output).toMatch(/stored +0\n/);
    expect(ended.output).toMatch(
      /answers with text\/html, as no Waggle does|sends calls on to https:\/\/a\.b: give/,
    );
  });

  test("refuses a report that cannot be written before it stores anything", async () => {
    const flags = ["--format", "langsmith", "--url", service.url, "--key-file", keyFile];
    const path = join(folder, "absent", "report.json");
    const file = join(fixtures, "langsmith.jsonl");

    const { code, output } = await run("import", ...flags, "--report", path, file).ended();

    const full = await run("import", ...flags, "--report", "/dev/full", file).ended();

    expect([code, full.code]).toEqual([1, 1]);
    expect(output).toMatch(/^waggle: cannot write --report: ENOENT: .*\n$/);
    expect(full.output).toMatch(/^waggle: cannot write --report: ENOSPC: .*\n$/);
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

  test("moves an export of events to another project, with ids, times and all fields", async () => {
    const from = await givenAnotherProject();
    await callRest(from.access, "POST", "/events/batch", { events: richEvents });
    const exported = await run("events", "export", ...from.flags).ended();
    const path = join(folder, "events.jsonl");
    await writeFile(path, exported.output);

    const first = await importFile("waggle", path);
    const second = await importFile("waggle", path);

    expect(first.report.rejections).toEqual([]);
    expect([first.code, second.code]).toEqual([0, 0]);
    const read = richEvents.length;
    expect(first.report.records).toEqual({ read, stored: read, already_stored: 0, rejected: 0 });
    expect(second.report.records).toMatchObject({ stored: 0, already_stored: read });
    const [original, moved] = [await readEvents(from.access, []), await readEvents(access, [])];
    const without = { project_id: expect.any(String) as unknown };
    expect(moved).toEqual(original.map((event) => ({ ...event, ...without })));
    const session = "/v1/sessions/visit-1";
    const tree = await callRest<object>(access, "GET", session);
    expect(tree).toMatchObject({ children: [{ event_id: "step", children: [{}, {}] }] });
  });

  test.each([
    { id: "long", own: { event_name: "a long one", metadata: { plan: "free" } } },
    { id: "nameless", own: {} },
  ])("counts session $id as stored although its events came in an earlier batch", async (row) => {
    const { id, own } = row;
    const from = await givenAnotherProject();
    const steps = Array.from({ length: 300 }, (_, at) => ({
      event_type: "tool",
      event_name: "step",
      source: "test",
      inputs: { at },
      event_id: `${id}-${at}`,
      session_id: id,
      start_time: startMs + at,
    }));
    const session = {
      event_type: "session",
      source: "test",
      inputs: {},
      event_id: id,
      session_id: id,
      start_time: startMs,
      ...own,
    };
    await callRest(from.access, "POST", "/events/batch", { events: [session, ...steps] });
    const exported = await run("events", "export", ...from.flags).ended();
    const path = join(folder, `${id}.jsonl`);
    await writeFile(path, exported.output);

    const { report } = await importFile("waggle", path);

    expect(report.records).toEqual({ read: 301, stored: 301, already_stored: 0, rejected: 0 });
    const got = await callRest<object>(access, "GET", `/v1/sessions/${id}`);
    expect(got).toMatchObject(own);
  });

  test("names the lines of an export of events that it refuses, and why", async () => {
    const [whole] = richEvents.slice(1);
    const lines = [
      { event_id: "a", event_name: "only names" },
      { ...whole, event_id: "b", colour: "red" },
      { ...whole, event_id: "c", event_type: "dream" },
      { ...whole, event_id: "d" },
      { done: true, count: 4 },
    ];
    const path = join(folder, "some.jsonl");
    await writeFile(path, lines.map((line) => JSON.stringify(line)).join("\n"));

    const { code, report } = await importFile("waggle", path);

    expect(code).toBe(1);
    expect(report.records).toEqual({ read: 4, stored: 1, already_stored: 0, rejected: 3 });
    const reasons = new Map(report.rejections.map(({ line, reason }) => [line, reason]));
    expect(reasons.get(1)).toBe(
      "lacks session_id, event_type, source, start_time, inputs; " +
        "whole events are exported without --fields",
    );
    expect(reasons.get(2)).toBe("has a field that events lack: colour");
    expect(reasons.get(3)).toContain("event_type: must be one of");
  });

  test.each([
    { name: "without its end", end: [] },
    { name: "whose end counts more", end: [{ done: true, count: 3 }] },
  ])("rejects an export of events $name, and stores what is there", async ({ name, end }) => {
    const [whole] = richEvents.slice(1);
    const lines = [{ ...whole, event_id: `cut ${name}` }, ...end];
    const path = join(folder, "cut.jsonl");
    await writeFile(path, lines.map((line) => JSON.stringify(line)).join("\n"));

    const { code, output, report } = await importFile("waggle", path);

    expect(code).toBe(1);
    expect(report.records).toEqual({ read: 1, stored: 1, already_stored: 0, rejected: 1 });
    expect(output).toContain("the export is not whole: its last line must be");
  });

  test("stops with a hint where the key is wrong", async () => {
    await writeFile(keyFile, "nothing");
    const { code, output } = await importFile("otlp", join(fixtures, "otlp.jsonl"));

    expect(code).toBe(1);
    expect(output).toMatch(
      /the service answers \S+ with 404: .*WAGGLE_API_KEY is wrong, .*project key/,
    );
  });
});
