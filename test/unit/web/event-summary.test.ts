// The question and the answer of events in the conventions that senders use.

import { describe, expect, test } from "vitest";
import { summarizeEvent } from "../../../src/web/app/pages/traces/event-summary.ts";

const base64 = Buffer.alloc(12_000, 7).toString("base64");
const png = `data:image/png;base64,${base64}`;

describe("summarizeEvent finds the question in", () => {
  test.each([
    { name: "a chat history", inputs: { chat_history: [system("Be kind."), user("Why?")] } },
    { name: "messages of OpenAI", inputs: { messages: [user([{ type: "text", text: "Why?" }])] } },
    {
      name: "a conversation with later answers",
      inputs: { messages: [user("Why?"), said("So.")] },
    },
    { name: "parts of OpenTelemetry", inputs: { input_messages: [inParts("user", "Why?")] } },
    {
      name: "contents of Google",
      inputs: { contents: [{ role: "user", parts: [{ text: "Why?" }] }] },
    },
    { name: "messages of LangChain", inputs: { messages: [[{ type: "human", content: "Why?" }]] } },
    {
      name: "serialized messages of LangChain",
      inputs: { messages: [{ lc: 1, kwargs: { type: "human", content: "Why?" } }] },
    },
    { name: "a question", inputs: { question: "Why?" } },
    { name: "a query with settings", inputs: { query: "Why?", limit: 5 } },
    { name: "a prompt", inputs: { prompt: "Why?" } },
    { name: "an input", inputs: { input: "Why?" } },
    { name: "an envelope", inputs: { input: { data: { question: "Why?" } } } },
    { name: "JSON as text", inputs: { input: '{"messages":[{"role":"user","content":"Why?"}]}' } },
    { name: "one message", inputs: { role: "user", content: "Why?" } },
  ])("$name", ({ inputs }) => {
    expect(summarizeEvent({ inputs }).question).toBe("Why?");
  });
});

describe("summarizeEvent finds the answer in", () => {
  test.each([
    { name: "content", outputs: said("So.") },
    { name: "choices of OpenAI", outputs: { choices: [{ index: 0, message: said("So.") }] } },
    { name: "content blocks of Anthropic", outputs: said([{ type: "text", text: "So." }]) },
    { name: "output messages", outputs: { output_messages: [inParts("assistant", "So.")] } },
    { name: "generations of LangChain", outputs: { generations: [[{ text: "So." }]] } },
    {
      name: "candidates of Google",
      outputs: { candidates: [{ content: { role: "model", parts: [{ text: "So." }] } }] },
    },
    { name: "an answer", outputs: { answer: "So." } },
    { name: "a result", outputs: { result: "So." } },
    { name: "an output of a step", outputs: { output: { content: "So." } } },
  ])("$name", ({ outputs }) => {
    expect(summarizeEvent({ outputs }).answer).toBe("So.");
  });
});

describe("summarizeEvent", () => {
  test("names the tools that an answer calls, with their arguments", () => {
    const calls = [{ id: "1", function: { name: "find", arguments: '{"city":"Bern"}' } }];

    const { answer } = summarizeEvent({
      outputs: { role: "assistant", content: null, tool_calls: calls },
    });

    expect(answer).toBe("→ find(city: Bern)");
  });

  test("says what an image is instead of its bytes", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const inputs = { messages: [user([{ type: "text", text: "What is it?" }, image])] };

    expect(summarizeEvent({ inputs }).question).toBe("What is it? [image]");
  });

  test.each([
    {
      name: "a member",
      inputs: { photo: png, width: 64 },
      want: "photo: [image/png, 12 kB], width: 64",
    },
    {
      name: "a member deep inside",
      inputs: { page: { scan: png } },
      want: "page: {scan: [image/png, 12 kB]}",
    },
    { name: "the question", inputs: { input: png }, want: "[image/png, 12 kB]" },
    { name: "bare base64", inputs: { scan: base64 }, want: "scan: [base64, 12 kB]" },
    { name: "a list of images", inputs: { rows: [png] }, want: "rows: [[image/png, 12 kB]]" },
    {
      name: "a picture in Markdown",
      inputs: { text: `See ![it](${png})` },
      want: "See ![it]([image/png]",
    },
    // Too long to be parsed.
    {
      name: "JSON as text",
      inputs: JSON.stringify({ photo: png + base64 }),
      want: '{"photo":"[image/png]',
    },
  ])("names data in base64 instead of showing it: $name", ({ inputs, want }) => {
    expect(summarizeEvent({ inputs }).question).toBe(want);
  });

  test("outlines an object of no known convention", () => {
    const inputs = { rows: [{ id: 4711, state: "sent" }], isLast: true };

    expect(summarizeEvent({ inputs }).question).toBe(
      "rows: [{id: 4711, state: sent}], isLast: true",
    );
  });

  test.each([
    { name: "no inputs", inputs: undefined },
    { name: "empty inputs", inputs: {} },
    { name: "empty texts", inputs: { question: "  \n " } },
    { name: "no messages", inputs: { chat_history: [] } },
  ])("says nothing of $name", ({ inputs }) => {
    expect(summarizeEvent({ inputs }).question).toBeUndefined();
  });

  test("makes one short line of megabytes, newlines and marks that turn the direction", () => {
    const question = `a\n\u202e b\u0000${"x".repeat(3_000_000)}`;

    const line = summarizeEvent({ inputs: { question } }).question ?? "";

    expect(line.startsWith("a b")).toBe(true);
    expect(line.length).toBeLessThan(300);
    expect(line.endsWith("…")).toBe(true);
  });

  test("ends at a depth, whatever is inside", () => {
    let nested: unknown = "deep";
    for (let depth = 0; depth < 10_000; depth += 1) nested = { data: nested };

    expect(summarizeEvent({ inputs: nested }).question).toContain("…");
  });
});

function user(content: unknown) {
  return { role: "user", content };
}

function system(content: string) {
  return { role: "system", content };
}

function said(content: unknown) {
  return { role: "assistant", content };
}

function inParts(role: string, content: string) {
  return { role, parts: [{ type: "text", content }] };
}
