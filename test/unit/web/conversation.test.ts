// The conversation of a session: each message once, although each call sends the history again.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toCallMessages, toTurns } from "../../../src/web/app/pages/session/conversation.ts";
import { mediaIn, messagesOf } from "../../../src/web/app/pages/session/event-messages.ts";

type Sent = { readonly role: string; readonly content?: unknown } & Record<string, unknown>;

const user = (content: string): Sent => ({ role: "user", content });
const assistant = (content: string): Sent => ({ role: "assistant", content });

function turnsOf(...calls: readonly { readonly sent: readonly Sent[]; readonly answer?: Sent }[]) {
  return toTurns(
    calls.map(({ sent, answer }, event) => ({
      event,
      messages: messagesOf({ inputs: { messages: sent }, outputs: answer ?? {} }),
    })),
  );
}

/** Returns the texts of each turn's new messages. */
const textsOf = (turns: ReturnType<typeof turnsOf>) =>
  turns.map(({ messages }) =>
    messages.flatMap(({ parts }) =>
      parts.map((part) => (part.kind === "text" ? part.text : part.kind)),
    ),
  );

describe("toTurns", () => {
  test("shows what each call adds to the history", () => {
    const turns = turnsOf(
      { sent: [user("hello")], answer: assistant("hi") },
      { sent: [user("hello"), assistant("hi"), user("bye")], answer: assistant("see you") },
    );

    expect(textsOf(turns)).toEqual([
      ["hello", "hi"],
      ["bye", "see you"],
    ]);
    expect(turns.map(({ repeatedCount }) => repeatedCount)).toEqual([0, 2]);
  });

  test("shows a message once that is sent again without its reasoning", () => {
    const thought = { ...assistant("hi"), reasoning_content: "A greeting." };
    const turns = turnsOf(
      { sent: [user("hello")], answer: thought },
      { sent: [user("hello"), assistant("hi"), user("bye")], answer: assistant("see you") },
    );

    expect(turns.map(({ repeatedCount }) => repeatedCount)).toEqual([0, 2]);
    expect(turns[0]?.messages.at(-1)?.reasoning).toBe("A greeting.");
  });

  test.each([
    ["Anthropic", { type: "thinking", thinking: "A greeting.", signature: "x" }],
    ["the AI SDK", { type: "reasoning", text: "A greeting." }],
    ["OpenTelemetry", { type: "reasoning", content: "A greeting." }],
    ["Gemini", { thought: true, text: "A greeting." }],
  ])("tells what a model thought from what it says: %s", (_, thought) => {
    const answer = { role: "assistant", content: [thought, { type: "text", text: "hi" }] };

    const turns = turnsOf({ sent: [user("hello")], answer });

    expect(textsOf(turns)).toEqual([["hello", "hi"]]);
    expect(turns[0]?.messages.at(-1)?.reasoning).toBe("A greeting.");
  });

  test("shows words that a person says twice", () => {
    const first = [user("go on"), assistant("one")];
    const turns = turnsOf(
      { sent: [user("go on")], answer: assistant("one") },
      { sent: [...first, user("go on")], answer: assistant("two") },
      {
        sent: [...first, user("go on"), assistant("two"), user("go on")],
        answer: assistant("three"),
      },
    );

    expect(textsOf(turns)).toEqual([
      ["go on", "one"],
      ["go on", "two"],
      ["go on", "three"],
    ]);
  });

  test("says of a call that was tried again that it sent nothing new", () => {
    const turns = turnsOf(
      { sent: [user("hello")] },
      { sent: [user("hello")], answer: assistant("hi") },
    );

    expect(textsOf(turns)).toEqual([["hello"], ["hi"]]);
    expect(turns[1]?.repeatedCount).toBe(1);
  });

  test("gives the result of a tool to the turn of its call", () => {
    const call = {
      role: "assistant",
      tool_calls: [{ id: "call-1", type: "function", function: { name: "find", arguments: "{}" } }],
    };
    const result = { role: "tool", tool_call_id: "call-1", content: "found" };
    const turns = turnsOf(
      { sent: [user("where?")], answer: call },
      { sent: [user("where?"), call, result], answer: assistant("here") },
    );

    expect(textsOf(turns)).toEqual([["where?", "tool-call", "tool-result"], ["here"]]);
    expect(turns[1]?.repeatedCount).toBe(2);
  });

  test("shows each message of a growing history once, for any words", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("yes", "no", "go on"), { minLength: 1 }), (words) => {
        const history = words.flatMap((word) => [user(word), assistant(`to ${word}`)]);
        const calls = words.map((_, index) => ({
          sent: history.slice(0, 2 * index + 1),
          answer: history[2 * index + 1] as Sent,
        }));

        expect(textsOf(turnsOf(...calls)).flat()).toEqual(history.map(({ content }) => content));
      }),
    );
  });
});

