// The client of clients/go: generated from the protos, compiled, and run as its page shows, over
// each protocol of connect-go, and against a service that refuses.

import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";
import {
  compileTimeoutMs,
  type Environment,
  installGo,
  projectFolder,
  sayMissing,
  skipTestsWhere,
} from "./environment.ts";
import { tryKeys } from "./keys.ts";
import { mustRun, programTimeoutMs, readReport } from "./program.ts";
import { checkPrinted, readmeCode } from "./readme.ts";
import { startStandIn } from "./repeating.ts";

const title = "the Go client";
/** Programs in the folder `go`. */
const testPrograms = ["broken", "calls", "keys", "outcomes"] as const;
const protocols = ["connect", "connect-json", "connect-gzip", "grpc", "grpc-web"] as const;

type Refusal = { readonly code: string; readonly message: string; readonly reason: string };
type Report = {
  readonly session: Record<string, unknown>;
  readonly created: { readonly event_ids: string[]; readonly errors: string[] };
  readonly page: { readonly totalEvents: number; readonly events: Record<string, unknown>[] };
  readonly second_and_later: string[];
  readonly stream_size: number;
  readonly stream_end: number;
  readonly no_type: Refusal;
  readonly absent: Refusal;
  readonly no_key: Refusal;
};

let environment: Environment;
let service: TestService;
let folder: string;

beforeAll(async () => {
  environment = await installGo();
  sayMissing(title, environment);
  if (environment.missing !== undefined) return;
  folder = await mkdtemp(join(tmpdir(), "waggle-client-"));
  await build();
  service = await startService();
}, 3 * compileTimeoutMs);
afterAll(async () => {
  await service?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
skipTestsWhere(() => environment.missing);

/** Generates the client in a copy, and compiles it with its page and the programs of the tests. */
async function build(): Promise<void> {
  for (const path of ["buf.yaml", "proto", "clients/go"]) {
    await cp(join(projectFolder, path), join(folder, path), { recursive: true });
  }
  const client = join(folder, "clients/go");
  for (const name of testPrograms) {
    await cp(join(import.meta.dirname, "go", name), join(client, name), { recursive: true });
  }
  await mkdir(join(client, "page"));
  await writeFile(join(client, "page/main.go"), await readmeCode("go", "go"));
  await symlink(join(projectFolder, "node_modules"), join(folder, "node_modules"));
  const timeoutMs = compileTimeoutMs;
  const generate = await readmeCode("go", "sh");
  await mustRun({ command: "sh", words: ["-ec", generate], cwd: folder, timeoutMs });
  await mustRun({
    command: "go",
    cwd: client,
    // Without the copy's path in it, compiled code is found again by the next run.
    words: [
      "build",
      "-trimpath",
      "-o",
      join(folder, "bin/"),
      ...[...testPrograms, "page"].map((name) => `./${name}`),
    ],
    timeoutMs,
  });
}

test(
  "does what its page shows",
  async () => {
    const printed = await mustRun({
      command: join(folder, "bin/page"),
      words: [],
      env: { WAGGLE_URL: service.url, WAGGLE_API_KEY: service.projectKey },
    });

    checkPrinted(printed);
  },
  programTimeoutMs,
);

test(
  "sends again what may be repeated, and nothing else",
  async () => {
    const standIn = await startStandIn();
    const report = await readReport<Record<string, string>>({
      command: join(folder, "bin/outcomes"),
      words: standIn.words,
    });
    await standIn.stop();

    standIn.check(report);
  },
  programTimeoutMs,
);

test(
  "takes a broken connection for no connection, however it broke, and sends calls again",
  async () => {
    const report = await readReport({ command: join(folder, "bin/broken"), words: [] });

    expect(report).toEqual({
      reset: "unavailable 2",
      half: "unavailable 2",
      "half-grpc": "unavailable 2",
      "half-stream": "unavailable 1",
      "reset-stream": "unavailable 1",
    });
  },
  programTimeoutMs,
);

test(
  "removes white space around a key, and sends nothing with one that no header can carry",
  async () => {
    const command = join(folder, "bin/keys");
    const { report, outcomes: calls } = await tryKeys((words) => readReport({ command, words }));

    expect(report).toEqual({
      calls,
      // The stand-in refuses every stream.
      streams: calls.map((outcome) => (outcome === "ok" ? "OVERLOADED" : outcome)),
      requests: 2 * calls.filter((outcome) => outcome === "ok").length,
    });
  },
  programTimeoutMs,
);

let reports: Record<(typeof protocols)[number], Report>;

describe.each(protocols)("over %s", (protocol) => {
  beforeAll(async () => {
    if (environment.missing !== undefined) return;
    reports ??= await readReport({
      command: join(folder, "bin/calls"),
      words: [service.url, service.projectKey],
    });
  }, programTimeoutMs);

  test("starts a session and reads its scopes", () => {
    const { session } = reports[protocol];

    expect(session).toMatchObject({
      project_id: service.projectId,
      session_name: "go",
      event_type: "session",
      source: protocol,
    });
  });

  test("creates a batch, hears which event was rejected, and exports the rest", () => {
    const { created, page } = reports[protocol];

    expect(created.event_ids).toHaveLength(2);
    expect(created.errors).toEqual([expect.stringMatching(/2.*event_type/)]);
    expect(page.totalEvents).toBe(3);
    expect(page.events).toContainEqual({
      event_id: created.event_ids[0],
      event_name: "step 0",
      start_time: 1_700_000_000_000,
      duration: 1.5,
      inputs: { index: 0, list: [1, "two", null, true] },
    });
  });

  test("follows pages from the one that is asked for by number", () => {
    const { page, second_and_later } = reports[protocol];

    expect(second_and_later).toEqual(page.events.slice(1).map((event) => event["event_id"]));
  });

  test("streams every event and then the end", () => {
    const { stream_size, stream_end } = reports[protocol];

    expect({ stream_size, stream_end }).toEqual({ stream_size: 3, stream_end: 3 });
  });

  test("reads why a call was refused", () => {
    expect(reports[protocol].no_type).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("event_type") as unknown,
      reason: "INVALID_ARGUMENT",
    });
  });

  test("cannot tell what is absent from what it may not see", () => {
    const { absent, no_key } = reports[protocol];

    expect(absent).toEqual({ code: "not_found", message: "Not found", reason: "NOT_FOUND" });
    expect(no_key).toEqual(absent);
  });
});
