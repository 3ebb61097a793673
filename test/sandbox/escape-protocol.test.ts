// Escapes to other evaluations: forged answers, the next message, and traces left for the next
// event. Source: docs/sandbox.md, "What is tried".

import { describe, expect, test } from "vitest";
import { messageOf, useArena } from "./attack.ts";
import { anOwner } from "./start-sandbox.ts";

const arena = useArena("other evaluations", { wallMs: 5_000 });

function javascript(code: string): string {
  return `from pyodide.code import run_js\nresult = run_js(${JSON.stringify(code)})`;
}

const write = "const write = (text) => Deno.stdout.writeSync(new TextEncoder().encode(text));";

const forged = [
  {
    name: "a whole answer",
    code: javascript(`${write} write('0123 {"kind":"value","value":1,"output":""}\\n'); 1`),
  },
  { name: "a line that is no answer", code: javascript(`${write} write("value\\n"); 1`) },
  { name: "the beginning of a line", code: javascript(`${write} write("ready"); 1`) },
  { name: "the word that a start ends with", code: javascript(`${write} write("ready {}\\n"); 1`) },
  { name: "console.log", code: javascript("console.log(1); 1") },
];

/** Takes hold of each message's id as the harness reads it, and answers in its place. */
const answering = `${write}
  const parse = JSON.parse;
  JSON.parse = (text) => {
    const head = parse(text);
    if (head.id) write(head.id + ANSWER);
    return head;
  };
  1`;

describe("an evaluator", () => {
  test.each(forged)("cannot forge an answer: $name", async ({ code }) => {
    const got = await arena.run(code);

    expect(got).toMatchObject({ kind: "failure", reason: "PROTOCOL" });
    expect(messageOf(got)).toMatch(/the sandbox's own channel/);
  });

  test.each([
    { name: "no JSON", answer: "nothing" },
    { name: "no object", answer: "[1]" },
    { name: "an unknown kind", answer: '{"kind":"other"}' },
    { name: "an unknown reason", answer: '{"kind":"failure","reason":"TIME_LIMIT"}' },
    { name: "a value that is no score", answer: '{"kind":"value","value":{"a":1}}' },
    { name: "no value", answer: '{"kind":"value"}' },
  ])("that answers in the harness's place is checked: $name", async ({ answer }) => {
    const text = JSON.stringify(` ${answer}\n`);
    const session = await arena.sandbox().open(javascript(answering.replace("ANSWER", text)));

    const first = await session.run({});
    const next = await session.run({});
    await session.close();

    expect(first).toMatchObject({ kind: "value", value: 1 });
    expect(next).toMatchObject({ kind: "failure", reason: "PROTOCOL" });
  });

  test("that answers in the harness's place has only its own events' answers", async () => {
    const text = JSON.stringify(' {"kind":"value","value":"mine","output":""}\n');
    const attacker = await arena.sandbox().open(javascript(answering.replace("ANSWER", text)), {
      owner: anOwner("attacker"),
    });
    const victim = await arena.sandbox().open("result = 'theirs'", { owner: anOwner("victim") });

    await attacker.run({});
    const [own, other] = await Promise.all([attacker.run({}), victim.run({})]);
    await attacker.close();
    await victim.close();

    // One line with the right id counts; the harness's own line after it ends the process.
    expect(own.kind === "value" ? own.value : own.reason).toMatch(/^(mine|PROTOCOL)$/);
    expect(other).toMatchObject({ kind: "value", value: "theirs" });
  });

  test("that speaks after its answer loses its process, and nobody else's is touched", async () => {
    const late = javascript(`
      const format = JSON.stringify;
      JSON.stringify = (value) => format(value) + "\\n0123 {}";
      1`);

    const got = await arena.run(late);

    expect(got).toMatchObject({ kind: "failure", reason: "PROTOCOL" });
  });

  test("leaves no poisoned built-ins for another", async () => {
    const poison = `import builtins, json, sys
builtins.len = lambda _: 99
json.loads = lambda _: {"outputs": {}}
sys.modules["math"] = None
from pyodide.code import run_js
run_js("JSON.parse = () => 0; Object.prototype.value = 99; globalThis.stolen = 1")
result = 1`;
    const honest = `import math
from pyodide.code import run_js
def evaluate(event):
    return f"{len('ab')} {math.floor(2.5)} {run_js('typeof stolen')} {event['outputs']['a']}"`;

    const first = await arena.run(poison);
    const session = await arena.sandbox().open(honest, { owner: anOwner("honest") });
    const next = await session.run({ outputs: { a: "b" } });
    await session.close();

    // It has broken the harness of its own process.
    expect(first).toMatchObject({ kind: "failure", reason: "PROTOCOL" });
    expect(next).toMatchObject({ kind: "value", value: "2 2 undefined b" });
  });

  test("leaves no state for another of the same code", async () => {
    const code = `import sys
sys.seen = getattr(sys, "seen", 0) + 1
def evaluate(event): return sys.seen`;

    const first = await arena.run(code);
    const next = await arena.run(code);

    expect([first, next]).toMatchObject([
      { kind: "value", value: 1 },
      { kind: "value", value: 1 },
    ]);
  });

  test("starts each event with globals of its own", async () => {
    const code = `count = globals().get("count", 0) + 1
result = count`;
    const session = await arena.sandbox().open(code);

    const got = [await session.run({}), await session.run({})];
    await session.close();

    expect(got).toMatchObject([
      { kind: "value", value: 1 },
      { kind: "value", value: 1 },
    ]);
  });

  test("has random numbers of its own, though all start from one snapshot", async () => {
    const code = "import random\nresult = str(random.random())";

    const first = await arena.run(code);
    const next = await arena.run(code);

    expect(first.kind).toBe("value");
    expect(next).not.toEqual(first);
  });
});
