// `npm run proof [-- CHECK…]`: runs all checks, or those named, and writes the report of this
// version after each. Results of earlier checks of the version stay in the report.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeMachine, missedMark } from "../bench/table.ts";
import { readFindings } from "../support/findings.ts";
import { type Check, checks } from "./checks.ts";
import { formatReport, type Result, type Results } from "./report.ts";

const root = join(import.meta.dirname, "../..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
};
const resultsPath = join(root, `node_modules/.cache/proof/${version}.json`);
const reportPath = join(root, `docs/proof/${version}.md`);

const names = process.argv.slice(2);
const unknown = names.find((name) => !checks.some((check) => check.name === name));
if (unknown !== undefined) {
  console.error(`no check ${unknown}: there are ${checks.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
for (const check of checks.filter(({ name }) => names.length === 0 || names.includes(name))) {
  console.log(`\n== ${check.name}: ${check.claim}`);
  const result = await runCheck(check);
  keep({ ...readResults(), [check.name]: result });
  console.log(`== ${check.name}: ${result.hasPassed ? "passed" : "FAILED"}, see ${reportPath}`);
  if (!result.hasPassed) process.exitCode = 1;
}

function readResults(): Results {
  try {
    return JSON.parse(readFileSync(resultsPath, "utf8")) as Results;
  } catch {
    return {};
  }
}

function keep(results: Results): void {
  for (const path of [resultsPath, reportPath]) mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(resultsPath, JSON.stringify(results));
  writeFileSync(reportPath, formatReport(version, checks, results));
}

async function runCheck({ run, environment = {} }: Check): Promise<Result> {
  const machine = describeMachine();
  const startedAt = new Date();
  const folder = mkdtempSync(join(tmpdir(), "waggle-proof-"));
  const counts = join(folder, "tests.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${counts}`];
  const words =
    "bench" in run
      ? ["test/bench/main.ts", ...run.bench]
      : ["node_modules/vitest/vitest.mjs", "run", ...run.tests, ...reporters];
  const { code, output } = await runNode(words, environment);
  const tests = "bench" in run ? undefined : readCounts(counts);
  rmSync(folder, { recursive: true });
  return {
    hasPassed: code === 0 && ("bench" in run || (tests?.passed ?? 0) > 0),
    machine,
    startedAt: startedAt.toISOString(),
    minutes: Math.round((Date.now() - startedAt.getTime()) / 6_000) / 10,
    ...(tests && { tests }),
    findings: readFindings(output),
    missed: readMissed(output),
    tables: "bench" in run ? readTables(output) : "",
  };
}

/** Returns the counts of tests; undefined if the run ended before it wrote them. */
function readCounts(path: string): Result["tests"] {
  if (!existsSync(path)) return undefined;
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
    readFileSync(path, "utf8"),
  ) as Record<string, number>;
  return {
    passed: numPassedTests ?? 0,
    failed: numFailedTests ?? 0,
    skipped: numPendingTests ?? 0,
  };
}

/** Returns the figures that miss their aim. */
function readMissed(output: string): readonly string[] {
  const lines = output.split("\n").filter((line) => line.startsWith(missedMark));
  return lines.map((line) => line.slice(missedMark.length));
}

/** Returns the tables of a bench, each after the line before it, its title. */
function readTables(output: string): string {
  const lines = output.split("\n");
  const isRow = (line: string | undefined) => line?.startsWith("|") ?? false;
  const kept = lines.flatMap((line, index) => {
    if (isRow(line)) return [line];
    const isTitle = line !== "" && (isRow(lines[index + 1]) || isRow(lines[index + 2]));
    return isTitle ? ["", line, ""] : isRow(lines[index - 1]) ? [""] : [];
  });
  return kept.join("\n").trim();
}

/** Runs Node and shows its output as it comes. */
async function runNode(words: readonly string[], environment: Check["environment"]) {
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", PROOF: "1", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    chunks.push(chunk);
    process.stdout.write(chunk);
  });
  child.stderr.pipe(process.stderr);
  const code = await new Promise<number | null>((settle) => child.once("close", settle));
  return { code, output: chunks.join("") };
}
