// Streams of the OpenAI API: parts that pass, the end that is held back, the record, and answers
// that are not streams.

import { describe, expect, test } from "vitest";
import type { Keep } from "../../../src/generation/calls/answer-memory.ts";
import type { ReadAnswer } from "../../../src/generation/openai/answer.ts";
import {
  type AnswerGatherer,
  createAnswerGatherer,
} from "../../../src/generation/openai/answer-gatherer.ts";
import { readParts, toEventBytes } from "../../../src/generation/openai/event-stream.ts";
import { ProviderError } from "../../../src/generation/provider-error.ts";
import { usageFrom } from "../../../src/generation/usage.ts";
import { connectionOf } from "../generation/connections.ts";

const connection = connectionOf({});

type Passed = {
  /** Text of the parts before the end. */
  readonly text: string;
  /** Text of the end, which is held back until the generation is stored. */
  readonly end: string;
  readonly fault: ProviderError | undefined;
  readonly gatherer: AnswerGatherer;
  readonly answer: ReadAnswer;
};

type PassOptions = { choices?: number; keep?: Keep; needsFinish?: boolean };

/** Reads a stream that arrives in these pieces. */
async function pass(
  pieces: readonly string[],
  { choices = 1, keep = () => undefined, needsFinish = false }: PassOptions = {},
): Promise<Passed> {
  const chunks = pieces.map((piece) => Buffer.from(piece)).values();
  const source = { chunks: { next: async () => chunks.next() }, close: () => undefined };
  const gatherer = createAnswerGatherer(choices, keep);
  const stream = { kind: "stream", parts: readParts(source, connection) } as const;
  let text = "";
  let end = "";
  let fault: ProviderError | undefined;
  try {
    for await (const parts of gatherer.follow(stream, connection, needsFinish)) {
      const bytes = Buffer.from(toEventBytes(parts)).toString();
      if (gatherer.isDone()) end += bytes;
      else text += bytes;
    }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    fault = error;
  }
  return { text, end, fault, gatherer, answer: gatherer.answer() };
}

const toEvent = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

function chunkOf(delta: object, finish_reason: string | null = null, index = 0): string {
  const choices = [{ index, delta, finish_reason }];
  return toEvent({ id: "id-1", model: "m-2026", choices });
}

const hello = chunkOf({ role: "assistant", content: "Hel" }) + chunkOf({ content: "lo" });
const done = "data: [DONE]\n\n";

