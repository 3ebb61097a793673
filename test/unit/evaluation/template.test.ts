// Tests prompts of judges: their placeholders, what fills them, and whether they read ground truth.

import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.ts";
import {
  fillTemplate,
  parseTemplate,
  readsGroundTruth,
} from "../../../src/evaluation/runner/judge/template.ts";

const event = {
  event_name: "answer",
  error: null,
  inputs: {
    question: "Why?",
    "a.b": { c: "longest key" },
    a: { b: { c: "nested", d: "only nested" } },
    "user name": "Ada",
    messages: [{ content: "one" }, { content: "two" }],
    braces: "{{ outputs.content }}",
    zero: 0,
  },
  outputs: { content: "Because.", list: [1, "x"], none: null },
  feedback: { ground_truth: { text: "So." } },
};

function templateOf(prompt: string) {
  const parsed = parseTemplate(prompt);
  if ("fault" in parsed) throw new Error(parsed.fault.message);
  return parsed.template;
}

function fill(prompt: string): string | undefined {
  return fillTemplate(templateOf(prompt), event)?.text;
}

describe("fillTemplate", () => {
  test.each([
    { prompt: "no placeholder", want: "no placeholder" },
    { prompt: "", want: "" },
    { prompt: "Q: {{ inputs.question }} A: {{outputs.content}}", want: "Q: Why? A: Because." },
    { prompt: "{{\n  inputs.question\n}}", want: "Why?" },
    { prompt: "{{ event.inputs.question }}", want: "Why?" },
    { prompt: "{{ event_name }}", want: "answer" },
    { prompt: "{{ inputs.zero }}", want: "0" },
    { prompt: "{{ outputs.list }}", want: '[1,"x"]' },
    { prompt: "{{ feedback }}", want: '{"ground_truth":{"text":"So."}}' },
    { prompt: "{{ feedback.ground_truth }}", want: '{"text":"So."}' },
    { prompt: "{{ feedback.ground_truth.text }}", want: "So." },
    { prompt: "{{ inputs.messages.1.content }}", want: "two" },
    { prompt: "{{ inputs.messages[0].content }}", want: "one" },
    { prompt: "{{ inputs.user name }}", want: "Ada" },
    { prompt: "{{ inputs.a.b.c }}", want: "longest key" },
    { prompt: "{{ inputs.a.b.d }}", want: "only nested" },
    // The text of an event is not a prompt.
    { prompt: "{{ inputs.braces }}", want: "{{ outputs.content }}" },
    // Braces around a placeholder, and JSON.
    { prompt: '{"q": {"x": "{{ inputs.question }}"}}', want: '{"q": {"x": "Why?"}}' },
    { prompt: '{"q": {{{ outputs.content }}}}', want: '{"q": {Because.}}' },
    { prompt: "}} {x} { {", want: "}} {x} { {" },
    // Absent.
    { prompt: "[{{ inputs.nothing }}]", want: "[]" },
    { prompt: "[{{ inputs.question.length }}]", want: "[]" },
    { prompt: "[{{ inputs.messages.7.content }}{{ inputs.messages.length }}]", want: "[]" },
    { prompt: "[{{ error }}{{ outputs.none }}{{ inputs.constructor }}]", want: "[]" },
  ])("$prompt", ({ prompt, want }) => {
    expect(fill(prompt)).toBe(want);
  });

  test("names once what is absent", () => {
    const template = templateOf("{{ inputs.x.y }} {{ inputs.x.y }} {{ error }} {{ inputs.zero }}");

    expect(fillTemplate(template, event)?.absent).toEqual(["inputs.x.y", "error"]);
  });

  test("fills no more than a model could read", () => {
    const template = templateOf("{{ inputs.long }}".repeat(5));

    expect(fillTemplate(template, { inputs: { long: "x".repeat(1_000_000) } })).toBeUndefined();
  });
});

/** An object with a value behind every way to read `a.a.a…` of so many parts. */
function everyWay(parts: number): JsonValue {
  const lengths = Array.from({ length: parts }, (_, index) => index + 1);
  const entries = lengths.map((length) => [
    "a.".repeat(length).slice(0, -1),
    everyWay(parts - length),
  ]);
  return parts === 0 ? null : (Object.fromEntries(entries) as JsonObject);
}

test("gives up on an event made to be looked through for ever", () => {
  const inputs = everyWay(13);
  const placeholder = `{{ inputs${".a".repeat(13)}.b }}`;

  // Two thousand of them would block the event loop for 8 s.
  expect(fillTemplate(templateOf(placeholder.repeat(2_000)), { inputs })).toBeUndefined();
  expect(fillTemplate(templateOf(placeholder), { inputs })?.text).toBe("");
});

describe("parseTemplate", () => {
  test.each([
    { prompt: "{{ inputs.x", line: 1, column: 1, says: "not closed" },
    { prompt: "a\nbc {{ input.x }}", line: 2, column: 4, says: "`input`" },
    { prompt: "{{ inputs.x }} {{ }}", line: 1, column: 16, says: "must name a value" },
    { prompt: "{{ inputs..x }}", line: 1, column: 1, says: "empty part" },
    { prompt: "{{ inputs. }}", line: 1, column: 1, says: "empty part" },
    { prompt: "{{ inputs.x | upper }}", line: 1, column: 1, says: "must name a value" },
    { prompt: "{{ inputs.get('x') }}", line: 1, column: 1, says: "must name a value" },
    { prompt: '{{"score": 1}}', line: 1, column: 1, says: "must name a value" },
    { prompt: "{{ constructor }}", line: 1, column: 1, says: "`constructor`" },
    { prompt: `{{ inputs${".x".repeat(16)} }}`, line: 1, column: 1, says: "16 parts" },
    { prompt: "{{ inputs.x {{ inputs.y }}", line: 1, column: 1, says: "must name a value" },
  ])("refuses $prompt", ({ prompt, line, column, says }) => {
    expect(parseTemplate(prompt)).toMatchObject({
      fault: { line, column, message: expect.stringContaining(says) as string },
    });
  });

  test("takes long prompts of nothing but braces", () => {
    for (const odd of ["{", "{{", "}}", "{{ ", "{{ inputs.x }}", "{{ inputs[0"]) {
      const prompt = odd.repeat(100_000 / odd.length);

      expect(parseTemplate(prompt)).toBeDefined();
    }
  });
});

describe("readsGroundTruth", () => {
  test.each([
    { prompt: "{{ feedback.ground_truth }}", want: true },
    { prompt: "x {{feedback.ground_truth.answer.0}} y", want: true },
    { prompt: "{{ event.feedback.ground_truth }}", want: true },
    { prompt: '{"expected": {{{ feedback.ground_truth }}}}', want: true },
    { prompt: "{{ feedback }} {{ event }}", want: false },
    { prompt: "{{ feedback.ground_truths }}", want: false },
    { prompt: "{{ inputs.ground_truth }} feedback.ground_truth", want: false },
    { prompt: "{{ inputs.feedback.ground_truth }}", want: false },
  ])("$prompt: $want", ({ prompt, want }) => {
    expect(readsGroundTruth(templateOf(prompt))).toBe(want);
  });
});
