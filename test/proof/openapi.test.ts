// Requests that Schemathesis generates from /openapi.json, with ids of real resources: no answer is
// a server error, and each has the status, type and form that the description promises. Each kind
// of key has a tenant of its own. PROOF_SECONDS is the time of each kind, PROOF_SEED the seed.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { giveState, type Ids } from "../api/access-calls.ts";
import { contractRows, type Row } from "../api/access-rows.ts";
import { startAccessService } from "../api/access-service.ts";
import { installPython, pythonOf } from "../clients/environment.ts";
import { runProgram } from "../clients/program.ts";
import { givenStarted } from "../support/given.ts";
import { printFinding } from "../support/findings.ts";
import { givenAProject } from "../support/project.ts";
import { type KeyOptions, type Tenant, withKey } from "../support/tenants.ts";

const seconds = Number(process.env["PROOF_SECONDS"] ?? 60);
const seed = process.env["PROOF_SEED"] ?? "1";

const hooks = join(import.meta.dirname, "hooks.py");

/**
 * Without chains of calls that follow from answers: Schemathesis 4.32 fails by itself where the
 * time ends during them. The ids of `giveEveryState` take their place.
 */
const phases = "examples,coverage,fuzzing";

const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];

const callers: readonly (KeyOptions | undefined)[] = [
  { kind: "project", root: "project" },
  { kind: "project_read_only", root: "project" },
  { kind: "ingestion", root: "project" },
  { kind: "data_plane", root: "org" },
  { kind: "control_plane", root: "org" },
  undefined,
];

/** The members of Schemathesis' report that are read here. */
type Report = {
  readonly operations: { readonly total: number; readonly tested: number };
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
  /** Answers by operation and phase. */
  readonly valid_rates: Readonly<Record<string, Readonly<Record<string, { accepted: number }>>>>;
};

const service = givenStarted(startAccessService);

/** Creates what each route needs and returns the ids of its path, by method and path template. */
async function giveEveryState(tenant: Tenant): Promise<Readonly<Record<string, Ids>>> {
  const ids: Record<string, Ids> = {};
  for (const row of contractRows) ids[nameOf(row)] = await giveState(service, tenant, row);
  return ids;
}

function nameOf({ route }: Row): string {
  return route.split("?")[0] ?? route;
}

test.each(callers)("generated requests of $kind", async (caller) => {
  const environment = await installPython("schemathesis.txt");
  if (environment.missing !== undefined) throw new Error(environment.missing);
  const folder = await mkdtemp(join(tmpdir(), "waggle-proof-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const tenant = await givenAProject(service.database, `proof ${caller?.kind ?? "none"}`);
  const ids = join(folder, "ids.json");
  await writeFile(ids, JSON.stringify(await giveEveryState(tenant)));
  const headers = caller ? await withKey(service.database, tenant, caller) : {};
  const report = join(folder, "report.json");

  const { code, stdout, stderr } = await runProgram({
    command: pythonOf(environment.folder),
    words: [
      "-m",
      "schemathesis.cli",
      "run",
      `${service.url}/openapi.json`,
      "--phases",
      phases,
      "--checks",
      checks.join(","),
      "--max-time",
      String(seconds),
      "--seed",
      seed,
      "--report",
      "json",
      "--report-json-path",
      report,
      "--no-shrink",
      "--no-color",
      "--generation-database",
      "none",
      "--suppress-health-check",
      "all",
      "--warnings",
      "off",
      "--continue-on-failure",
      "--request-timeout",
      "60",
      ...Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
    ],
    env: { SCHEMATHESIS_HOOKS: hooks, WAGGLE_PROOF_IDS: ids, PYTHONDONTWRITEBYTECODE: "1" },
    cwd: folder,
    timeoutMs: 2 * seconds * 1_000 + 600_000,
  });

  if (code === null) throw new Error(stderr);
  const text = await readFile(report, "utf8").catch(() => {
    throw new Error(`Schemathesis wrote no report: ${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
  });
  const { operations, test_cases: cases, valid_rates: rates } = JSON.parse(text) as Report;
  const accepted = Object.values(rates)
    .flatMap((phases) => Object.values(phases))
    .reduce((sum, phase) => sum + phase.accepted, 0);
  printFinding({
    key: caller?.kind ?? "none",
    seed,
    operations: operations.tested,
    requests: cases.generated,
    accepted,
    failures: cases.unique_failures,
  });
  expect(operations.tested).toBe(operations.total);
  expect(code, stdout.slice(-8_000)).toBe(0);
});
