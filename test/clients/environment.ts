// Installs what clients in other languages need, once per list of packages, under
// node_modules/.cache. Where a tool or its registry is absent, says so for the test to skip with.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile, cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, type TestContext } from "vitest";
import { givenStarted } from "../support/given.ts";
import { type Command, programTimeoutMs, readReport, runProgram } from "./program.ts";

export const projectFolder = join(import.meta.dirname, "../..");

/** A folder with everything installed, or the reason why there is none. */
export type Environment =
  | { readonly folder: string; readonly missing?: never }
  | { readonly missing: string };

type Recipe = {
  readonly name: string;
  /** Folder whose named files are copied and decide whether to reinstall. */
  readonly from: string;
  readonly files: readonly string[];
  /** Prints a version, or fails where the tool is absent. */
  readonly tool: readonly [string, ...string[]];
  readonly steps: (folder: string) => readonly Command[];
};

/** A virtual environment with the packages of `python/<requirements>`. */
export function installPython(requirements: string): Promise<Environment> {
  return install({
    name: requirements.replace(".txt", ""),
    from: join(import.meta.dirname, "python"),
    files: [requirements],
    tool: pythonTool,
    steps: (folder) => toPythonSteps(folder, requirements),
  });
}

/** What builds, runs and checks the client of `clients/python`, from its lock file. */
export function installPythonClient(): Promise<Environment> {
  return install({
    name: "python-client",
    from: join(projectFolder, "clients/python"),
    files: ["requirements.txt"],
    tool: pythonTool,
    steps: (folder) => toPythonSteps(folder, "requirements.txt"),
  });
}

const pythonTool = ["python3", "-m", "venv", "--help"] as const;

function toPythonSteps(
  folder: string,
  requirements: string,
  ...options: readonly string[]
): Command[] {
  const pip = ["-m", "pip", "install", "-q", "--retries=1", ...options];
  return [
    { command: "python3", words: ["-m", "venv", folder] },
    {
      command: pythonOf(folder),
      words: [...pip, "-r", join(folder, requirements)],
    },
  ];
}

export function pythonOf(folder: string): string {
  return join(folder, "bin/python");
}

/** Runs a program of the folder `python` with the published client, and returns its report. */
export function honeyhiveReport<T>(
  { folder }: { readonly folder: string },
  program: string,
  words: readonly string[],
): Promise<T> {
  return readReport<T>({
    command: pythonOf(folder),
    words: [join(import.meta.dirname, "python", program), ...words],
    env: { HONEYHIVE_TELEMETRY: "false", PYTHONDONTWRITEBYTECODE: "1" },
  });
}

/** Runs a program of the folder `node` with the published npm client, and returns its report. */
export function nodeReport<T>(
  { folder }: { readonly folder: string },
  program: string,
  words: readonly string[],
): Promise<T> {
  return readReport<T>({
    command: process.execPath,
    words: [join(import.meta.dirname, "node", program), folder, ...words],
    env: { HONEYHIVE_TELEMETRY: "false", TRACELOOP_TELEMETRY: "false" },
  });
}

/** The npm packages of `node/package-lock.json`. */
export function installNode(): Promise<Environment> {
  return install({
    name: "node",
    from: join(import.meta.dirname, "node"),
    files: ["package.json", "package-lock.json"],
    tool: ["npm", "--version"],
    steps: (folder) => [
      {
        command: "npm",
        words: ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"],
        cwd: folder,
      },
    ],
  });
}

/** The Go modules of `clients/go/go.sum`, with the code generators built. */
export function installGo(): Promise<Environment> {
  return install({
    name: "go",
    from: join(projectFolder, "clients/go"),
    files: ["go.mod", "go.sum"],
    tool: ["go", "version"],
    steps: (folder) => [
      { command: "go", words: ["mod", "download"], cwd: folder },
      {
        command: "go",
        words: ["build", "-o", "bin/", "tool"],
        cwd: folder,
        timeoutMs: compileTimeoutMs,
      },
    ],
  });
}

