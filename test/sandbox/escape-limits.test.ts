// Escapes from limits: what takes time, memory, output or the stack without end is ended, told as
// that evaluator's failure, and a neighbour is answered meanwhile. Source: docs/sandbox.md, "What
// is tried".

import { describe, expect, test } from "vitest";
import { messageOf, useArena } from "./attack.ts";
import { anOwner, startMs } from "./start-sandbox.ts";

// Long enough for a bomb to go off on a machine that has much else to do.
const patient = useArena("limits, with time", { wallMs: 25_000, outputBytes: 200_000 });
const quick = useArena("limits", { wallMs: 4_000 });

type Row = { readonly name: string; readonly code: string };

function javascript(code: string): string {
  return `from pyodide.code import run_js\nresult = run_js(${JSON.stringify(code)})`;
}

const endless: readonly Row[] = [
  { name: "an infinite loop", code: "while True: pass" },
  {
    name: "a loop that catches everything",
    code: `def evaluate(event):
    while True:
        try:
            while True: pass
        except BaseException:
            continue`,
  },
  { name: "a loop in JavaScript", code: javascript("for (;;) {}") },
  { name: "a huge power", code: "result = len(hex(3 ** (10 ** 9)))" },
  { name: "a sleep", code: "import time\ntime.sleep(10_000)" },
  {
    name: "a wait in JavaScript",
    code: javascript("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"),
  },
  {
    name: "a regular expression that backtracks",
    code: 'import re\nresult = bool(re.match("(a+)+$", "a" * 40 + "b"))',
  },
  {
    name: "a read of the next message",
    code: javascript("Deno.stdin.readSync(new Uint8Array(9))"),
  },
  {
    name: "clocks that stand still",
    code: `import time, js
time.time = time.monotonic = time.perf_counter = lambda: 0
from pyodide.code import run_js
run_js("Date.now = () => 0; performance.now = () => 0; globalThis.setTimeout = () => 0")
while time.time() < 1: pass`,
  },
  {
    name: "signals that are listened to",
    code: javascript("Deno.addSignalListener('SIGTERM', () => {}); for (;;) {}"),
  },
];

const bombs: readonly Row[] = [
  {
    name: "bytes",
    code: `kept = []
while True: kept.append(b"x" * 10_000_000)`,
  },
  {
    name: "bytes in a loop that catches MemoryError once",
    code: `kept = []
try:
    while True: kept.append(b"x" * 10_000_000)
except MemoryError:
    while True: kept.append(b"x" * 1_000_000)`,
  },
  { name: "one string", code: "result = len('x' * 2_000_000_000)" },
  {
    name: "JavaScript's objects",
    code: javascript("const kept = []; for (;;) kept.push(new Array(100_000).fill(Math.random()))"),
  },
  {
    name: "JavaScript's objects under a higher limit",
    code: javascript(
      `process.getBuiltinModule("node:v8").setFlagsFromString("--max-old-space-size=64000");
      const kept = []; for (;;) kept.push(new Array(100_000).fill(Math.random()))`,
    ),
  },
  {
    name: "JavaScript's buffers",
    code: javascript("const kept = []; for (;;) kept.push(new Uint8Array(10_000_000).fill(1))"),
  },
  {
    name: "shared buffers",
    code: javascript(
      "const kept = []; for (;;) kept.push(new Uint8Array(new SharedArrayBuffer(1e7)).fill(1))",
    ),
  },
  {
    name: "workers",
    code: javascript("for (;;) new Worker('data:text/javascript,for(;;);', { type: 'module' })"),
  },
];

const floods: readonly Row[] = [
  { name: "print", code: "while True: print('x' * 1_000)" },
  { name: "standard error", code: "import sys\nwhile True: sys.stderr.write('x' * 1_000)" },
  { name: "a file descriptor", code: "import os\nwhile True: os.write(1, b'x' * 1_000)" },
  {
    name: "the process's standard output",
    code: javascript("for (;;) Deno.stdout.writeSync(new Uint8Array(60_000))"),
  },
  {
    name: "single bytes, far fewer than the limit",
    code: javascript(`const clock = new Int32Array(new SharedArrayBuffer(4));
for (let count = 0; count < 15_000; count += 1) {
  Deno.stdout.writeSync(new Uint8Array(1).fill(120));
  Atomics.wait(clock, 0, 0, 1);
}`),
  },
  {
    name: "the process's standard error",
    code: javascript("for (;;) Deno.stderr.writeSync(new Uint8Array(60_000))"),
  },
];

