// Which code counts as reading the event's ground truth: told by Python's own parser when an
// evaluator is saved. Source: docs/decisions.md, 23.

import { describe, expect, test } from "vitest";
import { startSandbox } from "./start-sandbox.ts";
import { givenStarted } from "../support/given.ts";

type Snippet = { readonly name: string; readonly code: string };

/** The body of an evaluator, as its author writes it. */
function evaluate(...lines: readonly string[]): string {
  return ["def evaluate(event):", ...lines.map((line) => `    ${line}`)].join("\n");
}

const reads: readonly Snippet[] = [
  { name: "an index", code: evaluate('return event["feedback"]["ground_truth"] == 1') },
  { name: "an attribute", code: evaluate("return event.feedback.ground_truth == 1") },
  { name: "a get", code: evaluate('return event["feedback"].get("ground_truth") == 1') },
  {
    name: "chained gets with defaults",
    code: evaluate('return event.get("feedback", {}).get("ground_truth", "") == ""'),
  },
  {
    name: "a get with `or {}`",
    code: evaluate('return (event.get("feedback") or {}).get("ground_truth") == 1'),
  },
  { name: "the bucket in scope", code: 'result = feedback["ground_truth"] == outputs["content"]' },
  { name: "the bucket's attribute", code: "result = feedback.ground_truth" },
  { name: "an alias", code: evaluate('fb = event["feedback"]', 'return fb["ground_truth"]') },
  {
    name: "an alias of an alias",
    code: evaluate("e = event", 'fb = e.get("feedback")', "g = fb", 'return g["ground_truth"]'),
  },
  {
    name: "an alias of a method",
    code: evaluate('get = event["feedback"].get', 'return get("ground_truth")'),
  },
  {
    name: "unpacking",
    code: evaluate(
      'answer, fb = event["outputs"], event["feedback"]',
      'return answer == fb["ground_truth"]',
    ),
  },
  {
    name: "unpacking what a getter returns",
    code:
      "from operator import itemgetter\n" +
      evaluate('o, f = itemgetter("outputs", "feedback")(event)', 'return f["ground_truth"]'),
  },
  {
    name: "a parameter",
    code:
      'def truth(fb):\n    return fb["ground_truth"]\n' +
      evaluate('return truth(event["feedback"])'),
  },
  {
    name: "a parameter whose calls are not seen",
    code: 'def truth(fb):\n    return fb["ground_truth"]\ncheck = {"a": truth}',
  },
  {
    name: "a key passed to a function",
    code:
      "def field(d, key):\n    return d[key]\n" +
      evaluate('return field(feedback, "ground_truth")'),
  },
  {
    name: "a nested template",
    code: evaluate("return f\"{f'{event['feedback']['ground_truth']}'}\" == 'x'"),
  },
  {
    name: "a format with an index",
    code: evaluate('return "is {e[feedback][ground_truth]} it".format(e=event) == "x"'),
  },
  {
    name: "a format with an unpacked bucket",
    code: evaluate('return "the answer: {ground_truth}".format(**event["feedback"]) == "x"'),
  },
  {
    name: "a percent template",
    code: evaluate('return "it is %(ground_truth)s" % event["feedback"] == "x"'),
  },
  {
    name: "string.Template",
    code:
      "from string import Template\n" +
      evaluate('return Template("$ground_truth").substitute(event["feedback"]) == "x"'),
  },
  {
    name: "a template in double braces, filled by a function",
    code:
      "import re\nPROMPT = 'Is it {{ feedback.ground_truth }}?'\n" +
      evaluate('return re.sub("{{(.*?)}}", lambda m: look(event, m[1]), PROMPT) == "x"') +
      "\ndef look(value, path):\n" +
      '    for part in path.strip().split("."):\n        value = value[part]\n    return value',
  },
  {
    name: "operator.itemgetter",
    code:
      "import operator\n" +
      evaluate('return operator.itemgetter("ground_truth")(event["feedback"])'),
  },
  {
    name: "operator.attrgetter",
    code:
      "import operator\n" + evaluate('return operator.attrgetter("feedback.ground_truth")(event)'),
  },
  { name: "getattr", code: evaluate('return getattr(event["feedback"], "ground_truth", None)') },
  { name: "a walrus", code: evaluate('return (fb := event["feedback"]) and fb["ground_truth"]') },
  {
    name: "a match pattern",
    code: evaluate(
      "match event:",
      '    case {"feedback": {"ground_truth": gt}}:',
      "        return gt",
    ),
  },
  {
    name: "a match on the bucket",
    code: evaluate('match event["feedback"]:', '    case {"ground_truth": gt}: return gt'),
  },
  {
    name: "a constant as the key",
    code: `KEY = "ground_truth"\n${evaluate('return event["feedback"][KEY]')}`,
  },
  {
    name: "a path in a constant, walked in a loop",
    code:
      'PATH = ("feedback", "ground_truth")\n' +
      evaluate("value = event", "for key in PATH: value = value[key]", "return value"),
  },
  {
    name: "a dotted path given to a function of its own",
    code:
      "from functools import reduce\n" +
      'def dig(d, path):\n    return reduce(lambda a, k: a[k], path.split("."), d)\n' +
      evaluate('return dig(event, "feedback.ground_truth")'),
  },
  {
    name: "a dotted path given to a function that cannot be seen",
    code: `from somewhere import dig\n${evaluate('return dig(event, "feedback.ground_truth")')}`,
  },
  {
    name: "an object's attribute",
    code:
      "class Case:\n    def __init__(self, event):\n        self.fb = event['feedback']\n" +
      "    def score(self):\n        return self.fb['ground_truth']\n" +
      evaluate("return Case(event).score()"),
  },
  {
    name: "a dict that holds the bucket",
    code: evaluate('d = {"fb": event["feedback"]}', 'return d["fb"]["ground_truth"]'),
  },
  {
    name: "a copy of the event",
    code:
      "import json\n" +
      evaluate('return json.loads(json.dumps(event))["feedback"]["ground_truth"]'),
  },
  { name: "a membership test", code: evaluate('return "ground_truth" in event["feedback"]') },
  {
    name: "a loop over the keys",
    code: evaluate(
      'for key, value in event["feedback"].items():',
      '    if key == "ground_truth": return value',
    ),
  },
  {
    name: "a comprehension",
    code: evaluate('return [f["ground_truth"] for f in [event["feedback"]]][0]'),
  },
  {
    name: "a conditional",
    code: evaluate('fb = event["feedback"] if event else {}', 'return fb["ground_truth"]'),
  },
  {
    name: "a closure",
    code: evaluate(
      'fb = event["feedback"]',
      "def inner():",
      '    return fb["ground_truth"]',
      "return inner()",
    ),
  },
  {
    name: "an async function",
    code: 'async def evaluate(event):\n    return event["feedback"]["ground_truth"]',
  },
  { name: "an unknown base", code: 'result = load_case()["ground_truth"]' },
  { name: "globals()", code: 'result = globals()["feedback"]["ground_truth"]' },
  {
    name: "partial",
    code:
      "from functools import partial\ndef dig(d, *keys):\n    for k in keys: d = d[k]\n" +
      `    return d\n${evaluate('return partial(dig, event)("feedback", "ground_truth")')}`,
  },
  { name: "pop", code: evaluate('return event["feedback"].pop("ground_truth")') },
  {
    name: "an escaped key",
    code: evaluate(String.raw`return event["feedback"]["\x67round_truth"]`),
  },
];

