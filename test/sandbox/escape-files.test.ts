// Escapes to files, the environment and processes, from Python and from all of JavaScript; none
// succeeds. Source: docs/sandbox.md, "What is tried".

import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { messageOf, refused, useArena } from "./attack.ts";
import type { Attempt } from "./attack.ts";

const secret = "canary-5f3b0c";
// A folder that everybody may read and write, so that only the sandbox is in the way.
const folder = mkdtempSync(join(tmpdir(), "waggle-canary-"));
chmodSync(folder, 0o777);
const canary = join(folder, "canary.txt");
writeFileSync(canary, secret, { mode: 0o644 });
process.env["WAGGLE_CANARY"] = secret;

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

// A worker takes more memory than an evaluator has by default.
const arena = useArena("files", { memoryBytes: 2_000_000_000, wallMs: 25_000 });

type Row = Attempt & { readonly name: string; readonly says?: RegExp };

const path = JSON.stringify(canary);
const made = JSON.stringify(join(folder, "made"));

const reading: readonly Row[] = [
  { name: "open()", python: `got = open(${path}).read()`, says: /FileNotFoundError/ },
  { name: "os.open", python: `import os; got = os.open(${path}, 0)`, says: /FileNotFound/ },
  { name: "Deno.readTextFileSync", javascript: `return Deno.readTextFileSync(${path})` },
  { name: "Deno.readDirSync", javascript: `return [...Deno.readDirSync("${folder}")]` },
  { name: "Deno.statSync", javascript: `return Deno.statSync(${path}).size` },
  {
    name: "node:fs",
    javascript: `return process.getBuiltinModule("node:fs").readFileSync(${path}, "utf8")`,
  },
  {
    name: "a function made by Function",
    javascript: `const make = (function () {}).constructor;
      return make("return Deno.readTextFileSync('${canary}')")();`,
  },
  {
    name: "an async function made by its constructor",
    worker: `const make = (async () => {}).constructor;
      return await make("return await Deno.readTextFile('${canary}')")();`,
  },
  { name: "Deno.readTextFile in a worker", worker: `return await Deno.readTextFile(${path})` },
  { name: "import of a file", worker: `return await import("file://${canary}")` },
  {
    name: "import of a file by imported data",
    worker: `return await import("data:text/javascript," +
      encodeURIComponent("import 'file://${canary}'"))`,
  },
  {
    name: "Deno's own operations",
    javascript: `return Deno[Deno.internal].core.ops.op_node_open_sync(${path}, 0, 0o666)`,
  },
  {
    name: "Pyodide's mount of the machine's files",
    python: `import pyodide_js
pyodide_js.FS.mkdir("/machine")
kind = pyodide_js.FS.filesystems.NODEFS
pyodide_js.FS.mount(kind, {"root": "${folder}"}, "/machine")
got = open("/machine/canary.txt").read()`,
  },
  {
    name: "asking for the permission",
    worker: `await Deno.permissions.request({ name: "read" });
      return await Deno.readTextFile(${path})`,
  },
  { name: "/etc/passwd", javascript: `return Deno.readTextFileSync("/etc/passwd")` },
  { name: "the harness itself", javascript: "return Deno.readTextFileSync(Deno.mainModule)" },
  {
    name: "a database that attaches a file",
    javascript: `const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
      new DatabaseSync(":memory:").exec("attach '${join(folder, "made")}' as made");`,
    says: /attached databases/,
  },
];

const writing: readonly Row[] = [
  { name: "Deno.writeTextFileSync", javascript: `Deno.writeTextFileSync(${made}, "x")` },
  { name: "Deno.mkdirSync", javascript: `Deno.mkdirSync(${made})` },
  { name: "Deno.makeTempFileSync", javascript: `return Deno.makeTempFileSync()` },
  { name: "Deno.symlinkSync", javascript: `Deno.symlinkSync("/etc/passwd", ${made})` },
  { name: "Deno.removeSync", javascript: `Deno.removeSync(${path})` },
  {
    name: "a heap snapshot",
    javascript: `process.getBuiltinModule("node:v8").writeHeapSnapshot(${made})`,
  },
  {
    name: "the cache that browsers have",
    worker: `const cache = await caches.open("x");
      await cache.put("http://a/", new Response("x"));`,
    says: /Failed to create cache/,
  },
  { name: "local storage", javascript: `localStorage.setItem("a", "b")`, says: /NotFound/ },
];