const ends: readonly Row[] = [
  { name: "os._exit", code: "import os\nos._exit(0)" },
  { name: "os.abort", code: "import os\nos.abort()" },
  { name: "Deno.exit", code: javascript("Deno.exit(0)") },
  { name: "a panic of Deno's own", code: javascript("Deno[Deno.internal].core.ops.op_panic('x')") },
  {
    name: "recursion without a limit",
    code: "import sys\nsys.setrecursionlimit(10**9)\ndef evaluate(event): return evaluate(event)",
  },
  {
    name: "recursion in C",
    code: "kept = []\nfor _ in range(10**6): kept = [kept]\nresult = len(repr(kept))",
  },
];

const raised: readonly Row[] = [
  { name: "recursion", code: "def evaluate(event): return evaluate(event)" },
  { name: "recursion in JavaScript", code: javascript("(function again() { again(); })()") },
  { name: "the text of a huge integer", code: "result = str(10 ** 100_000)" },
  { name: "sys.exit", code: "import sys\nsys.exit(0)" },
  { name: "an exception that is no Exception", code: "raise BaseException('x')" },
];

describe("an evaluator", () => {
  // Two at a time: a project has two processes.
  test.concurrent.each(endless)(
    "is ended after its time: $name",
    async ({ code }) => {
      const got = await quick.run(code);

      expect(got).toMatchObject({ kind: "failure", reason: "TIME_LIMIT" });
      expect(messageOf(got)).toBe("took longer than 4 s");
    },
    startMs,
  );

  test.each(bombs)(
    "has no more than its memory: $name",
    async ({ code }) => {
      const got = await patient.run(code);

      // JavaScript may be told that there is no more before its process is ended.
      const reason = got.kind === "failure" && `${got.reason} ${got.message}`;
      expect(reason).toMatch(/^MEMORY_LIMIT|^EXCEPTION .*allocation failed/);
    },
    startMs,
  );

  test.each(floods)("is ended at its output's limit: $name", async ({ code }) => {
    const got = await patient.run(code);

    expect(got).toMatchObject({ kind: "failure", reason: "OUTPUT_LIMIT" });
    expect(messageOf(got)).toBe("printed or returned more than 200000 bytes");
  });

  test.each(ends)("ends nothing but its own process: $name", async ({ code }) => {
    const got = await patient.run(code);

    expect(got).toMatchObject({ kind: "failure", reason: "CRASH" });
  });

  test.each(raised)("is told what it raised: $name", async ({ code }) => {
    const got = await patient.run(code);

    expect(got).toMatchObject({ kind: "failure", reason: "EXCEPTION" });
  });

  test("gets a new process by itself after each of them", async () => {
    const code = `def evaluate(event):
    if event["inputs"]["bad"]:
        while True: pass
    return 1`;
    const session = await quick.sandbox().open(code, { owner: anOwner("attacker") });

    const first = await session.run({ inputs: { bad: true } });
    const next = await session.run({ inputs: { bad: false } });
    await session.close();

    expect(first).toMatchObject({ kind: "failure", reason: "TIME_LIMIT" });
    expect(next).toMatchObject({ kind: "value", value: 1 });
  });

  test("takes an event of 64 MB", async () => {
    const code = "def evaluate(event): return len(event['inputs']['text'])";
    const session = await patient.sandbox().open(code, { owner: anOwner("attacker") });

    const got = await session.run({ inputs: { text: "x".repeat(64_000_000) } });
    await session.close();

    expect(got).toMatchObject({ kind: "value", value: 64_000_000 });
  });

  test("of too much code is not run", async () => {
    const session = await quick.sandbox().open(`# ${"x".repeat(100_000)}\nresult = 1`);

    const got = await session.run({});
    await session.close();

    expect(got).toMatchObject({ kind: "failure", reason: "CODE" });
  });
});