describe("messagesOf", () => {
  const chat = [{ role: "user", parts: [{ kind: "text", text: "hello" }] }];

  test.each([
    { name: "chat_history", inputs: { chat_history: [user("hello")] } },
    { name: "messages", inputs: { messages: [user("hello")] } },
    { name: "one message", inputs: { input: user("hello") } },
    { name: "parts of Google", inputs: { messages: [{ role: "user", parts: ["hello"] }] } },
    {
      name: "parts of OpenTelemetry",
      inputs: { input: [{ role: "user", parts: [{ type: "text", content: "hello" }] }] },
    },
  ])("reads inputs as $name", ({ inputs }) => {
    expect(messagesOf({ inputs }).inputs).toEqual(chat);
  });

  test.each([
    { name: "a message", outputs: { role: "assistant", content: "hi" } },
    { name: "content alone", outputs: { content: "hi" } },
    { name: "choices", outputs: { choices: [{ message: { content: "hi" } }] } },
    { name: "messages", outputs: { messages: [assistant("hi")] } },
  ])("reads outputs as $name", ({ outputs }) => {
    const got = messagesOf({ outputs }).outputs;

    expect(got).toEqual([{ role: "assistant", parts: [{ kind: "text", text: "hi" }] }]);
  });

  const texts = (messages: ReturnType<typeof messagesOf>["inputs"]) =>
    messages.map(({ role, parts }) => [
      role,
      ...parts.map((part) => (part.kind === "text" ? part.text : part.kind)),
    ]);

  test.each([
    {
      name: "contents and candidates of Gemini",
      inputs: {
        systemInstruction: { parts: [{ text: "Be kind." }] },
        contents: [
          { role: "user", parts: [{ text: "Why?" }] },
          { role: "model", parts: [{ functionCall: { name: "find", args: { city: "Bern" } } }] },
          { parts: [{ functionResponse: { name: "find", response: { found: 1 } } }] },
        ],
      },
      outputs: { candidates: [{ content: { role: "model", parts: [{ text: "So." }] } }] },
      want: [
        ["system", "Be kind."],
        ["user", "Why?"],
        ["assistant", "tool-call"],
        ["user", "tool-result"],
        ["assistant", "So."],
      ],
    },
    {
      name: "contents of Gemini as one text",
      inputs: { contents: "Why?" },
      outputs: { candidates: [{ finishReason: "SAFETY" }] },
      want: [["user", "Why?"]],
    },
    {
      name: "the system prompt of Anthropic",
      inputs: { system: [{ type: "text", text: "Be kind." }], messages: [user("Why?")] },
      outputs: { role: "assistant", content: [{ type: "text", text: "So." }] },
      want: [
        ["system", "Be kind."],
        ["user", "Why?"],
        ["assistant", "So."],
      ],
    },
    ...[
      { inputs: { prompt: "Why?" }, outputs: { completion: "So." } },
      { inputs: { input: "Why?" }, outputs: { output: "So." } },
      { inputs: { question: "Why?" }, outputs: { answer: "So." } },
      { inputs: { prompt: "Why?" }, outputs: { choices: [{ text: "So." }] } },
    ].map(({ inputs, outputs }) => ({
      name: JSON.stringify({ inputs, outputs }),
      inputs,
      outputs,
      want: [
        ["user", "Why?"],
        ["assistant", "So."],
      ],
    })),
  ])("reads a model event with $name", ({ inputs, outputs, want }) => {
    const got = messagesOf({ eventType: "model", inputs, outputs });

    expect(texts([...got.inputs, ...got.outputs])).toEqual(want);
  });

  test("reads no chat in the texts of a tool", () => {
    const texts = { inputs: { input: "Bern" }, outputs: { output: "rain" } };

    expect(messagesOf({ eventType: "tool", ...texts })).toEqual({ inputs: [], outputs: [] });
  });

  test("leaves other payloads to the view of their data", () => {
    const got = messagesOf({ inputs: { query: "hello" }, outputs: { rows: [1, 2] } });

    expect(got).toEqual({ inputs: [], outputs: [] });
  });

  test("shows every choice of a span, whose choices are messages", () => {
    const choices = [assistant("Sun."), assistant("Rain.")];

    const got = messagesOf({ eventType: "model", outputs: { ...assistant("Sun."), choices } });

    expect(texts(got.outputs)).toEqual([
      ["assistant", "Sun."],
      ["assistant", "Rain."],
    ]);
  });

  test("shows images that are in the event, and never one of another host", () => {
    const own = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const foreign = { type: "image_url", image_url: { url: "https://example.com/pixel.png" } };
    const script = { type: "image_url", image_url: { url: "javascript:alert(1)" } };

    const { inputs } = messagesOf({
      inputs: { messages: [{ role: "user", content: [own, foreign, script] }] },
    });

    expect(inputs[0]?.parts.map(({ kind }) => kind)).toEqual(["media", "json", "json"]);
  });

  const png = "data:image/png;base64,AAAA";
  test.each([
    { name: "OpenInference", part: { type: "image", image: { image: { url: png } } } },
    {
      name: "OpenTelemetry",
      part: { type: "blob", modality: "image", mime_type: "image/png", content: "AAAA" },
    },
    { name: "Pydantic AI", part: { type: "binary", media_type: "image/png", content: "AAAA" } },
    { name: "OpenLLMetry", part: { type: "uri", modality: "image", uri: png } },
    { name: "the AI SDK", part: { type: "blob", mime_type: null, content: png } },
    { name: "the AI SDK's earlier spans", part: { type: "image", image: png } },
    {
      name: "the AI SDK, as base64,",
      part: { type: "image", image: "AAAA", mediaType: "image/png" },
    },
  ])("shows images as $name writes them", ({ part }) => {
    const { inputs } = messagesOf({
      inputs: { chat_history: [{ role: "user", content: [{ type: "text", text: "Look" }, part] }] },
    });

    expect(inputs[0]?.parts[1]).toEqual({ kind: "media", media: "image", url: png });
  });

  test("shows no file of another type as an image", () => {
    const part = { type: "blob", mime_type: "application/pdf", content: "AAAA" };

    const { inputs } = messagesOf({
      inputs: { chat_history: [{ role: "user", content: [part] }] },
    });

    expect(inputs[0]?.parts).toEqual([{ kind: "json", value: part }]);
  });
});