/** Code that only may read it, or does not: in doubt, it counts as read. */
const doubtful: readonly Snippet[] = [
  {
    name: "a message",
    code: evaluate('raise ValueError("no feedback.ground_truth: ground_truth")'),
  },
  { name: "an error's whole text", code: evaluate('raise KeyError("ground_truth")') },
  { name: "what is printed", code: evaluate('print("ground_truth", event)', "return 1") },
  { name: "the inputs' key", code: evaluate('return event["inputs"]["ground_truth"] == 1') },
  {
    name: "the inputs' key by get",
    code: evaluate('return event.get("inputs", {}).get("ground_truth")'),
  },
  { name: "the inputs in scope", code: 'result = inputs["ground_truth"] == outputs.ground_truth' },
  {
    name: "an alias of the metadata",
    code: evaluate('m = event["metadata"]', 'return m["ground_truth"]'),
  },
  {
    name: "a template's own placeholder",
    code: evaluate('return "{ground_truth}".format(ground_truth=event["inputs"]["expected"])'),
  },
  { name: "writing the key", code: evaluate('event["feedback"]["ground_truth"] = 1', "return 1") },
  { name: "deleting the key", code: evaluate('del event["feedback"]["ground_truth"]', "return 1") },
  {
    name: "a dict's key",
    code: evaluate('return {"result": 1, "explanation": str({"ground_truth": 2})}'),
  },
  { name: "an explanation", code: evaluate('return 1, "feedback.ground_truth"') },
  {
    name: "the inputs' own feedback",
    code: evaluate('return event["inputs"]["feedback"]["ground_truth"]'),
  },
  {
    name: "JSON in the answer",
    code:
      "import json\n" + evaluate('return json.loads(event["outputs"]["content"])["ground_truth"]'),
  },
  {
    name: "a word looked for in the answer",
    code: evaluate('return "ground_truth" in event["outputs"]["content"]'),
  },
  {
    name: "a word replaced in the answer",
    code: evaluate('return len(event["outputs"]["content"].replace("ground_truth", ""))'),
  },
  {
    name: "a function given the inputs",
    code: `def pick(d):\n    return d["ground_truth"]\n${evaluate('return pick(event["inputs"])')}`,
  },
  {
    name: "an object's own attribute",
    code:
      "from dataclasses import dataclass\n@dataclass\nclass Case:\n    ground_truth: str\n" +
      evaluate('case = Case(event["inputs"]["x"])', "return case.ground_truth == 1"),
  },
  {
    name: "a match on the inputs",
    code: evaluate('match event["inputs"]:', '    case {"ground_truth": gt}: return gt'),
  },
  {
    name: "a sort key over rows of the inputs",
    code: evaluate('return sorted(inputs["rows"], key=lambda r: r["ground_truth"])[0]["id"]'),
  },
  { name: "another word", code: evaluate('return event["feedback"]["ground_truth_source"]') },
];

