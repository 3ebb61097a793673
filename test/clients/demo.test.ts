// `npm run demo` against a running service, as a newcomer runs it.

import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { is, readEvents } from "../support/read-back.ts";
import { startService } from "../support/service.ts";
import { compare, type Expected, type Node, type Session } from "../demo/compare.ts";
import { runProgram } from "./program.ts";

const demoPath = join(import.meta.dirname, "../demo/main.ts");

const service = givenStarted(startService);

async function runDemo(words: readonly string[], cwd?: string) {
  const { code, stdout, stderr } = await runProgram({
    command: process.execPath,
    words: [demoPath, ...words],
    ...(cwd !== undefined && { cwd }),
  });
  return { code, said: stripVTControlCharacters(stdout), complained: stderr };
}

describe("npm run demo", () => {
  test("prints both runs as trees and ends well", async () => {
    const { code, said, complained } = await runDemo([
      "--url",
      service.url,
      "--key",
      service.projectKey,
    ]);

    expect(complained).toBe("");
    expect(code).toBe(0);
    const trees = said.split("\n\n").filter((part) => part.includes("└─"));
    expect(trees).toHaveLength(2);
    for (const tree of trees) {
      expect(tree).toMatch(/└─ weather-agent +chain .* ms/);
      expect(tree).toMatch(/├─ execute_tool get_weather +tool /);
      expect(tree).toMatch(/├─ chat fail-429 +model .*✗ .*429/);
      expect(tree).toMatch(/└─ chat gpt-4o-mini +model .* \d+ tokens$/m);
    }
    expect(said).toContain("all 12 events are there as they were sent");
  });

  test("has the messages of its model's calls, which OpenTelemetry sends as logs", async () => {
    await runDemo(["--url", service.url, "--key", service.projectKey]);

    const access = { url: service.url, key: service.projectKey };
    const calls = await readEvents(access, [
      is("event_name", "chat gpt-4o-mini"),
      is("metadata.instrumentor", "@opentelemetry/instrumentation-openai"),
    ]);
    const histories = calls.map(({ inputs }) => inputs["chat_history"]);
    const answered = calls.filter(({ outputs }) => typeof outputs["content"] === "string");

    expect(JSON.stringify(histories[0])).toContain("How is the weather in Paris?");
    expect(histories.every((history) => Array.isArray(history))).toBe(true);
    expect(answered.length).toBeGreaterThan(0);
  });

  test("takes url and key from ./data/credentials.json", async () => {
    const folder = await mkdtemp(join(tmpdir(), "waggle-demo-"));
    await mkdir(join(folder, "data"));
    const credentials = { url: service.url, project_api_key: service.projectKey };
    await writeFile(join(folder, "data/credentials.json"), JSON.stringify(credentials));

    const { code } = await runDemo([], folder);

    await rm(folder, { recursive: true });
    expect(code).toBe(0);
  });

  test("ends with a failure when its key is wrong", async () => {
    const { code, complained } = await runDemo(["--url", service.url, "--key", "hh_wrong"]);

    expect(code).toBe(1);
    expect(complained).toContain("✗ ");
  });

  test("says what to do when no service answers", async () => {
    const { code, complained } = await runDemo(["--url", "http://127.0.0.1:9", "--key", "hh_any"]);

    expect(code).toBe(1);
    expect(complained).toContain("start the service with npm start");
  });
});

describe("the demo's comparison", () => {
  const step: Node = {
    event_id: "step",
    event_name: "step",
    event_type: "tool",
    parent_id: "session",
    error: null,
    start_time: 1_000,
    children: [],
  };
  const session: Session = {
    ...step,
    event_id: "session",
    session_id: "session",
    event_type: "session",
    children: [step],
    totals: { num_events: 1, num_errors: 0, total_tokens: 5 },
  };
  const want: Expected = {
    id: "step",
    name: "step",
    parentId: "session",
    startMs: 1_000.9,
    isFailed: false,
  };
  const rows: readonly {
    readonly name: string;
    readonly sent: Expected;
    readonly fault: RegExp;
  }[] = [
    { name: "an event that is not there", sent: { ...want, id: "other" }, fault: /not there/ },
    { name: "another name", sent: { ...want, name: "leap" }, fault: /named step/ },
    { name: "another parent", sent: { ...want, parentId: "other" }, fault: /hangs under step/ },
    { name: "another time", sent: { ...want, startMs: 999 }, fault: /starts at 1000/ },
    { name: "a lost error", sent: { ...want, isFailed: true }, fault: /no error/ },
  ];
  const idOf = ({ event_id }: Node) => event_id;

  test("finds nothing wrong with what is there as it was sent", () => {
    expect(compare(session, [want], 5, idOf)).toEqual([]);
  });

  test.each(rows)("tells of $name", ({ sent, fault }) => {
    expect(compare(session, [sent], 5, idOf)).toEqual([expect.stringMatching(fault)]);
  });

  test("tells of events and tokens that are too many or too few", () => {
    expect(compare(session, [], 6, idOf)).toHaveLength(2);
  });
});