const others: readonly Row[] = [
  { name: "os.system", python: "import os; got = os.system('id')" },
  { name: "os.fork", python: "import os; got = os.fork()", says: /not implemented/ },
  {
    name: "subprocess",
    python: "import subprocess; got = subprocess.run(['id'])",
    says: /does not support processes/,
  },
  {
    name: "a thread",
    python: "import _thread; got = _thread.start_new_thread(print, ())",
    says: /t/,
  },
  { name: "Deno.Command", javascript: `return new Deno.Command("id").outputSync()` },
  {
    name: "node:child_process",
    javascript: `return process.getBuiltinModule("node:child_process").execSync("id")`,
  },
  { name: "a signal to its parent", javascript: "Deno.kill(Deno.ppid, 'SIGKILL')" },
  { name: "a signal by node:process", javascript: "process.kill(process.ppid, 'SIGKILL')" },
  { name: "another account", javascript: "process.setuid(0)" },
  { name: "a shared library", javascript: `return Deno.dlopen("libc.so.6", {})` },
  { name: "a native module", javascript: `process.dlopen({ exports: {} }, "libc.so.6")` },
  {
    name: "a pointer",
    javascript: "return Deno[Deno.internal].core.ops.op_ffi_ptr_create(4096n)",
  },
  {
    name: "memory through a pointer",
    javascript: "return Deno[Deno.internal].core.ops.op_ffi_read_u8(null, 4096)",
  },
  { name: "a debugger", javascript: `process.getBuiltinModule("node:inspector").open(0)` },
  { name: "the machine's name", javascript: "return Deno.hostname()" },
  { name: "Deno.env", javascript: "return JSON.stringify(Deno.env.toObject())" },
  { name: "process.env", javascript: "return process.env.WAGGLE_CANARY" },
  { name: "/proc/self/environ", javascript: `return Deno.readTextFileSync("/proc/self/environ")` },
  {
    name: "the service's environment",
    javascript: "return Deno.readTextFileSync(`/proc/${Deno.ppid}/environ`)",
  },
];

describe("an evaluator", () => {
  test.each(reading)("cannot read a file: $name", async ({ says, ...attempt }) => {
    const got = await arena.attempt(attempt);

    expect(got).toMatchObject({ kind: "failure" });
    expect(messageOf(got)).toMatch(says ?? refused);
    expect(JSON.stringify(got)).not.toContain(secret);
  });

  test.each(writing)("cannot write a file: $name", async ({ says, ...attempt }) => {
    const got = await arena.attempt(attempt);

    expect(got).toMatchObject({ kind: "failure" });
    expect(messageOf(got)).toMatch(says ?? refused);
    expect(readdirSync(folder)).toEqual(["canary.txt"]);
    expect(readFileSync(canary, "utf8")).toBe(secret);
  });

  test.each(others)(
    "reaches neither processes nor the environment: $name",
    async ({ says, ...attempt }) => {
      const got = await arena.attempt(attempt);

      expect(got).toMatchObject({ kind: "failure" });
      expect(messageOf(got)).toMatch(says ?? refused);
      expect(JSON.stringify(got)).not.toContain(secret);
    },
  );

  test("sees an environment of Python's own", async () => {
    const got = await arena.attempt({ python: "import os; got = dict(os.environ)" });

    expect(got).toMatchObject({ kind: "value" });
    expect(JSON.stringify(got)).not.toContain(secret);
  });

  test("has files of its own, which the next process does not see", async () => {
    const list = "import os; result = str(os.listdir('/tmp'))";
    const first = await arena.run(`open('/tmp/mine', 'w').write('x'); ${list}`);
    const next = await arena.run(list);

    expect(first).toMatchObject({ kind: "value", value: "['mine']" });
    expect(next).toMatchObject({ kind: "value", value: "[]" });
  });
});