const others: readonly Snippet[] = [
  { name: "a comment", code: `${evaluate("return 1")}  # event["feedback"]["ground_truth"]` },
  {
    name: "a docstring",
    code: evaluate('"""Compares with event["feedback"]["ground_truth"]."""', "return 1"),
  },
  { name: "a local variable", code: evaluate("ground_truth = 4", "return ground_truth") },
  {
    name: "a local variable in a template",
    code: evaluate('ground_truth = event["inputs"]["x"]', 'return f"{ground_truth}"'),
  },
  { name: "a keyword", code: evaluate('return str(dict(ground_truth=event["inputs"]["x"]))') },
  { name: "another feedback", code: evaluate('return event["feedback"]["rating"]') },
];

const sandbox = givenStarted(startSandbox, (one) => one.close());

describe("code that reads the ground truth", () => {
  test.each(reads)("is told by $name", async ({ code }) => {
    expect(await sandbox.inspect(code)).toEqual({ readsGroundTruth: true });
  });
});

describe("code that names the ground truth for something else", () => {
  test.each(doubtful)("counts as reading it: $name", async ({ code }) => {
    expect(await sandbox.inspect(code)).toEqual({ readsGroundTruth: true });
  });
});

describe("code that does not", () => {
  test.each(others)("may have $name", async ({ code }) => {
    expect(await sandbox.inspect(code)).toEqual({ readsGroundTruth: false });
  });
});
