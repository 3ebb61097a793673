// The result of an evaluator's code: the function that is called, the names in scope, the values
// that are scores, and the errors for all others. Source: docs/decisions.md, 22.3 and 22.4.

import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { PythonOutcome, PythonSession } from "../../src/evaluation/runner/python/sandbox.ts";
import { startMs, startSandbox } from "./start-sandbox.ts";
import { givenStarted } from "../support/given.ts";

const event: JsonObject = {
  event_id: "00000000-0000-4000-8000-000000000001",
  event_type: "model",
  inputs: { question: "2 + 2?" },
  outputs: { content: "It is 4" },
  feedback: { rating: 5 },
  metadata: null,
};

const sandbox = givenStarted(startSandbox, (one) => one.close());

/** Returns what the event says, as Python: one process serves every row of a table. */
let returning: PythonSession;

beforeAll(async () => {
  returning = await sandbox.open(
    "from enum import StrEnum\nfrom decimal import Decimal\n" +
      "def evaluate(event):\n    return eval(event['inputs']['returned'])",
  );
}, startMs);

async function run(code: string, events: readonly JsonObject[] = [event]) {
  const session = await sandbox.open(code);
  try {
    const outcomes: PythonOutcome[] = [];
    for (const one of events) outcomes.push(await session.run(one));
    return outcomes;
  } finally {
    await session.close();
  }
}

async function runOnce(code: string): Promise<PythonOutcome> {
  const [outcome] = await run(code);
  if (!outcome) throw new Error("no outcome");
  return outcome;
}

const value = (score: unknown, explanation?: string) => ({
  kind: "value",
  value: score,
  explanation,
  output: "",
});

describe("the evaluator", () => {
  test.each([
    { name: "is a function", code: "def evaluate(event):\n    return 1", want: 1 },
    {
      name: "is the one named evaluate, wherever it stands",
      code: "def evaluate(event):\n    return 1\ndef other(event):\n    return 2",
      want: 1,
    },
    { name: "is the one named evaluator", code: "def evaluator(e):\n    return 1", want: 1 },
    {
      name: "is else the last whose first parameter is event",
      code:
        "def first(event):\n    return 1\ndef last(event, scale=2):\n    return scale\n" +
        "def helper(text):\n    return 3",
      want: 2,
    },
    {
      name: "is else the only one that takes one argument",
      code: "def two(a, b):\n    return a\ndef check(record):\n    return two(7, 8)",
      want: 7,
    },
    { name: "is a lambda", code: "evaluate = lambda event: len(event)", want: 6 },
    {
      name: "is decorated",
      code:
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n" +
        "    def inner(*a):\n        return 2 * f(*a)\n    return inner\n" +
        "@twice\ndef check(event):\n    return 4",
      want: 8,
    },
    {
      name: "is an object that can be called",
      code: "class Check:\n    def __call__(self, event):\n        return 5\nevaluate = Check()",
      want: 5,
    },
    { name: "takes no argument", code: "def evaluate():\n    return len(inputs)", want: 1 },
    {
      name: "is no import",
      code: "from json import loads, dumps\ndef check(record):\n    return 1",
      want: 1,
    },
    { name: "is plain code that sets result", code: "result = len(outputs['content'])", want: 7 },
    {
      name: "is plain code before any function",
      code: "def score(event):\n    return 1\nresult = score(event) + 1",
      want: 2,
    },
    {
      name: "is async",
      code:
        "import asyncio\nasync def evaluate(event):\n" +
        "    a, b = await asyncio.gather(asyncio.sleep(0.001, 3), asyncio.sleep(0, 4))\n" +
        "    return a + b",
      want: 7,
    },
    {
      name: "is plain code that awaits by asyncio.run",
      code:
        "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    return 6\n" +
        "result = asyncio.run(main())",
      want: 6,
    },
    {
      name: "is plain code that leaves a coroutine",
      code: "async def score(event):\n    return 6\nresult = score(event)",
      want: 6,
    },
  ])("$name", async ({ code, want }) => {
    expect(await runOnce(code)).toEqual(value(want));
  });
});