describe("a stream of the OpenAI API", () => {
  test("passes whole events at once and holds the end back", async () => {
    const got = await pass([`${hello}${chunkOf({}, "stop")}${done}`]);

    expect(got).toMatchObject({ text: hello + chunkOf({}, "stop"), end: done, fault: undefined });
    expect(got.gatherer.isDone()).toBe(true);
  });

  test("holds back the first half of an end, too", async () => {
    const got = await pass([`${hello}data: [DO`, "NE]\n\n: bye\n\n"]);

    expect(got).toMatchObject({ text: hello, end: `${done}: bye\n\n` });
  });

  test.each([
    { name: "at once", toPieces: (text: string, more: string) => [text + more.repeat(100)] },
    {
      name: "piece by piece",
      toPieces: (text: string, more: string) => [text, ...Array.from({ length: 100 }, () => more)],
    },
  ])("keeps little of what comes behind the end, $name", async ({ toPieces }) => {
    const more = `: ${"x".repeat(30_000)}\n\n`;

    const got = await pass(toPieces(hello + done, more));

    expect(got).toMatchObject({ text: hello, end: done + more + more });
  });

  test("is complete with its end, although the connection then breaks", async () => {
    const pieces = [hello + done];
    const next = async () => {
      const piece = pieces.shift();
      if (piece === undefined) throw new Error("reset");
      return { done: false as const, value: Buffer.from(piece) };
    };

    const parts = readParts({ chunks: { next }, close: () => undefined }, connection);

    expect((await Array.fromAsync(parts)).at(-1)).toMatchObject([{ isDone: true }]);
  });

  test("counts lists and objects as what they take in memory", async () => {
    let kept = 0;
    const piece = chunkOf({ annotations: Array.from({ length: 1_000 }, () => ({})) });

    await pass([piece], { keep: (bytes) => (kept += bytes) });

    expect(kept).toBeGreaterThan(100_000);
  });

  test("records message, model, id, usage and the reason of the end", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

    const got = await pass([hello + chunkOf({}, "stop") + toEvent({ choices: [], usage }) + done]);

    expect(got.answer).toEqual({
      outputs: { role: "assistant", content: "Hello" },
      finishReasons: ["stop"],
      responseModel: "m-2026",
      responseId: "id-1",
      usage: { ...usageFrom(() => 0), input: 10, output: 2 },
    });
  });

  test("puts tool calls together", async () => {
    const call = (index: number, rest: object): string =>
      chunkOf({ tool_calls: [{ index, ...rest }] });

    const { answer } = await pass([
      chunkOf({ role: "assistant", content: null }),
      call(0, { id: "a", type: "function", function: { name: "f", arguments: "" } }),
      call(1, { id: "b", type: "function", function: { name: "g", arguments: "{}" } }),
      call(0, { function: { arguments: '{"x":' } }),
      call(0, { function: { arguments: "1}" } }),
    ]);

    expect(answer.outputs).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
        { id: "b", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    });
  });

  test.each([
    { name: "with one index", index: { index: 0 }, more: { index: 0 } },
    { name: "without an index", index: {}, more: {} },
  ])("keeps the calls of a server apart that sends them $name", async ({ index, more }) => {
    const call = (id: string, name: string, text: string): string =>
      chunkOf({
        tool_calls: [
          { ...index, id, type: "function", function: { name, arguments: text } },
          ...(id === "c" ? [{ ...more, id: "d", function: { name: "f", arguments: "{}" } }] : []),
        ],
      });

    const { answer } = await pass([
      call("a", "f", '{"x":1}'),
      call("b", "f", "{}"),
      call("c", "g", ""),
    ]);

    expect(answer.outputs["tool_calls"]).toEqual([
      { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
      { id: "b", type: "function", function: { name: "f", arguments: "{}" } },
      { id: "c", type: "function", function: { name: "g", arguments: "" } },
      { id: "d", function: { name: "f", arguments: "{}" } },
    ]);
  });

  test("puts one call together of which a part repeats the name or has another id", async () => {
    const part = (rest: object): string => chunkOf({ tool_calls: [{ index: 0, ...rest }] });

    const { answer } = await pass([
      part({ id: "a", function: { name: "f", arguments: "{" } }),
      part({ id: "a", function: { name: "f", arguments: '"x":' } }),
      part({ id: "b", function: { arguments: "1}" } }),
    ]);

    expect(answer.outputs["tool_calls"]).toEqual([
      { id: "b", function: { name: "f", arguments: '{"x":1}' } },
    ]);
  });

  test("keeps several choices apart", async () => {
    const pieces = [
      chunkOf({ role: "assistant", content: "b" }, null, 1),
      chunkOf({ role: "assistant", content: "a" }, "stop", 0),
      chunkOf({ content: "B" }, "length", 1),
    ];

    const { gatherer, answer } = await pass(pieces, { choices: 2 });

    expect(gatherer.isComplete()).toBe(true);
    expect(answer).toMatchObject({
      outputs: {
        choices: [
          { index: 0, role: "assistant", content: "a", finish_reason: "stop" },
          { index: 1, role: "assistant", content: "bB", finish_reason: "length" },
        ],
      },
      finishReasons: ["stop", "length"],
    });
  });

  test("is whole without [DONE] when every choice has ended", async () => {
    const text = hello + chunkOf({}, "stop");

    expect(await pass([text])).toMatchObject({ text, end: "", fault: undefined });
  });

  test.each([
    { name: "fewer choices than were asked for", text: hello + chunkOf({}, "stop") + done },
    { name: "an unfinished choice", text: hello + done, failure: "broken" },
    { name: "no choice", text: done, failure: "broken" },
  ])("of a chat ends with $name: $failure", async ({ text, failure }) => {
    const { fault } = await pass([text], { choices: 2, needsFinish: true });

    expect(fault?.failure).toBe(failure);
  });

  test("passes its last event without its blank line, too", async () => {
    const text = hello + chunkOf({}, "stop").trimEnd();

    expect(await pass([text])).toMatchObject({ text, fault: undefined });
  });

  test.each([
    { name: "a choice without its end", choices: 1, text: hello, passing: hello },
    {
      name: "a choice that never came",
      choices: 2,
      text: hello + chunkOf({}, "stop"),
      passing: hello + chunkOf({}, "stop"),
    },
    { name: "half an event", choices: 1, text: `${hello}data: {"choi`, passing: hello },
    {
      name: "nothing but comments",
      choices: 1,
      text: ": hello\n\n",
      passing: ": hello\n\n",
    },
  ])("is broken where it ends after $name", async ({ choices, text, passing }) => {
    const got = await pass([text], { choices });

    expect(got).toMatchObject({ text: passing, fault: { failure: "broken" } });
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
  ])("passes what comes before an event that is $name", async ({ text }) => {
    const got = await pass([`${hello}${text}${hello}`]);

    expect(got).toMatchObject({ text: hello, fault: { failure: "malformed" } });
  });

  test.each([
    { name: "of OpenAI's form", text: toEvent({ error: { message: "no" } }) },
    { name: "with other members before it", text: toEvent({ id: "1", error: { message: "no" } }) },
    { name: "that is one as a whole", text: toEvent({ object: "error", message: "no" }) },
    { name: "named so", text: `event: error\n${toEvent({ message: "no" })}` },
  ])("does not pass an error event $name", async ({ text }) => {
    const got = await pass([hello + text]);

    expect(got).toMatchObject({ text: hello, fault: { failure: "broken" } });
    expect(got.fault?.message).toContain("broke off with an error: no");
  });

  test("that begins with an error is an answer with a wrong status", async () => {
    const got = await pass([`: wait\n\n${toEvent({ error: { message: "no" } })}`]);
    const first = await pass([toEvent({ error: { message: "no" } })]);

    expect(got.fault).toMatchObject({ failure: "broken" });
    expect(first).toMatchObject({ text: "", fault: { failure: "status", status: 502 } });
  });

  test("takes `error: null` for no error", async () => {
    const text = toEvent({ choices: [], error: null }) + chunkOf({}, "stop");

    expect(await pass([text])).toMatchObject({ text, fault: undefined });
  });
});