describe("toCallMessages", () => {
  test("shows a payload of no known convention by its line in the list of traces", () => {
    const got = toCallMessages({ inputs: { query: "Why?" }, outputs: { rows: [1, 2] } });

    expect(got).toEqual({
      inputs: [{ role: "user", parts: [{ kind: "text", text: "Why?" }] }],
      outputs: [{ role: "assistant", parts: [{ kind: "text", text: "rows: [1, 2]" }] }],
    });
  });

  test("adds nothing to a call that has no answer", () => {
    const got = toCallMessages({ inputs: { messages: [user("Why?")] }, outputs: {} });

    expect(got.outputs).toEqual([]);
  });
});

describe("mediaIn", () => {
  test("finds images and audio at any depth, and nothing else", () => {
    const image = "data:image/png;base64,AAAA";
    const audio = "data:audio/wav;base64,AAAA";

    const found = mediaIn({ a: [{ b: image }], c: audio, d: "data:text/html;base64,AAAA", e: 1 });

    expect(found).toEqual([
      { media: "audio", url: audio },
      { media: "image", url: image },
    ]);
  });

  test("looks through values of any depth and width without end", () => {
    const deep = Array.from({ length: 5_000 }).reduce<unknown>((inner) => [inner], "end");
    const wide = Array.from({ length: 100_000 }, (_, index) => [index]);

    expect(mediaIn([deep, wide])).toEqual([]);
  });
});
