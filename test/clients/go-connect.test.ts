// A Go client generated from proto/ by protoc-gen-go and connect-go, over each of its protocols.

import { cp } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";
import { installGo, projectFolder, sayMissing, type Environment } from "./environment.ts";
import { mustRun, programTimeoutMs, readReport } from "./program.ts";

const title = "a client that connect-go generated";
const protocols = ["connect", "connect-json", "connect-gzip", "grpc", "grpc-web"] as const;

type Refusal = { readonly code: string; readonly message: string; readonly reasons: string[] };
type Report = {
  readonly session: Record<string, unknown>;
  readonly created: { readonly event_ids: string[]; readonly errors: string[] };
  readonly page: { readonly totalEvents: number; readonly events: Record<string, unknown>[] };
  readonly stream_size: number;
  readonly stream_end: number;
  readonly no_type: Refusal;
  readonly absent: Refusal;
  readonly no_key: Refusal;
};

let environment: Environment;
let service: TestService;
let reports: Record<(typeof protocols)[number], Report>;

beforeAll(async () => {
  environment = await installGo();
  sayMissing(title, environment);
  if (environment.missing !== undefined) return;
  const client = await build(environment.folder);
  service = await startService();
  reports = await readReport({ command: client, words: [service.url, service.projectKey] });
}, programTimeoutMs);
afterAll(() => service?.stop());
beforeEach(({ skip }) => {
  if (environment.missing !== undefined) skip(environment.missing);
});

/** Generates the client beside its program, compiles both, and returns the executable. */
async function build(folder: string): Promise<string> {
  const source = join(import.meta.dirname, "go");
  await cp(join(source, "main.go"), join(folder, "main.go"));
  const paths = ["proto/waggle", "proto/third_party/buf"].flatMap((path) => [
    "--path",
    join(projectFolder, path),
  ]);
  await mustRun({
    command: join(projectFolder, "node_modules/.bin/buf"),
    words: [
      "generate",
      projectFolder,
      "--template",
      join(source, "buf.gen.yaml"),
      "--output",
      folder,
      ...paths,
    ],
    env: { PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter) },
  });
  await mustRun({ command: "go", words: ["build", "-o", "bin/client", "."], cwd: folder });
  return join(folder, "bin/client");
}

describe.each(protocols)(`${title}, over %s`, (protocol) => {
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

  test("streams every event and then the end", () => {
    const { stream_size, stream_end } = reports[protocol];

    expect({ stream_size, stream_end }).toEqual({ stream_size: 3, stream_end: 3 });
  });

  test("reads why a call was refused from google.rpc.ErrorInfo", () => {
    expect(reports[protocol].no_type).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("event_type") as unknown,
      reasons: ["INVALID_ARGUMENT"],
    });
  });

  test("cannot tell what is absent from what it may not see", () => {
    const { absent, no_key } = reports[protocol];

    expect(absent).toEqual({ code: "not_found", message: "Not found", reasons: ["NOT_FOUND"] });
    expect(no_key).toEqual(absent);
  });
});
