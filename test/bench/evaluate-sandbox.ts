// Part `sandbox` of `bench evaluate`: one sandbox process alone, cold and warm, beside the same
// function in plain `python3` over the same lines of JSON.

import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { JsonObject } from "../../src/base/json.ts";
import {
  createPythonSandbox,
  type PythonSandbox,
  type PythonSession,
} from "../../src/evaluation/runner/python/sandbox.ts";
import { createRandom, payloadOf } from "./events.ts";
import { cpuSecondsOf, cpuSecondsOfTree } from "./processes.ts";
import { evaluatorCode } from "./scoring.ts";
import { formatTable, median } from "./table.ts";

export type SandboxOptions = {
  /** Evaluations per round. */
  readonly events: number;
  readonly rounds: number;
  /** Number of starts of each kind. */
  readonly runs: number;
};

const eventBytes = 2_048;
const warmUpMs = 120_000;

export async function benchSandbox(options: SandboxOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-bench-"));
  // The processes do not run as root and must be able to read the folder.
  await chmod(folder, 0o755);
  try {
    await benchStarts(folder, options.runs);
    await benchWarm(folder, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function openSandbox(cacheFolder: string): PythonSandbox {
  return createPythonSandbox({
    limits: { wallMs: 10_000, memoryBytes: 512_000_000, outputBytes: 1e6, codeBytes: 100_000 },
    processesMax: 1,
    idleMin: 1,
    cacheFolder,
    logger: { info: () => undefined, warn: (...words: unknown[]) => console.warn(...words) },
  });
}

/**
 * Measures the time from opening an evaluator to the last result: of one event, or of a whole
 * chunk.
 */
async function benchStarts(folder: string, runs: number): Promise<void> {
  const kept = join(folder, "kept");
  const plans = [
    { title: "no snapshot yet", folderOf: (n: number) => join(folder, `new-${n}`) },
    { title: "from the snapshot" },
    { title: "a blank process is ready", isKept: true },
    { title: "from the snapshot, a chunk of 1,000", events: 1_000 },
  ];
  await startOnce(kept);
  const rows = [];
  for (const { title, folderOf = () => kept, ...how } of plans) {
    const starts: Start[] = [];
    for (let n = 0; n < runs; n += 1) starts.push(await startOnce(folderOf(n), how));
    const of = (field: "ms" | "cpuMs") => starts.map((start) => start[field]);
    const ms = of("ms");
    rows.push([title, median(ms), Math.min(...ms), Math.max(...ms), median(of("cpuMs"))]);
  }
  console.log(`\nfrom opening an evaluator to its result, ${runs} times:`);
  console.log(formatTable(["", "ms", "least", "most", "its processor ms"], rows));
}

type Start = { readonly ms: number; readonly cpuMs: number };

async function startOnce(
  cacheFolder: string,
  { isKept = false, events = 1 }: { readonly isKept?: boolean; readonly events?: number } = {},
): Promise<Start> {
  const list = Array.from({ length: events }, (_, number) => eventOf(number));
  const sandbox = openSandbox(cacheFolder);
  try {
    if (isKept) await becomesWarm(sandbox);
    const cpuBefore = await childSeconds();
    const begunAt = performance.now();
    const session = await sandbox.open(evaluatorCode);
    for (const event of list) await evaluate(session, event);
    const ms = performance.now() - begunAt;
    const cpuMs = ((await childSeconds()) - cpuBefore) * 1_000;
    await session.close();
    return { ms, cpuMs };
  } finally {
    await sandbox.close();
    await childrenEnd();
  }
}

async function becomesWarm(sandbox: PythonSandbox): Promise<void> {
  sandbox.start();
  const deadline = Date.now() + warmUpMs;
  while (!sandbox.isWarm()) {
    if (Date.now() > deadline) throw new Error("the sandbox does not become warm");
    await delay(10);
  }
}

/** Waits until ended processes are noticed, so that the next start does not count them. */
async function childrenEnd(): Promise<void> {
  await delay(200);
}

async function childSeconds(): Promise<number> {
  const [tree, own] = [await cpuSecondsOfTree(process.pid), await cpuSecondsOf(process.pid)];
  return tree - own;
}

type WarmRound = {
  readonly sandboxSeconds: number;
  readonly sandboxCpu: number;
  readonly plainSeconds: number;
  readonly plainCpu: number;
};

/** Measures the warm sandbox and python3; their rounds alternate. */
async function benchWarm(folder: string, { events, rounds }: SandboxOptions): Promise<void> {
  const list = Array.from({ length: events }, (_, number) => eventOf(number));
  const linesPath = join(folder, "events.jsonl");
  await writeFile(linesPath, list.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const codePath = join(folder, "evaluator.py");
  await writeFile(codePath, evaluatorCode);
  const sandbox = openSandbox(join(folder, "kept"));
  try {
    const session = await sandbox.open(evaluatorCode);
    const done: WarmRound[] = [];
    // The first round warms up and is not counted.
    for (let number = 0; number <= rounds; number += 1) {
      const round = await runWarmRound(session, list, () => runPlain(codePath, linesPath));
      if (number > 0) done.push(round);
    }
    await session.close();
    printWarm(done, events);
  } finally {
    await sandbox.close();
  }
}

async function runWarmRound(
  session: PythonSession,
  list: readonly JsonObject[],
  plain: () => Promise<PlainResult>,
): Promise<WarmRound> {
  const cpuBefore = await cpuSecondsOfTree(process.pid);
  const begunAt = performance.now();
  const values: unknown[] = [];
  for (const event of list) values.push(await evaluate(session, event));
  const sandboxSeconds = (performance.now() - begunAt) / 1_000;
  const sandboxCpu = (await cpuSecondsOfTree(process.pid)) - cpuBefore;
  const { seconds: plainSeconds, cpuSeconds: plainCpu, results } = await plain();
  if (JSON.stringify(values) !== JSON.stringify(results)) {
    throw new Error("the sandbox and python3 have different results");
  }
  return { sandboxSeconds, sandboxCpu, plainSeconds, plainCpu };
}

function printWarm(rounds: readonly WarmRound[], events: number): void {
  const middle = (of: (round: WarmRound) => number): number => median(rounds.map(of));
  const row = [
    `${events} events of 2 KB, one at a time`,
    middle(({ sandboxSeconds }) => events / sandboxSeconds),
    middle(({ plainSeconds }) => events / plainSeconds),
    middle(({ sandboxSeconds, plainSeconds }) => plainSeconds / sandboxSeconds),
    middle(({ sandboxCpu }) => (sandboxCpu / events) * 1e6),
    middle(({ plainCpu }) => (plainCpu / events) * 1e6),
  ];
  console.log("\none process of the sandbox, warm, and plain python3 in a loop, in turn:");
  const head = ["", "evaluations/s", "python3/s", "ratio", "µs of processor", "python3 µs"];
  console.log(formatTable(head, [row]));
}

async function evaluate(session: PythonSession, event: JsonObject): Promise<unknown> {
  const outcome = await session.run(event);
  if (outcome.kind === "value") return outcome.value;
  throw new Error(`the evaluator failed: ${outcome.reason}: ${outcome.message}`);
}

/** Returns an event as evaluators see it. */
function eventOf(number: number): JsonObject {
  const id = String(number).padStart(12, "0");
  return {
    event_id: `00000000-0000-4000-8000-${id}`,
    session_id: "00000000-0000-4000-9000-000000000000",
    project_id: "00000000-0000-4000-a000-000000000000",
    parent_id: null,
    children_ids: [],
    source: "bench",
    start_time: 1_760_000_000_000 + number,
    duration: 250,
    error: null,
    metrics: {},
    feedback: {},
    ...payloadOf(createRandom(number + 1), number, eventBytes),
  };
}

type PlainResult = {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly results: readonly number[];
};

/** Python loop that times itself, without the interpreter's start. */
const plainLoop = `
import json, sys, time
scope = {}
with open(sys.argv[1]) as code:
    exec(compile(code.read(), "<evaluator>", "exec"), scope)
evaluate = scope["evaluate"]
begun = time.perf_counter(), time.process_time()
with open(sys.argv[2]) as lines:
    for line in lines:
        print(json.dumps(evaluate(json.loads(line))))
print(time.perf_counter() - begun[0])
print(time.process_time() - begun[1])
`;

async function runPlain(codePath: string, linesPath: string): Promise<PlainResult> {
  const words = ["-c", plainLoop, codePath, linesPath];
  const { stdout } = await promisify(execFile)("python3", words, { maxBuffer: 2 ** 28 });
  const numbers = stdout.trimEnd().split("\n").map(Number);
  const [seconds = NaN, cpuSeconds = NaN] = numbers.slice(-2);
  return { seconds, cpuSeconds, results: numbers.slice(0, -2) };
}
