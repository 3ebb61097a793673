// A Python client generated from proto/ by grpcio-tools, as a team would make one.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";
import {
  installPython,
  projectFolder,
  pythonOf,
  sayMissing,
  type Environment,
} from "./environment.ts";
import { inScratchFolder, mustRun, programTimeoutMs, readReport } from "./program.ts";

const title = "a client that grpcio-tools generated";

type Refusal = { readonly code: string; readonly message: string; readonly reasons: string[] };
type Report = {
  readonly session: Record<string, unknown>;
  readonly created: { readonly event_ids: string[]; readonly errors: string[] };
  readonly page: { readonly totalEvents: number; readonly events: Record<string, unknown>[] };
  readonly stream_ends: boolean[];
  readonly stream_count: number;
  readonly tree_totals: Record<string, unknown>;
  readonly tree_children: string[];
  readonly no_type: Refusal;
  readonly absent: Refusal;
  readonly no_key: Refusal;
};

let environment: Environment;
let service: TestService;
let report: Report;

beforeAll(async () => {
  environment = await installPython("generated.txt");
  sayMissing(title, environment);
  if (environment.missing !== undefined) return;
  const python = pythonOf(environment.folder);
  service = await startService();
  report = await inScratchFolder(async (folder) => {
    await generate(python, folder);
    return readReport<Report>({
      command: python,
      words: [
        join(import.meta.dirname, "python/generated_client.py"),
        new URL(service.url).host,
        service.projectKey,
      ],
      env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" },
    });
  });
}, programTimeoutMs);
afterAll(() => service?.stop());
beforeEach(({ skip }) => {
  if (environment.missing !== undefined) skip(environment.missing);
});

/** google/api and google/rpc come with the packages; the rest is generated. */
async function generate(python: string, folder: string): Promise<void> {
  const protoFolder = join(projectFolder, "proto");
  const files = readdirSync(join(protoFolder, "waggle"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".proto"))
    .map((name) => join("waggle", name));
  await mustRun({
    command: python,
    cwd: protoFolder,
    words: [
      "-m",
      "grpc_tools.protoc",
      "-Ithird_party",
      "-I.",
      `--python_out=${folder}`,
      `--grpc_python_out=${folder}`,
      ...files,
      "buf/validate/validate.proto",
    ],
  });
}

describe(title, () => {
  test("starts a session and reads its scopes", () => {
    expect(report.session).toMatchObject({
      project_id: service.projectId,
      session_name: "python",
      event_type: "session",
      source: "grpcio",
    });
    expect(report.session["event_id"]).toBe(report.session["session_id"]);
  });

  test("creates a batch and hears which event was rejected", () => {
    expect(report.created.event_ids).toHaveLength(2);
    expect(report.created.errors).toEqual([expect.stringMatching(/2.*event_type/)]);
  });

  test("exports what it sent", () => {
    expect(report.page.totalEvents).toBe(3);
    expect(report.page.events).toContainEqual({
      event_id: report.created.event_ids[0],
      event_name: "step 0",
      start_time: 1_700_000_000_000,
      duration: 1.5,
      inputs: { index: 0, nested: { list: [1, "two", null, true] } },
    });
  });

  test("streams every event and then the end", () => {
    expect(report.stream_ends).toEqual([false, false, false, true]);
    expect(report.stream_count).toBe(3);
  });

  test("reads the tree with its totals", () => {
    expect(report.tree_children).toEqual(["step 0", "step 1"]);
    expect(report.tree_totals).toMatchObject({ num_events: 2, total_tokens: 20 });
  });

  test("reads why a call was refused from google.rpc.ErrorInfo", () => {
    expect(report.no_type).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("event_type") as unknown,
      reasons: ["INVALID_ARGUMENT"],
    });
  });

  test("cannot tell what is absent from what it may not see", () => {
    expect(report.absent).toEqual({
      code: "NOT_FOUND",
      message: "Not found",
      reasons: ["NOT_FOUND"],
    });
    expect(report.no_key).toEqual(report.absent);
  });
});