describe("in scope", () => {
  test("is the event, and each of its buckets", async () => {
    const code =
      "result = event['event_type'], str([inputs, outputs, feedback, metadata, metrics, config])";

    expect(await runOnce(code)).toEqual(
      value("model", "[{'question': '2 + 2?'}, {'content': 'It is 4'}, {'rating': 5}, {}, {}, {}]"),
    );
  });

  test("is nothing of the event before", async () => {
    const code =
      "seen = globals().get('seen', 0) + 1\n" +
      "def evaluate(event):\n    event['inputs']['seen'] = seen\n    return str(event['inputs'])";

    const outcomes = await run(code, [event, event, { inputs: { a: 1 } }]);

    const want = "{'question': '2 + 2?', 'seen': 1}";
    expect(outcomes).toEqual([value(want), value(want), value("{'a': 1, 'seen': 1}")]);
  });

  test("are text and numbers of every kind, as they were sent", async () => {
    const inputs = { text: 'a "b"\n\u0000 é 漢 😀', big: 1e300, small: -0.5, yes: true, no: null };
    const code = "import json\nresult = json.dumps(inputs, ensure_ascii=False)";

    const [outcome] = await run(code, [{ inputs }]);

    expect(outcome).toMatchObject({ kind: "value", value: expect.any(String) as string });
    const text = outcome?.kind === "value" ? outcome.value : undefined;
    expect(JSON.parse(text as string)).toEqual(inputs);
  });

  test("is an event of 16 MB", async () => {
    const inputs = { texts: Array.from({ length: 16 }, () => "é".repeat(500_000)) };

    const outcomes = await run("result = sum(map(len, inputs['texts']))", [{ inputs }, { inputs }]);

    expect(outcomes).toEqual([value(8_000_000), value(8_000_000)]);
  });
});

describe("what may be imported", () => {
  test.each([
    {
      name: "Python's own modules",
      code:
        "import re, json, math, statistics, difflib, datetime, collections, itertools, string, " +
        "unicodedata, textwrap, hashlib, random, decimal, fractions, dataclasses, typing, csv\n" +
        "result = difflib.SequenceMatcher(None, 'abcd', 'abce').ratio()",
      want: 0.75,
    },
    {
      name: "dataclasses with annotations as text",
      code:
        "from __future__ import annotations\nfrom dataclasses import dataclass\n" +
        "@dataclass\nclass Case:\n    a: int\n    b: list[str]\nresult = Case(1, []).a",
      want: 1,
    },
    {
      name: "jsonschema",
      code:
        "import jsonschema\nschema = {'type': 'object', 'required': ['a'],\n" +
        "  'properties': {'a': {'$ref': '#/$defs/n'}}, '$defs': {'n': {'minimum': 3}}}\n" +
        "validator = jsonschema.Draft202012Validator(schema)\n" +
        "errors = [e.message for e in validator.iter_errors({'a': 1})]\n" +
        "result = (not errors, errors[0])",
      want: false,
      explanation: "1 is less than the minimum of 3",
    },
    {
      name: "sqlglot, with its dialects",
      code:
        "import sqlglot\n" +
        "sql = 'SELECT a FROM t LIMIT 3'\n" +
        "result = sqlglot.transpile(sql, read='mysql', write='tsql')[0]",
      want: "SELECT TOP 3 a FROM t",
    },
  ])("is $name", async ({ code, want, explanation }) => {
    expect(await runOnce(code)).toEqual(value(want, explanation));
  });
});

describe("a score", () => {
  test.each([
    { name: "a bool", returned: "True", want: true },
    { name: "an int", returned: "2**53", want: 2 ** 53 },
    { name: "a float", returned: "0.1 + 0.2", want: 0.1 + 0.2 },
    { name: "a string", returned: "'good 😀'", want: "good 😀" },
    { name: "an enumeration's text", returned: "StrEnum('E', {'A': 'a'}).A", want: "a" },
    { name: "with an explanation", returned: "(0.5, 'half')", want: 0.5, explanation: "half" },
    { name: "with no explanation after all", returned: "(0.5, None)", want: 0.5 },
    {
      name: "with an explanation made text",
      returned: "(1, ['a'])",
      want: 1,
      explanation: "['a']",
    },
    { name: "a dict's result", returned: "{'result': 1, 'score': 2}", want: 1 },
    {
      name: "a dict's score",
      returned: "{'score': False, 'explanation': 'no', 'more': 1}",
      want: false,
      explanation: "no",
    },
  ])("is $name", async ({ returned, want, explanation }) => {
    expect(await returning.run({ inputs: { returned } })).toEqual(value(want, explanation));
  });

  test("of plain code has the explanation that it sets", async () => {
    expect(await runOnce("result = 1\nexplanation = 'because'")).toEqual(value(1, "because"));
  });

  test("keeps 10,000 characters of its explanation", async () => {
    const outcome = await runOnce("result = 1\nexplanation = 'x' * 20_000");

    expect(outcome).toEqual(value(1, `${"x".repeat(9_999)}…`));
  });
});