/** Helm, kubeconform, and the package with the schemas of Kubernetes that kubeconform reads. */
export function installChartTools(): Promise<Environment> {
  const from = join(import.meta.dirname, "chart");
  const tools = readFileSync(join(from, "tools.txt"), "utf8").trim().split("\n");
  return install({
    name: "chart",
    from,
    files: ["tools.txt", "requirements.txt"],
    tool: ["go", "version"],
    steps: (folder) => [
      ...tools.map((tool) => ({
        command: "go",
        words: ["install", tool],
        env: { GOBIN: join(folder, "bin") },
        timeoutMs: chartToolsTimeoutMs,
      })),
      ...toPythonSteps(folder, "requirements.txt", "--no-deps"),
    ],
  });
}

/** Helm takes 150 s of processor time to compile. */
export const chartToolsTimeoutMs = 900_000;

/** Go compiles its own library too where its cache is empty, on a machine with much else to do. */
export const compileTimeoutMs = 2 * programTimeoutMs;

/** A registry that answers nothing, or too slowly, is an absent one. */
const stepTimeoutMs = 100_000;

async function install({ name, from, files, tool, steps }: Recipe): Promise<Environment> {
  const [command, ...words] = tool;
  const found = await runProgram({ command, words });
  if (found.code !== 0) return { missing: `${tool.join(" ")} does not run on this machine` };
  const hash = createHash("sha256").update(found.stdout);
  for (const file of files) hash.update(await readFile(join(from, file)));
  const key = hash.digest("hex").slice(0, 16);
  const folder = join(projectFolder, "node_modules/.cache/clients", `${name}-${key}`);
  const mark = join(folder, "installed");
  await mkdir(dirname(folder), { recursive: true });
  return alone(`${folder}.lock`, async () => {
    if ((await readFile(mark).catch(() => undefined)) !== undefined) return { folder };
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    for (const file of files) await cp(join(from, file), join(folder, file));
    for (const step of steps(folder)) {
      const { code, stderr } = await runProgram({ timeoutMs: stepTimeoutMs, ...step });
      if (code !== 0) {
        const said = stderr.split("\n").find((line) => /error/i.test(line)) ?? stderr.slice(-200);
        const why = code === null ? "it took too long" : said;
        return { missing: `packages for ${name} cannot be installed here: ${why}` };
      }
    }
    await writeFile(mark, "");
    return { folder };
  });
}

/** Runs work while no other test file, each a process, runs work under the same lock. */
async function alone<T>(lock: string, work: () => Promise<T>): Promise<T> {
  const take = () =>
    writeFile(lock, String(process.pid), { flag: "wx" }).then(
      () => true,
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return false;
      },
    );
  while (!(await take())) {
    const holder = Number(await readFile(lock, "utf8").catch(() => ""));
    // The file is empty for a moment, and left by a run that was killed.
    if (holder > 0 && !isRunning(holder)) await rm(lock, { force: true });
    await delay(100);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Says why a file's tests are skipped, where a reader of the log will see it. */
export function sayMissing(title: string, { missing }: { readonly missing?: string }): void {
  if (missing !== undefined) process.stderr.write(`skipped: ${title}: ${missing}\n`);
}

/** Registers a hook that skips tests where something is missing, which `sayMissing` has said. */
export function skipTestsWhere(missingOf: () => string | undefined): void {
  beforeEach(({ skip }) => {
    const missing = missingOf();
    if (missing !== undefined) skip(missing);
  });
}

/**
 * Gives the report of a client's program. Where its environment is missing the tests are skipped,
 * and the output says so of `title`.
 */
export function givenReport<T extends object>(
  title: string,
  install: () => Promise<Environment>,
  read: (environment: { readonly folder: string }) => Promise<T>,
): T {
  let missing: string | undefined;
  const readWhereInstalled = async (): Promise<T> => {
    const environment = await install();
    sayMissing(title, environment);
    ({ missing } = environment);
    return environment.missing === undefined ? read(environment) : ({} as T);
  };
  const report = givenStarted(readWhereInstalled, () => Promise.resolve());
  skipTestsWhere(() => missing);
  return report;
}

/** Skips a test where something is missing, and says why as `sayMissing` does. */
export function skipWhereMissing(
  { skip, task }: Pick<TestContext, "skip" | "task">,
  missing: string | undefined,
): void {
  if (missing === undefined) return;
  sayMissing(task.name, { missing });
  skip(missing);
}
