// Answers to chats have one form, however a server with the OpenAI API writes them.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { deltasOf, readWholeChat } from "../../../src/generation/chat/answer.ts";
import { givenStarted } from "../../support/given.ts";
import { startOpenAiStandIn } from "../../support/openai-stand-in.ts";
import { ask, targetAt } from "../../support/translated.ts";

const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

function read(message: JsonObject, finish_reason = "stop") {
  const choices = [{ index: 0, message, finish_reason }];
  return readWholeChat({ kind: "whole", json: { id: "1", model: "m", choices } });
}

describe("a chat's message", () => {
  test.each([
    {
      name: "leaves out members that only some servers send",
      message: { role: "assistant", content: "Hi", refusal: null, annotations: [], audio: null },
      want: { role: "assistant", content: "Hi" },
    },
    {
      name: "joins the texts of a list",
      message: {
        content: [
          { type: "text", text: "Hel" },
          { type: "text", text: "lo" },
        ],
      },
      want: { role: "assistant", content: "Hello" },
    },
    {
      name: "has null for empty content next to calls of tools",
      message: { role: "assistant", content: "", tool_calls: [call] },
      want: { role: "assistant", content: null, tool_calls: [call] },
    },
    {
      name: "has one name for reasoning",
      message: { role: "assistant", content: "Hi", reasoning: "Why?" },
      want: { role: "assistant", content: "Hi", reasoning_content: "Why?" },
    },
  ])("$name", ({ message, want }) => {
    const { choices, outputs } = read(message);

    expect(choices).toEqual([{ index: 0, message: want, finishReason: "stop" }]);
    expect(outputs).toEqual(want);
  });

  test("has a refusal as its content, filtered", () => {
    const got = read({ role: "assistant", content: null, refusal: "I cannot." });

    expect(got.outputs).toEqual({ role: "assistant", content: "I cannot." });
    expect(got.finishReasons).toEqual(["content_filter"]);
  });

  test.each([
    { came: "function_call", want: "tool_calls" },
    { came: "length", want: "length" },
    { came: "eos_token", want: "stop" },
  ])("ends with $want for $came", ({ came, want }) => {
    expect(read({ content: "Hi" }, came).finishReasons).toEqual([want]);
  });

  test("gives a call of a tool an id if the server gives none", () => {
    const { choices } = read({ content: null, tool_calls: [{ ...call, id: "" }] });

    expect(choices[0]?.message["tool_calls"]).toEqual([
      { ...call, id: expect.stringMatching(/./) as string },
    ]);
  });

  test("streams its text and its refusal", () => {
    const chunk = { choices: [{ index: 1, delta: { content: null, refusal: "No." } }] };

    expect(deltasOf([{ chunk }, { bytes: Buffer.from(": hi\n\n") }])).toEqual([
      { index: 1, content: "No." },
    ]);
  });
});

describe("a signature of a call of a tool", () => {
  const standIn = givenStarted(startOpenAiStandIn);

  test("goes back to the server as it came", async () => {
    const signed = { ...call, extra_content: { google: { thought_signature: "c2ln" } } };
    const { choices } = read({ content: null, tool_calls: [signed] }, "tool_calls");
    const messages = [
      { role: "user", content: "x" },
      choices[0]?.message ?? {},
      { role: "tool", tool_call_id: "call_1", content: "18 °C" },
    ];

    await ask(targetAt(standIn, "openai_compatible", "gemini"), { model: "m", messages });

    const sent = standIn.requests.at(-1)?.body["messages"];
    expect(sent).toMatchObject([{}, { tool_calls: [signed] }, {}]);
  });
});