describe("no score", () => {
  test.each([
    { name: "NaN", returned: "float('nan')", message: "returned nan, which is no score" },
    { name: "infinity", returned: "(float('-inf'), 'x')", message: "returned -inf" },
    { name: "None", returned: "None", message: "returned None" },
    { name: "a dict's None", returned: "{'score': None}", message: "returned None" },
    { name: "a large int", returned: "2**53 + 1", message: "beyond 2**53" },
    { name: "a huge int", returned: "-10**100_000", message: "beyond 2**53" },
    { name: "a list", returned: "[1]", message: "returned a list; a score is a bool, int" },
    { name: "a dict of something else", returned: "{'a': 1}", message: 'without "result"' },
    { name: "three values", returned: "(1, 'a', 2)", message: "returned a tuple of 3" },
    { name: "a Decimal", returned: "Decimal('0.5')", message: "returned a Decimal" },
    { name: "a long string", returned: "'x' * 10_001", message: "more than 10000 characters" },
    { name: "a function", returned: "len", message: "returned a builtin_function_or_method" },
  ])("is $name", async ({ returned, message }) => {
    const outcome = await returning.run({ inputs: { returned } });

    expect(outcome).toMatchObject({ kind: "failure", reason: "RESULT" });
    expect(outcome).toHaveProperty("message", expect.stringContaining(message));
  });

  test.each([
    {
      name: "where nothing can be called",
      code: "def two(a, b):\n    return 1",
      message: "define `def evaluate(event):` and return the score from it, or set `result`",
    },
    {
      name: "where it cannot be told which function it is",
      code: "def one(a):\n    return 1\ndef two(b):\n    return 2",
      message: "which of one, two is the evaluator cannot be told: name it `evaluate`",
    },
    {
      name: "where evaluate needs more than the event",
      code: "def evaluate(outputs, inputs):\n    return 1",
      message: "evaluate() must be callable with one argument, the event",
    },
  ])("comes $name", async ({ code, message }) => {
    const outcome = await runOnce(code);

    expect(outcome).toMatchObject({ kind: "failure", reason: "RESULT" });
    expect(outcome).toHaveProperty("message", expect.stringContaining(message));
  });
});

describe("an exception", () => {
  test("is told with the lines of the evaluator's own code", async () => {
    const code =
      "import json\n\ndef read(text):\n    return json.loads(text)\n\n" +
      "def evaluate(event):\n    return read(event['outputs']['content'])";

    const outcome = await runOnce(code);

    expect(outcome).toEqual({
      kind: "failure",
      reason: "EXCEPTION",
      message: "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
      traceback:
        "Traceback (most recent call last):\n" +
        '  File "<evaluator>", line 7, in evaluate\n' +
        "    return read(event['outputs']['content'])\n" +
        '  File "<evaluator>", line 4, in read\n' +
        "    return json.loads(text)\n" +
        "           ~~~~~~~~~~^^^^^^\n" +
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
      output: "",
    });
  });

  test("is told with what it was raised from", async () => {
    const code =
      "class Odd(Exception): pass\n" +
      "def evaluate(event):\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n" +
      "        raise Odd('no') from e";

    const outcome = await runOnce(code);

    expect(outcome).toMatchObject({ reason: "EXCEPTION", message: "Odd: no" });
    expect(outcome).toHaveProperty("traceback", expect.stringContaining("division by zero"));
    expect(outcome).toHaveProperty("traceback", expect.stringContaining("direct cause"));
  });

  test.each([
    { name: "a missing key", body: "return event['nope']", message: "KeyError: 'nope'" },
    { name: "an exit", body: "raise SystemExit(3)", message: "SystemExit: 3" },
    { name: "an interrupt", body: "raise KeyboardInterrupt", message: "KeyboardInterrupt" },
    { name: "no text", body: "raise ValueError", message: "ValueError" },
    {
      name: "endless recursion",
      body: "return evaluate(event)",
      message: "RecursionError: maximum recursion depth exceeded",
    },
    {
      name: "code that is parsed at run time",
      body: "return eval('1 +')",
      message: "SyntaxError: invalid syntax",
    },
    {
      name: "waiting for what never comes",
      body: "import asyncio; return asyncio.run(asyncio.Event().wait())",
      message: "RuntimeError: the evaluator awaits something that nothing will ever finish",
    },
  ])("may be $name", async ({ body, message }) => {
    const outcome = await runOnce(`def evaluate(event):\n    ${body}`);

    expect(outcome).toMatchObject({ kind: "failure", reason: "EXCEPTION" });
    expect(outcome).toHaveProperty("message", expect.stringContaining(message));
  });

  test("that cannot be told is named all the same", async () => {
    const code =
      "class Sly(Exception):\n    def __str__(self): raise Sly()\n" +
      "def evaluate(event):\n    raise Sly()";

    const outcome = await runOnce(code);

    expect(outcome).toMatchObject({ kind: "failure", reason: "EXCEPTION" });
    expect(outcome).toHaveProperty("message", expect.stringContaining("Sly"));
  });

  test("is cut to 10,000 characters of traceback, its last line among them", async () => {
    const code = "def evaluate(event):\n    raise ValueError('x' * 50_000 + 'end')";

    const outcome = await runOnce(code);

    const { traceback = "", message } = outcome as { traceback?: string; message: string };
    expect(traceback.length).toBeLessThanOrEqual(10_000);
    expect(traceback).toMatch(/^Traceback [^]*xxend\n$/);
    expect(message).toHaveLength(2_000);
  });

  test("on one event says nothing of the next", async () => {
    const code = "result = 1 / inputs['n']";

    const outcomes = await run(code, [{ inputs: { n: 0 } }, { inputs: { n: 2 } }]);

    expect(outcomes).toMatchObject([{ reason: "EXCEPTION" }, { kind: "value", value: 0.5 }]);
  });
});

