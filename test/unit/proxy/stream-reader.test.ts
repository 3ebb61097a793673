// Streams of the OpenAI API: what passes, what is held back, what is recorded, and what is no
// answer.

import { describe, expect, test } from "vitest";
import {
  createStreamReader,
  type StreamReader,
} from "../../../src/generation/openai/stream-reader.ts";

function openReader(choices = 1): StreamReader {
  return createStreamReader(choices, () => undefined);
}

const toEvent = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

function chunkOf(delta: object, finish_reason: string | null = null, index = 0): string {
  const choices = [{ index, delta, finish_reason }];
  return toEvent({ id: "id-1", model: "m-2026", choices });
}

/** Gives a text to a reader, and returns what passed. */
function pass(reader: StreamReader, text: string): string {
  return Buffer.from(reader.push(Buffer.from(text)) ?? []).toString();
}

const hello = chunkOf({ role: "assistant", content: "Hel" }) + chunkOf({ content: "lo" });
const done = "data: [DONE]\n\n";

describe("createStreamReader", () => {
  test("passes whole events at once and holds the end back", () => {
    const reader = openReader();

    expect(pass(reader, `${hello}${chunkOf({}, "stop")}${done}`)).toBe(hello + chunkOf({}, "stop"));
    expect(reader.isDone()).toBe(true);
    expect(reader.end()).toBeUndefined();
    expect(Buffer.from(reader.held()).toString()).toBe(done);
  });

  test("holds back the first half of an end, too", () => {
    const reader = openReader();

    expect(pass(reader, `${hello}data: [DO`)).toBe(hello);
    expect(pass(reader, "NE]\n\n: bye\n\n")).toBe("");
    expect(Buffer.from(reader.held()).toString()).toBe(`${done}: bye\n\n`);
  });

  test("keeps little of what comes behind the end", () => {
    const reader = openReader();
    const more = `: ${"x".repeat(30_000)}\n\n`;

    pass(reader, hello + done + more.repeat(100));

    expect(Buffer.from(reader.held()).toString()).toBe(done + more + more);
  });

  test("counts lists and objects as what they take in memory", () => {
    let kept = 0;
    const reader = createStreamReader(1, (bytes) => (kept += bytes));

    pass(reader, chunkOf({ annotations: Array.from({ length: 1_000 }, () => ({})) }));

    expect(kept).toBeGreaterThan(100_000);
  });

  test("records message, model, id, usage and the reason of the end", () => {
    const reader = openReader();
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
    pass(reader, hello + chunkOf({}, "stop") + toEvent({ choices: [], usage }) + done);

    expect(reader.answer()).toEqual({
      outputs: { role: "assistant", content: "Hello" },
      finishReasons: ["stop"],
      responseModel: "m-2026",
      responseId: "id-1",
      usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 },
    });
  });

  test("puts tool calls together", () => {
    const reader = openReader();
    const call = (index: number, rest: object): string =>
      chunkOf({ tool_calls: [{ index, ...rest }] });
    pass(reader, chunkOf({ role: "assistant", content: null }));
    pass(reader, call(0, { id: "a", type: "function", function: { name: "f", arguments: "" } }));
    pass(reader, call(1, { id: "b", type: "function", function: { name: "g", arguments: "{}" } }));
    pass(reader, call(0, { function: { arguments: '{"x":' } }));
    pass(reader, call(0, { function: { arguments: "1}" } }));

    expect(reader.answer().outputs).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
        { id: "b", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    });
  });

  test("keeps several choices apart", () => {
    const reader = openReader(2);
    pass(reader, chunkOf({ role: "assistant", content: "b" }, null, 1));
    pass(reader, chunkOf({ role: "assistant", content: "a" }, "stop", 0));
    pass(reader, chunkOf({ content: "B" }, "length", 1));

    expect(reader.isWhole()).toBe(true);
    expect(reader.answer()).toMatchObject({
      outputs: {
        choices: [
          { index: 0, role: "assistant", content: "a", finish_reason: "stop" },
          { index: 1, role: "assistant", content: "bB", finish_reason: "length" },
        ],
      },
      finishReasons: ["stop", "length"],
    });
  });

  test("takes a stream without [DONE] for whole when every choice has ended", () => {
    const reader = openReader();
    pass(reader, hello + chunkOf({}, "stop"));

    expect(reader.end()).toBeUndefined();
    expect(reader.held()).toHaveLength(0);
  });

  test("passes the last event of a stream that ends without its blank line", () => {
    const reader = openReader();
    const last = chunkOf({}, "stop").trimEnd();
    pass(reader, hello + last);

    expect(Buffer.from(reader.end() ?? []).toString()).toBe(last);
  });

  test.each([
    { name: "a choice without its end", choices: 1, text: hello },
    { name: "a choice that never came", choices: 2, text: hello + chunkOf({}, "stop") },
    { name: "half an event", choices: 1, text: `${hello}data: {"choi` },
    { name: "nothing but comments", choices: 1, text: ": hello\n\n" },
  ])("calls a stream broken that ends after $name", ({ choices, text }) => {
    const reader = openReader(choices);
    pass(reader, text);

    expect(reader.fault()).toBeUndefined();
    reader.end();
    expect(reader.fault()).toEqual({ kind: "broken" });
  });

  test.each([
    { name: "no JSON", text: "data: {oops\n\n" },
    { name: "no object", text: "data: [1]\n\n" },
    {
      name: "a number beyond all",
      text: 'data: {"choices":[{"index":0,"delta":{"x":1e999}}]}\n\n',
    },
    { name: "a deep well", text: `data: {"x":${"[".repeat(500)}${"]".repeat(500)}}\n\n` },
    {
      name: "more choices than there are",
      text: toEvent({ choices: Array.from({ length: 129 }, (_, index) => ({ index, delta: {} })) }),
    },
  ])("passes what comes before an event that is $name", ({ text }) => {
    const reader = openReader();

    expect(pass(reader, `${hello}${text}${hello}`)).toBe(hello);
    expect(reader.fault()).toEqual({ kind: "malformed" });
  });

  test.each([
    { name: "of OpenAI's form", text: toEvent({ error: { message: "no" } }) },
    { name: "with other members before it", text: toEvent({ id: "1", error: { message: "no" } }) },
    { name: "that is one as a whole", text: toEvent({ object: "error", message: "no" }) },
    { name: "named so", text: `event: error\n${toEvent({ message: "no" })}` },
  ])("does not pass an error event $name", ({ text }) => {
    const reader = openReader();

    expect(pass(reader, hello + text)).toBe(hello);
    expect(reader.fault()?.kind).toBe("error");
  });

  test("takes `error: null` for no error", () => {
    const text = toEvent({ choices: [], error: null });

    expect(pass(openReader(), text)).toBe(text);
  });
});
