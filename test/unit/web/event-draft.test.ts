// Recorded model events as drafts of the playground: what each provider was sent, as the API takes
// it, and a note for everything that it does not take.

import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  newColumn,
  toApiMessage,
  toFunctions,
  toPromptParameters,
} from "../../../src/web/app/pages/playground/draft.ts";
import { eventToDraft, promptToDraft } from "../../../src/web/app/pages/playground/event-draft.ts";

function openedFrom(inputs: JsonObject, config: JsonObject = {}) {
  const draft = eventToDraft({ inputs, config });
  return { ...draft, sent: draft.messages.map(toApiMessage) };
}

const user = (content: string): JsonObject => ({ role: "user", content });

describe("eventToDraft", () => {
  test("opens an event of Anthropic with its system prompt, texts, calls and results", () => {
    const { sent, leftOut, tools } = openedFrom(
      {
        system: "Be kind.",
        messages: [
          { role: "user", content: [{ type: "text", text: "Weather?" }] },
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "t1", name: "find", input: { city: "Bern" } }],
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "t1", content: "rain" },
              { type: "text", text: "Well?" },
            ],
          },
        ],
      },
      { tools: [{ name: "find", description: "Finds.", input_schema: { type: "object" } }] },
    );

    const find = { name: "find", arguments: '{"city":"Bern"}' };
    expect(sent).toEqual([
      { role: "system", content: "Be kind." },
      user("Weather?"),
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "t1", type: "function", function: find }],
      },
      { role: "tool", tool_call_id: "t1", content: "rain" },
      user("Well?"),
    ]);
    expect(toFunctions(tools)).toEqual([
      { name: "find", description: "Finds.", parameters: { type: "object" } },
    ]);
    expect(leftOut).toEqual([]);
  });

  test("opens an event of Gemini, whose calls have no ids", () => {
    const { sent, leftOut, tools, columns } = openedFrom({
      model: "gemini-2.5-flash",
      systemInstruction: "Be kind.",
      generationConfig: { maxOutputTokens: 9 },
      tools: [{ functionDeclarations: [{ name: "find", parameters: { type: "OBJECT" } }] }],
      contents: [
        { role: "user", parts: [{ text: "Weather?" }] },
        { role: "model", parts: [{ functionCall: { name: "find", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name: "find", response: { rain: 1 } } }] },
      ],
    });

    expect(sent).toEqual([
      { role: "system", content: "Be kind." },
      user("Weather?"),
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "find", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: '{"rain":1}' },
    ]);
    expect(toFunctions(tools)).toEqual([{ name: "find", parameters: { type: "object" } }]);
    expect(columns[0]).toMatchObject({
      model: "gemini-2.5-flash",
      parameters: { max_tokens: "9" },
    });
    expect(leftOut).toEqual([]);
  });

  test("tells of no settings that change no answer, and leaves out what is no number", () => {
    const { columns, leftOut } = openedFrom(
      { chat_history: [user("Hi")] },
      {
        hyperparameters: {
          _type: "openai-chat",
          id: "resp_1",
          created_at: 1_760_000_000,
          model_name: "gpt-4o",
          stream: false,
          text: {},
          random_seed: "",
          top_p: "",
          max_tokens: "Infinity",
          temperature: "0.2",
          seed: 7,
        },
      },
    );

    expect(columns[0]?.parameters).toEqual({ temperature: "0.2" });
    expect(leftOut).toEqual(["the setting seed"]);
  });

  test("opens tools of the AI SDK with their parameters", () => {
    const { leftOut, tools } = openedFrom(
      { messages: [user("Weather?")] },
      { tools: [{ type: "function", name: "find", inputSchema: { type: "object" } }] },
    );

    expect(toFunctions(tools)).toEqual([{ name: "find", parameters: { type: "object" } }]);
    expect(leftOut).toEqual([]);
  });

  test.each([
    { sent: "openai", want: "openai/m" },
    { sent: "openai.responses", want: "openai/m" },
    { sent: "google.generative-ai", want: "google/m" },
    { sent: "azure.ai.openai", want: "azure/m" },
    { sent: "aws.bedrock", want: "bedrock/m" },
    { sent: "gcp.vertex_ai", want: "google/m" },
    { sent: "gemini", want: "google/m" },
    { sent: "aws", want: "bedrock/m" },
    { sent: "mistral_ai", want: "mistral/m" },
    { sent: "mistralai", want: "mistral/m" },
    { sent: "OpenAI", want: "openai/m" },
    { sent: "strands-agents", want: "m" },
  ])("asks $want for an event of $sent", ({ sent, want }) => {
    const { columns } = openedFrom({ question: "Why?" }, { model: "m", provider: sent });

    expect(columns[0]?.model).toBe(want);
  });

  test.each(["question", "prompt", "input"])("opens a %s as a message", (name) => {
    expect(openedFrom({ [name]: "Why?" }).sent).toEqual([user("Why?")]);
  });

  test("carries images as the API takes them", () => {
    const source = { type: "base64", media_type: "image/png", data: "AAAA" };
    const { sent, leftOut } = openedFrom({
      messages: [{ role: "user", content: [{ type: "image", source }] }],
    });

    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    expect(sent).toEqual([{ role: "user", content: [image] }]);
    expect(leftOut).toEqual([]);
  });

  test("tells each thing that it does not carry", () => {
    const { sent, leftOut } = openedFrom(
      {
        context: "the hive",
        messages: [
          { role: "user", content: [{ type: "document", source: {} }, "Read it.", "Now."] },
          user("Well?"),
        ],
      },
      {
        tools: [{ type: "web_search_20250305", name: "web_search" }],
        hyperparameters: { temperature: 0, top_k: 5 },
        response_format: { type: "json_object" },
        tool_choice: "auto",
      },
    );

    expect(sent).toEqual([user("Read it.\n\nNow."), user("Well?")]);
    expect(leftOut).toEqual([
      "a part of type document of message 1",
      "the border between the 2 texts of message 1",
      "the input context",
      "the tool web_search",
      "the setting response_format",
      "the setting top_k",
    ]);
  });

  test("tells the inputs of an event without messages", () => {
    const { leftOut } = openedFrom({ rows: [1, 2] });

    expect(leftOut).toEqual(["the input rows"]);
  });

  test("keeps a message of this API as it was sent", () => {
    const calls = [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }];
    const history = [
      user("Why?"),
      { role: "assistant", content: "", tool_calls: calls, extra_content: { reasoning: [] } },
      { role: "tool", tool_call_id: "c", content: "{}" },
    ];
    const config = { template: [user("{{ question }}?")] };
    const { sent, leftOut, variables } = openedFrom(
      { question: "Why", chat_history: history },
      config,
    );

    expect(sent).toEqual(history);
    expect(variables).toEqual({ question: "Why" });
    expect(leftOut).toEqual([]);
  });
});

test("a prompt that is opened and saved keeps what the playground has no field for", () => {
  const parameters = {
    call_type: "completion",
    model: "m",
    template: [{ role: "system", content: "Answer in JSON." }],
    hyperparameters: { temperature: 0.5, seed: 7, max_completion_tokens: 9 },
    responseFormat: { type: "json_object" },
    functionCallParams: "auto",
    selectedFunctions: [{ id: "f", name: "f" }],
  };
  const draft = promptToDraft({ name: "p", provider: "openai", parameters } as never);
  const [column = newColumn()] = draft.columns;

  expect(draft.promptRest).toEqual({
    responseFormat: { type: "json_object" },
    functionCallParams: "auto",
    hyperparameters: { seed: 7 },
  });
  const { hyperparameters, ...others } = parameters;
  const { max_completion_tokens: max_tokens, ...same } = hyperparameters;
  expect(toPromptParameters(draft, column)).toEqual({
    ...others,
    call_type: "chat",
    hyperparameters: { ...same, max_tokens },
  });
});