describe("what is printed", () => {
  test("is kept with the outcome, of this event alone", async () => {
    const code =
      "import sys\nprint(inputs['n'])\nprint('to stderr', file=sys.stderr)\n" +
      "result = 1 / inputs['n']";

    const outcomes = await run(code, [{ inputs: { n: 0 } }, { inputs: { n: 1 } }]);

    expect(outcomes.map(({ output }) => output)).toEqual(["0\nto stderr\n", "1\nto stderr\n"]);
  });
});

describe("memory", () => {
  test("that an evaluator used up is free for the next event", async () => {
    const code =
      "def evaluate(event):\n    count = event['inputs']['n']\n" +
      "    hog = [bytearray(1_000_000) for _ in range(count)]\n    return len(hog)";

    const outcomes = await run(code, [{ inputs: { n: 2_000 } }, { inputs: { n: 200 } }]);

    expect(outcomes).toMatchObject([
      { kind: "failure", reason: "MEMORY_LIMIT" },
      { kind: "value", value: 200 },
    ]);
  });
});

describe("inspecting", () => {
  test.each([
    {
      name: "a syntax error",
      code: "def evaluate(event):\n    return (1 +\n",
      fault: { message: "SyntaxError: '(' was never closed", line: 2, column: 12 },
    },
    {
      name: "an indentation error",
      code: "def evaluate(event):\nreturn 1",
      fault: {
        message: "IndentationError: expected an indented block after function definition on line 1",
        line: 2,
        column: 1,
      },
    },
    {
      name: "what only the compiler sees",
      code: "x = 1\nreturn x",
      fault: { message: "SyntaxError: 'return' outside function", line: 2, column: 1 },
    },
    {
      name: "columns in characters",
      code: "x = '😀é' +* 1",
      fault: { message: "SyntaxError: invalid syntax", line: 1, column: 11 },
    },
    {
      name: "a NUL",
      code: "result = 1\u0000",
      fault: {
        message: "SyntaxError: source code string cannot contain null bytes",
        line: 1,
        column: 1,
      },
    },
    {
      name: "code without an evaluator",
      code: "score = len(event)",
      fault: {
        message:
          "the code has no evaluator: define `def evaluate(event):` and return the score from " +
          "it, or set `result`",
        line: 1,
        column: 1,
      },
    },
    {
      name: "no code",
      code: "# later\n",
      fault: { message: expect.stringContaining("no evaluator") as string, line: 1, column: 1 },
    },
  ])("finds $name", async ({ code, fault }) => {
    expect(await sandbox.inspect(code)).toEqual({ fault });
  });

  test.each([
    { name: "a result in a branch", code: "if inputs:\n    result = 1" },
    { name: "an import of it", code: "from somewhere import evaluate" },
    { name: "an import of everything", code: "from somewhere import *" },
    { name: "exec", code: "exec(inputs['code'])" },
    { name: "a function in a branch", code: "if True:\n    def check(event): return 1" },
    { name: "a result unpacked", code: "result, explanation = 1, 'x'" },
    { name: "a doubtful escape", code: "result = '\\d'" },
  ])("lets $name pass", async ({ code }) => {
    expect(await sandbox.inspect(code)).toEqual({ readsGroundTruth: false });
  });

  test("runs nothing", async () => {
    const endless = "while True: pass\nresult = 1";

    expect(await sandbox.inspect(endless)).toEqual({ readsGroundTruth: false });
  });
});

test("code that cannot be compiled fails as such when it is run", async () => {
  const outcome = await runOnce("def evaluate(event)\n    return 1");

  expect(outcome).toMatchObject({ kind: "failure", reason: "CODE" });
  expect(outcome).toHaveProperty("message", expect.stringContaining("SyntaxError: expected ':'"));
});
