// Escapes to the network: nothing reaches a server that stands beside, and nothing is fetched.
// Source: docs/sandbox.md, "What is tried".

import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messageOf, refused, useArena } from "./attack.ts";
import type { Attempt } from "./attack.ts";

let calls = 0;
const canary = createServer((socket) => {
  calls += 1;
  socket.destroy();
});
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
  ({ port } = canary.address() as AddressInfo);
});

afterAll(() => {
  canary.close();
});

// A worker takes more memory than an evaluator has by default.
const arena = useArena("network", { memoryBytes: 2_000_000_000, wallMs: 25_000 });

/** PORT stands for the server's. */
type Row = Attempt & { readonly name: string; readonly says?: RegExp };

const rows: readonly Row[] = [
  {
    name: "a Python socket",
    python: "import socket; got = socket.create_connection(('127.0.0.1', PORT), timeout=2)",
    says: /unreachable/,
  },
  {
    name: "a Python socket that listens",
    python:
      "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); got = s.accept()",
  },
  {
    name: "urllib",
    python: "import urllib.request; got = urllib.request.urlopen('http://127.0.0.1:PORT/')",
    says: /unreachable/,
  },
  {
    name: "Pyodide's open_url",
    python: "from pyodide.http import open_url; got = open_url('http://127.0.0.1:PORT/')",
    says: /XMLHttpRequest/,
  },
  { name: "fetch", worker: `return await fetch("http://127.0.0.1:PORT/")` },
  { name: "Deno.connect", worker: "return await Deno.connect({ port: PORT })" },
  { name: "Deno.listen", javascript: "return Deno.listen({ port: 0 })" },
  { name: "Deno.serve", javascript: "return Deno.serve({ port: 0 }, () => new Response())" },
  { name: "Deno.resolveDns", worker: `return await Deno.resolveDns("example.com", "A")` },
  { name: "a unix socket", worker: `return await Deno.connect({ transport: "unix", path: "/x" })` },
  { name: "WebSocket", javascript: `return new WebSocket("ws://127.0.0.1:PORT/").url` },
  {
    name: "EventSource",
    worker: `return await new Promise((resolve, reject) => {
      const source = new EventSource("http://127.0.0.1:PORT/");
      source.onopen = resolve;
      source.onerror = () => { source.close(); reject("denied or failed"); };
    })`,
  },
  {
    name: "node:net",
    worker: `const { connect } = await import("node:net");
      return await new Promise((resolve, reject) =>
        connect(PORT, "127.0.0.1").on("connect", resolve).on("error", reject))`,
  },
  {
    name: "node:http",
    worker: `const { get } = await import("node:http");
      return await new Promise((resolve, reject) =>
        get("http://127.0.0.1:PORT/", resolve).on("error", reject))`,
  },
  { name: "import from a server", worker: `return await import("http://127.0.0.1:PORT/x.js")` },
  {
    name: "import from a server by imported data",
    worker: `return await import("data:text/javascript,import 'http://127.0.0.1:PORT/x.js'")`,
  },
  { name: "import from npm", worker: `return await import("npm:left-pad@1.3.0")`, says: /no-npm/ },
  { name: "import from JSR", worker: `return await import("jsr:@std/path")` },
  {
    name: "a constructed function",
    worker: `return await (async () => {}).constructor("return fetch('http://127.0.0.1:PORT/')")()`,
  },
  {
    name: "a worker that asks for the permission",
    javascript: `const permissions = { net: true };
      new Worker("data:text/javascript,fetch('http://127.0.0.1:PORT/')",
        { type: "module", deno: { permissions } });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
      throw new Error("denied or failed");`,
    // Deno takes that for a bug of its own and ends.
    says: /ended its process/,
  },
  {
    name: "flags that are set later",
    worker: `(await import("node:v8")).setFlagsFromString("--allow-net");
      return await fetch("http://127.0.0.1:PORT/")`,
  },
];

describe("an evaluator", () => {
  test("would be seen by the server beside it", async () => {
    const before = calls;

    const socket = connect(port, "127.0.0.1");
    await new Promise((resolve) => socket.on("close", resolve));

    expect(calls).toBe(before + 1);
  });

  test.each(rows)("reaches no network: $name", async ({ says, ...attempt }) => {
    const before = calls;

    const got = await arena.attempt(withPort(attempt));

    expect(got).toMatchObject({ kind: "failure" });
    expect(messageOf(got)).toMatch(says ?? refused);
    expect(calls).toBe(before);
  });

  test("imports what it carries itself, as it may do anything inside", async () => {
    const worker = `return (await import("data:text/javascript,export default 6 * 7")).default`;

    const got = await arena.attempt({ worker });

    expect(got).toMatchObject({ kind: "value", value: "42" });
  });

  test("gets no package from anywhere", async () => {
    const python = `import pyodide_js
promise = pyodide_js.loadPackage("numpy")
import numpy
got = numpy`;

    const got = await arena.attempt({ python });

    expect(got).toMatchObject({ kind: "failure", reason: "EXCEPTION" });
    expect(messageOf(got)).toMatch(/No module named 'numpy'/);
  });
});

function withPort(attempt: Attempt): Attempt {
  return JSON.parse(JSON.stringify(attempt).replaceAll("PORT", String(port))) as Attempt;
}
