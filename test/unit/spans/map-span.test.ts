// What attributes of each convention become. Whole exports are in fixtures.test.ts.

import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.ts";
import { eventOf } from "../../support/spans.ts";

describe("fields of GenAI attributes", () => {
  test.each([
    ["gen_ai.request.model", "m", { config: { model: "m" } }],
    ["gen_ai.provider.name", "p", { config: { provider: "p" }, metadata: { provider: "p" } }],
    ["gen_ai.system", "openai", { metadata: { system: "openai" } }],
    ["gen_ai.operation.name", "chat", { metadata: { operation_name: "chat" } }],
    ["gen_ai.request.top_p", 0.5, { config: { hyperparameters: { top_p: 0.5 } } }],
    ["gen_ai.request.stop_sequences", ["x"], { config: { hyperparameters: { stop: ["x"] } } }],
    ["gen_ai.response.id", "r", { metadata: { response_id: "r" } }],
    ["gen_ai.agent.name", "a", { metadata: { agent_name: "a" } }],
    ["gen_ai.tool.call.id", "c", { metadata: { tool_call_id: "c" } }],
    ["gen_ai.conversation.id", "c", { metadata: { conversation_id: "c" } }],
    ["session.id", "s", { metadata: { session_id: "s", conversation_id: "s" } }],
    ["user.id", "u", { metadata: { user_id: "u" } }],
    ["http.status_code", 200, { metadata: { status_code: 200 } }],
    ["mcp.tool.name", "t", { metadata: { mcp_tool_name: "t" } }],
    ["llm.request.type", "chat", { metadata: { request_type: "chat" } }],
    ["openinference.span.kind", "CHAIN", { metadata: { span_kind: "CHAIN" } }],
    ["traceloop.span.kind", "task", { metadata: { span_kind: "task" } }],
    ["traceloop.association.properties.run_id", "r", { metadata: { run_id: "r" } }],
    ["crewai.task.description", "Look", { inputs: { description: "Look" } }],
    ["crewai.crew.result", "Sun.", { outputs: { result: "Sun." } }],
    ["llm.cost.total", 0.02, { metadata: { cost: 0.02 } }],
    ["operation.cost", 0.02, { metadata: { cost: 0.02 } }],
    ["honeyhive_user_id", "u", { user_properties: { user_id: "u" } }],
    ["langsmith.span.tags", "beta, order", { metadata: { tags: ["beta", "order"] } }],
    ["langsmith.span.tags", ["beta", "a, b"], { metadata: { tags: ["beta", "a, b"] } }],
    ["ai.telemetry.metadata.tags", ["beta", "b"], { metadata: { tags: ["beta", "b"] } }],
    ["ai.settings.context.tags", ["beta", "b"], { metadata: { tags: ["beta", "b"] } }],
  ])("%s", (key, value, want) => {
    const got = eventOf({ attributes: { [key]: value } });

    expect(got).toMatchObject(want);
    expect(got.metadata).not.toHaveProperty([key]);
  });

  test("the response's model is the model's name", () => {
    const got = eventOf({
      attributes: { "gen_ai.request.model": "m", "gen_ai.response.model": "m-2026" },
    });

    expect(got.config).toMatchObject({ model: "m" });
    expect(got.metadata).toMatchObject({ model_name: "m-2026", response_model: "m-2026" });
  });

  test("of two attributes for one field the other stays under its own key", () => {
    const got = eventOf({ attributes: { "gen_ai.request.model": "a", "llm.model_name": "b" } });

    expect(got.config).toMatchObject({ model: "a" });
    expect(got.metadata).toMatchObject({ "llm.model_name": "b" });
  });
});

describe("usage", () => {
  test.each([
    {
      name: "earlier names",
      attributes: { "gen_ai.usage.prompt_tokens": 3, "gen_ai.usage.completion_tokens": 4 },
      want: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    },
    {
      name: "current names",
      attributes: { "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 4 },
      want: { input_tokens: 3, prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    },
    {
      name: "numeric text",
      attributes: { "gen_ai.usage.input_tokens": "3", "gen_ai.usage.output_tokens": "4" },
      want: { prompt_tokens: "3", completion_tokens: "4", total_tokens: 7 },
    },
    {
      name: "the sender's own total",
      attributes: { "llm.token_count.prompt": 3, "llm.token_count.total": 9 },
      want: { prompt_tokens: 3, total_tokens: 9 },
    },
    {
      name: "cached and reasoning tokens",
      attributes: {
        "gen_ai.usage.cache_read.input_tokens": 1,
        "gen_ai.usage.cache_creation.input_tokens": 2,
        "llm.token_count.completion_details.reasoning": 3,
      },
      want: { cache_read_input_tokens: 1, cache_write_input_tokens: 2, reasoning_tokens: 3 },
    },
    {
      name: "Anthropic's own client",
      attributes: {
        "gen_ai.usage.cache_write.input_tokens": 2,
        "anthropic.message.stop_reason": "end_turn",
      },
      want: { cache_write_input_tokens: 2, finish_reason: "end_turn" },
    },
    {
      name: "Semantic Kernel",
      attributes: {
        "gen_ai.operation.name": "chat.completions",
        "gen_ai.request.model": "m",
        "gen_ai.response.finish_reason": "stop",
      },
      want: { finish_reason: "stop", operation_name: "chat.completions" },
    },
    {
      name: "Strands",
      attributes: { "gen_ai.usage.cache_write_input_tokens": 2 },
      want: { cache_write_input_tokens: 2 },
    },
    ...["langsmith.metadata.usage_metadata", "langsmith.usage_metadata"].map((key) => ({
      name: `LangSmith's ${key}`,
      attributes: {
        "langsmith.span.kind": "llm",
        [key]: JSON.stringify({
          input_token_details: { cache_read: 64, cache_creation: 2, audio: 1 },
          output_token_details: { reasoning: 10 },
        }),
      },
      want: { cache_read_input_tokens: 64, cache_write_input_tokens: 2, reasoning_tokens: 10 },
    })),
    ...[
      ["chat", { prompt_tokens: 100, completion_tokens: 30 }, "prompt", "completion"] as const,
      ["responses", { input_tokens: 100, output_tokens: 30 }, "input", "output"] as const,
    ].map(([name, counts, input, output]) => ({
      name: `Langfuse's client for OpenAI, ${name}`,
      attributes: {
        "langfuse.observation.type": "generation",
        "langfuse.observation.usage_details": JSON.stringify({
          ...counts,
          total_tokens: 130,
          [`${input}_tokens_details`]: { cached_tokens: 40, cache_write_tokens: 5 },
          [`${output}_tokens_details`]: { reasoning_tokens: 10, audio_tokens: 0 },
        }),
      },
      want: {
        prompt_tokens: 100,
        completion_tokens: 30,
        cache_read_input_tokens: 40,
        cache_write_input_tokens: 5,
        reasoning_tokens: 10,
      },
    })),
    ...[
      { name: "kinds beside the input", input: 17, total: 118, prompt: 113 },
      { name: "kinds in the input", input: 113, total: 118, prompt: 113 },
      { name: "kinds and no total", input: 17, prompt: 113 },
    ].map(({ name, input, total, prompt }) => ({
      name: `Langfuse's own usage, ${name}`,
      attributes: {
        "langfuse.observation.type": "generation",
        "langfuse.observation.usage_details": JSON.stringify({
          input,
          input_cached_tokens: 64,
          cache_creation_input_tokens: 32,
          output: 5,
          total,
        }),
      },
      want: { prompt_tokens: prompt, completion_tokens: 5, total_tokens: 118 },
    })),
    {
      name: "Strands on Bedrock, whose input is without the cache and whose total is not",
      attributes: {
        "gen_ai.usage.prompt_tokens": 4,
        "gen_ai.usage.input_tokens": 4,
        "gen_ai.usage.output_tokens": 100,
        "gen_ai.usage.total_tokens": 1934,
        "gen_ai.usage.cache_read_input_tokens": 1800,
        "gen_ai.usage.cache_write_input_tokens": 30,
      },
      want: { input_tokens: 4, prompt_tokens: 1834, completion_tokens: 100, total_tokens: 1934 },
    },
    {
      name: "OpenInference on Bedrock, whose input is without the cache and whose total is not",
      attributes: {
        "llm.token_count.prompt": 4,
        "llm.token_count.completion": 100,
        "llm.token_count.total": 1904,
        "llm.token_count.prompt_details.cache_read": 1800,
      },
      want: { input_tokens: 4, prompt_tokens: 1804, total_tokens: 1904 },
    },
    {
      name: "a total with the cache in the input",
      attributes: {
        "gen_ai.usage.input_tokens": 1804,
        "gen_ai.usage.output_tokens": 100,
        "gen_ai.usage.total_tokens": 1904,
        "gen_ai.usage.cache_read.input_tokens": 1800,
      },
      want: { prompt_tokens: 1804, total_tokens: 1904 },
    },
    {
      name: "Langfuse's own costs, which binary numbers do not add up to",
      attributes: {
        "langfuse.observation.type": "generation",
        "langfuse.observation.cost_details": '{"input": 0.1, "output": 0.2}',
      },
      want: { cost: 0.3 },
    },
    {
      name: "Pydantic AI with Gemini",
      attributes: { "gen_ai.usage.details.thoughts_tokens": 10 },
      want: { reasoning_tokens: 10 },
    },
  ])("reads $name", ({ attributes, want }) => {
    const model = { "gen_ai.operation.name": "chat" };

    expect(eventOf({ attributes: { ...model, ...attributes } }).metadata).toMatchObject(want);
  });

  test("an unknown usage attribute is kept under its own key", () => {
    const got = eventOf({ attributes: { "gen_ai.usage.audio_tokens": 5 } });

    expect(got.metadata).toMatchObject({ "gen_ai.usage.audio_tokens": 5 });
  });

  test.each([
    { key: "gen_ai.response.time_to_first_chunk", value: 0.0280785, want: 28.079 },
    { key: "gen_ai.client.operation.time_to_first_chunk", value: 0.045, want: 45 },
    { key: "gen_ai.server.time_to_first_token", value: 0.43, want: 430 },
    {
      key: "gen_ai.server.time_to_first_token",
      value: 430,
      want: 430,
      scope: { name: "strands.telemetry.tracer", version: "", attributes: new Map() },
    },
    { key: "ai.response.msToFirstChunk", value: 44.96, want: 44.96 },
  ])("the time to the first chunk: $key of $value", ({ key, value, want, ...rest }) => {
    const attributes = { "gen_ai.operation.name": "chat", [key]: value };

    const got = eventOf({ attributes, ...rest });

    expect(got.metadata).toMatchObject({ time_to_first_byte_ms: want });
    expect(got.metadata).not.toHaveProperty([key]);
  });

  test.each([
    ["langfuse.observation.completion_start_time", '"2025-10-09T08:53:20.250Z"'],
    ["mastra.completion_start_time", "2025-10-09T08:53:20.250Z"],
  ])("the time to the first chunk: the instant of %s", (key, instant) => {
    const attributes = { "gen_ai.operation.name": "chat", [key]: instant };

    const { metadata } = eventOf({ attributes });

    expect(metadata).toMatchObject({ time_to_first_byte_ms: 250 });
    expect(JSON.stringify(metadata)).toContain("2025-10-09T08:53:20.250Z");
  });

  test.each([
    { name: "of a chain", operation: "invoke_agent", value: 0.2 },
    { name: "that is no number", operation: "chat", value: "soon" },
  ])("a time to the first chunk $name stays", ({ operation, value }) => {
    const key = "gen_ai.response.time_to_first_chunk";
    const attributes = { "gen_ai.operation.name": operation, [key]: value };

    const { metadata } = eventOf({ attributes });

    expect(metadata).toMatchObject({ [key]: value });
    expect(metadata).not.toHaveProperty("time_to_first_byte_ms");
  });

  test("a chain repeats its children's tokens, so they are not counted again", () => {
    const got = eventOf({
      attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 100 },
    });

    expect(got.event_type).toBe("chain");
    expect(got.metadata).not.toHaveProperty("prompt_tokens");
    expect(got.metadata).toMatchObject({ "gen_ai.usage.input_tokens": 100 });
  });
});

const call = {
  id: "c1",
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Paris"}' },
};

describe("chat messages", () => {
  const question = [{ role: "user", content: "Hi" }];
  const reply = { role: "assistant", content: "Hello", tool_calls: [call] };

  test.each<{ name: string; attributes: JsonObject }>([
    {
      name: "GenAI, JSON text of parts",
      attributes: {
        "gen_ai.input.messages": JSON.stringify([
          { role: "user", parts: [{ type: "text", content: "Hi" }] },
        ]),
        "gen_ai.output.messages": JSON.stringify([
          {
            role: "assistant",
            parts: [
              { type: "text", content: "Hello" },
              { type: "tool_call", id: "c1", name: "get_weather", arguments: { city: "Paris" } },
            ],
            finish_reason: "stop",
          },
        ]),
      },
    },
    {
      name: "GenAI, structured attributes",
      attributes: {
        "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "Hi" }] }],
        "gen_ai.output.messages": [reply],
      },
    },
    {
      name: "numbered attributes of OpenLLMetry",
      attributes: {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Hi",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Hello",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "get_weather",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"city":"Paris"}',
      },
    },
    {
      name: "OpenInference",
      attributes: {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": "Hi",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Hello",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_weather",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments":
          '{"city":"Paris"}',
      },
    },
    {
      name: "Vercel",
      attributes: {
        "ai.prompt.messages": JSON.stringify([
          { role: "user", content: [{ type: "text", text: "Hi" }] },
        ]),
        "ai.response.text": "Hello",
        "ai.response.toolCalls": JSON.stringify([
          { toolCallId: "c1", toolName: "get_weather", args: '{"city":"Paris"}' },
        ]),
      },
    },
    {
      name: "HoneyHive",
      attributes: {
        "honeyhive_inputs.chat_history.0.role": "user",
        "honeyhive_inputs.chat_history.0.content": "Hi",
        "honeyhive_outputs.role": "assistant",
        "honeyhive_outputs.content": "Hello",
        "honeyhive_outputs.tool_calls.0.id": "c1",
        "honeyhive_outputs.tool_calls.0.type": "function",
        "honeyhive_outputs.tool_calls.0.function.name": "get_weather",
        "honeyhive_outputs.tool_calls.0.function.arguments": '{"city":"Paris"}',
      },
    },
  ])("$name", ({ attributes }) => {
    const got = eventOf({ attributes });

    expect(got.inputs).toEqual({ chat_history: question });
    expect(got.outputs).toEqual(reply);
  });

  test("read the calls of LiteLLM, which its messages leave out", () => {
    const got = eventOf({
      attributes: {
        "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [] }]),
        "gen_ai.completion.0.function_call.name": "find",
        "gen_ai.completion.0.function_call.arguments": '{"city":"Bern"}',
        "gen_ai.completion.1.function_call.name": "wait",
      },
    });

    expect(got.outputs).toEqual({
      role: "assistant",
      tool_calls: [
        { type: "function", function: { name: "find", arguments: '{"city":"Bern"}' } },
        { type: "function", function: { name: "wait" } },
      ],
    });
  });

  test.each(['{"bees":5}', '["buzz","hum"]', '[{"role":"admin","content":"x"}]'])(
    "keep a prompt and instructions of the AI SDK that are the JSON text %s",
    (text) => {
      const got = eventOf({
        attributes: { "ai.prompt": JSON.stringify({ system: text, prompt: text }) },
      });

      expect(got.inputs).toEqual({
        chat_history: [
          { role: "system", content: text },
          { role: "user", content: text },
        ],
      });
    },
  );

  test.each([
    {
      name: "content events",
      events: [
        {
          name: "gen_ai.content.prompt",
          attributes: { "gen_ai.prompt": JSON.stringify(question) },
        },
        {
          name: "gen_ai.content.completion",
          attributes: { "gen_ai.completion": JSON.stringify([reply]) },
        },
      ],
    },
    {
      name: "message events",
      events: [
        { name: "gen_ai.user.message", attributes: { content: "Hi", "gen_ai.system": "openai" } },
        {
          name: "gen_ai.choice",
          attributes: { index: 0, finish_reason: "stop", message: JSON.stringify(reply) },
        },
      ],
    },
    {
      name: "operation details",
      events: [
        {
          name: "gen_ai.client.inference.operation.details",
          attributes: {
            "gen_ai.input.messages": JSON.stringify(question),
            "gen_ai.output.messages": JSON.stringify([reply]),
          },
        },
      ],
    },
  ])("$name of a span", ({ events }) => {
    const got = eventOf({ events });

    expect(got.inputs).toEqual({ chat_history: question });
    expect(got.outputs).toEqual(reply);
    expect(got.metadata).not.toHaveProperty("span_events");
  });

  test("scores of evaluations are metrics, and what they say besides stays", () => {
    const evaluation = (attributes: Record<string, string | number>) => ({
      name: "gen_ai.evaluation.result",
      attributes,
    });

    const got = eventOf({
      events: [
        evaluation({ "gen_ai.evaluation.name": "a.b", "gen_ai.evaluation.score.value": 0 }),
        evaluation({ "gen_ai.evaluation.name": "late", "error.type": "timeout", judge: "gpt-4o" }),
        evaluation({ "gen_ai.evaluation.name": "a.b", "gen_ai.evaluation.score.value": 1 }),
      ],
    });

    expect(got.metrics).toEqual({ "a.b": 0, late_failure: "timeout" });
    expect(got.metadata?.["span_events"]).toMatchObject([
      { attributes: { judge: "gpt-4o" } },
      { attributes: { "gen_ai.evaluation.score.value": 1 } },
    ]);
  });

  test("system instructions open the history", () => {
    const got = eventOf({
      attributes: {
        "gen_ai.system_instructions": '[{"type":"text","content":"Be brief."}]',
        "gen_ai.input.messages": JSON.stringify(question),
      },
    });

    expect(got.inputs?.["chat_history"]).toEqual([
      { role: "system", content: "Be brief." },
      ...question,
    ]);
  });

  test("system instructions that also open the messages stand in the history once", () => {
    const messages = [{ role: "system", content: "Be brief." }, ...question];

    const got = eventOf({
      attributes: {
        "gen_ai.system_instructions": '[{"type":"text","content":"Be brief."}]',
        "gen_ai.input.messages": JSON.stringify(messages),
      },
    });

    expect(got.inputs?.["chat_history"]).toEqual(messages);
  });

  const pydanticAi = { name: "pydantic-ai", version: "2.68.0", attributes: new Map() };

  test("a model call of Pydantic AI has its cached and reasoning tokens", () => {
    const got = eventOf({
      scope: pydanticAi,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.details.cache_read_tokens": 60,
        "gen_ai.usage.details.cache_write_tokens": 30,
        "gen_ai.usage.details.reasoning_tokens": 4,
        "gen_ai.usage.details.audio_tokens": 1,
      },
    });

    expect(got.metadata).toMatchObject({
      prompt_tokens: 100,
      cache_read_input_tokens: 60,
      cache_write_input_tokens: 30,
      reasoning_tokens: 4,
      "gen_ai.usage.details.audio_tokens": 1,
    });
  });

  test("a run of a Pydantic AI agent has its conversation and its reply", () => {
    const spoken = [
      { role: "user", parts: [{ type: "text", content: "Weather?" }] },
      { role: "assistant", parts: [{ type: "text", content: "Sun." }], finish_reason: "stop" },
    ];

    const got = eventOf({
      scope: pydanticAi,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.system_instructions": '[{"type":"text","content":"Be brief."}]',
        "pydantic_ai.all_messages": JSON.stringify(spoken),
        final_result: "Sun.",
      },
    });

    expect(got.inputs?.["chat_history"]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Weather?" },
    ]);
    expect(got.outputs).toEqual({ role: "assistant", content: "Sun." });
    expect(got.metadata).not.toHaveProperty(["pydantic_ai.all_messages"]);
    expect(got.metadata).not.toHaveProperty("final_result");
  });

  test("a structured result of a Pydantic AI agent is its output", () => {
    const spoken = [
      { role: "user", parts: [{ type: "text", content: "Weather?" }] },
      { role: "user", parts: [{ type: "tool_call_response", id: "a", result: "Final result." }] },
    ];

    const got = eventOf({
      scope: pydanticAi,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "pydantic_ai.all_messages": JSON.stringify(spoken),
        final_result: '{"celsius":18}',
      },
    });

    expect(got.inputs?.["chat_history"]).toHaveLength(2);
    expect(got.outputs).toEqual({ celsius: 18 });
  });

  test("a tool span of an earlier Pydantic AI has its arguments and its result", () => {
    const got = eventOf({
      scope: pydanticAi,
      attributes: {
        "gen_ai.tool.name": "weather",
        tool_arguments: '{"city":"Paris"}',
        tool_response: "sunny",
      },
    });

    expect(got).toMatchObject({ inputs: { city: "Paris" }, outputs: { result: "sunny" } });
  });

  test("OpenInference messages that say nothing give way to the whole input", () => {
    const got = eventOf({
      attributes: {
        "llm.input_messages.0.message.role": "user",
        "input.value": JSON.stringify({ messages: question }),
      },
    });

    expect(got.inputs).toEqual({ chat_history: question });
    expect(got.metadata).not.toHaveProperty(["input.value"]);
  });

  test("a message of several tool results becomes one for each", () => {
    const results = ["a", "b"].map((id) => ({ type: "tool_call_response", id, response: { id } }));

    const got = eventOf({
      attributes: { "gen_ai.input.messages": [{ role: "tool", parts: results }] },
    });

    expect(got.inputs?.["chat_history"]).toEqual([
      { role: "tool", content: '{"id":"a"}', tool_call_id: "a" },
      { role: "tool", content: '{"id":"b"}', tool_call_id: "b" },
    ]);
  });

  // As PyPI anthropic 2.14 writes what a user says after a call of a tool.
  test("the result of a tool comes before what its message says in addition", () => {
    const parts = [
      { type: "tool_call_response", id: "c1", response: "sunny" },
      { type: "text", content: "And tomorrow?" },
    ];

    const got = eventOf({
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": JSON.stringify([{ role: "user", parts }]),
      },
    });

    expect(got.inputs?.["chat_history"]).toEqual([
      { role: "tool", content: "sunny", tool_call_id: "c1" },
      { role: "user", content: "And tomorrow?" },
    ]);
  });

  test("parts that are no text are kept as they came", () => {
    const parts = [
      { type: "text", content: "What is this?" },
      { type: "uri", modality: "image", uri: "https://example.com/cat.png" },
    ];

    const got = eventOf({ attributes: { "gen_ai.input.messages": [{ role: "user", parts }] } });

    expect(got.inputs?.["chat_history"]).toEqual([{ role: "user", content: parts }]);
  });

  test.each([
    {
      name: "Bedrock",
      calls: [{ toolUse: { toolUseId: "c1", name: "get_weather", input: { city: "Paris" } } }],
      results: [{ toolResult: { toolUseId: "c1", content: [{ text: "sunny" }] } }],
    },
    {
      name: "Gemini",
      calls: [{ function_call: { id: "c1", name: "get_weather", args: { city: "Paris" } } }],
      results: [{ functionResponse: { id: "c1", response: "sunny" } }],
    },
    {
      name: "Anthropic",
      calls: [{ type: "tool_use", id: "c1", name: "get_weather", input: { city: "Paris" } }],
      results: [{ type: "tool_result", tool_use_id: "c1", content: "sunny" }],
    },
  ])("parts of $name as JSON text are read", ({ calls, results }) => {
    const got = eventOf({
      attributes: {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": JSON.stringify([{ text: "Hi" }]),
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.content": JSON.stringify([{ text: "Wait" }, ...calls]),
        "gen_ai.prompt.2.role": "user",
        "gen_ai.prompt.2.content": JSON.stringify(results),
      },
    });

    expect(got.inputs?.["chat_history"]).toEqual([
      ...question,
      { role: "assistant", content: "Wait", tool_calls: [call] },
      { role: "tool", content: "sunny", tool_call_id: "c1" },
    ]);
  });

  test.each(['["a","b"]', '[{"city":"Paris"}]', '{"text":"Hi"}', "[]", '[{"text":"Hi"},5]'])(
    "JSON text %s, which is no list of parts, is what the person said",
    (content) => {
      const got = eventOf({ events: [{ name: "gen_ai.user.message", attributes: { content } }] });

      expect(got.inputs?.["chat_history"]).toEqual([{ role: "user", content }]);
    },
  );

  test("Google ADK's request and response of Gemini are read", () => {
    const request = {
      config: {
        http_options: {},
        safety_settings: ["x"],
        system_instruction: "Be brief.",
        seed: 7,
      },
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    };
    const response = {
      content: { role: "model", parts: [{ text: "Hmm", thought: true }, { text: "Hello" }] },
      finish_reason: "MAX_TOKENS",
      usage_metadata: { prompt_token_count: 3, candidates_token_count: 4, thoughts_token_count: 2 },
      error_code: "MAX_TOKENS",
    };

    const got = eventOf({
      scope: { name: "gcp.vertex.agent", version: "1.0.0", attributes: new Map() },
      attributes: {
        "gen_ai.request.model": "gemini-2.5-flash",
        "gcp.vertex.agent.llm_request": JSON.stringify(request),
        "gcp.vertex.agent.llm_response": JSON.stringify(response),
      },
    });

    expect(got.inputs).toEqual({
      chat_history: [{ role: "system", content: "Be brief." }, ...question],
    });
    expect(got.outputs).toEqual({ role: "assistant", content: "Hello", reasoning: "Hmm" });
    expect(got.config).toMatchObject({ hyperparameters: { seed: 7 } });
    expect(got.metadata).toMatchObject({
      prompt_tokens: 3,
      completion_tokens: 4,
      reasoning_tokens: 2,
      finish_reason: "max_tokens",
      "gcp.vertex.agent.llm_request": { config: { safety_settings: ["x"] } },
      "gcp.vertex.agent.llm_response": { error_code: "MAX_TOKENS" },
    });
  });

  test("several choices are all kept", () => {
    const choices = [
      { role: "assistant", content: "A" },
      { role: "assistant", content: "B" },
    ];

    const got = eventOf({ attributes: { "gen_ai.output.messages": choices } });

    expect(got.outputs).toEqual({ role: "assistant", content: "A", choices });
  });

  // As agent-framework-core 1.23 writes the run of an agent.
  test("the reply of an agent's run is its last message", () => {
    const messages = [
      {
        role: "assistant",
        parts: [{ type: "tool_call", id: "c1", name: "find", arguments: '{"city":"Bern"}' }],
      },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "sunny" }] },
      { role: "assistant", parts: [{ type: "text", content: "It is sunny." }] },
    ];

    const got = eventOf({
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.output.messages": JSON.stringify(messages),
      },
    });

    const call = { type: "function", function: { name: "find", arguments: '{"city":"Bern"}' } };
    expect(got.outputs).toEqual({
      role: "assistant",
      content: "It is sunny.",
      messages: [
        { role: "assistant", tool_calls: [{ id: "c1", ...call }] },
        { role: "tool", content: "sunny", tool_call_id: "c1" },
        { role: "assistant", content: "It is sunny." },
      ],
    });
  });

  // As openlit 1.45 writes a call of a model.
  test("the call that a model asks for is no input of the model", () => {
    const got = eventOf({
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.tool.call.arguments": '{"city": "Bern"}',
        "gen_ai.input.messages": [{ role: "user", content: "Weather?" }],
      },
    });

    expect(got.inputs).toEqual({ chat_history: [{ role: "user", content: "Weather?" }] });
    expect(got.metadata).toMatchObject({ "gen_ai.tool.call.arguments": '{"city": "Bern"}' });
  });
});

describe("OpenAI's Responses API", () => {
  const call = (id: string): JsonObject => ({
    id,
    type: "function",
    function: { name: "find", arguments: "{}" },
  });

  test("OpenInference's messages of one reply are one, in the history too", () => {
    const listed = (prefix: string, index: number) => ({
      [`${prefix}.${index}.message.role`]: "assistant",
      [`${prefix}.${index}.message.tool_calls.0.tool_call.id`]: `c${index}`,
      [`${prefix}.${index}.message.tool_calls.0.tool_call.function.name`]: "find",
      [`${prefix}.${index}.message.tool_calls.0.tool_call.function.arguments`]: "{}",
    });
    const output = "llm.output_messages";
    const got = eventOf({
      attributes: {
        "openinference.span.kind": "LLM",
        "input.value": '{"model": "m", "input": []}',
        "output.value": '{"object": "response"}',
        ...listed("llm.input_messages", 0),
        ...listed("llm.input_messages", 1),
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.content": "rain",
        "llm.input_messages.2.message.tool_call_id": "c0",
        [`${output}.0.message.role`]: "assistant",
        [`${output}.0.message.contents.0.message_content.type`]: "reasoning",
        [`${output}.0.message.contents.0.message_content.text`]: "I look.",
        [`${output}.1.message.role`]: "assistant",
        [`${output}.1.message.contents.0.message_content.type`]: "text",
        [`${output}.1.message.contents.0.message_content.text`]: "Rain.",
        ...listed(output, 2),
      },
    });

    expect(got.inputs).toEqual({
      chat_history: [
        { role: "assistant", tool_calls: [call("c0"), call("c1")] },
        { role: "tool", content: "rain", tool_call_id: "c0" },
      ],
    });
    expect(got.outputs).toEqual({
      role: "assistant",
      reasoning: "I look.",
      content: "Rain.",
      tool_calls: [call("c2")],
    });
  });

  const items = [
    { id: "r", type: "reasoning", summary: [{ type: "summary_text", text: "I look." }] },
    { id: "f", type: "function_call", call_id: "c1", name: "find", arguments: "{}" },
    { type: "web_search_call", id: "w" },
    {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "Rain.", annotations: [] }],
    },
  ];
  const reply = {
    role: "assistant",
    reasoning: "I look.",
    content: "Rain.",
    tool_calls: [call("c1")],
  };
  const answered = { type: "function_call_output", call_id: "c1", output: "rain" };

  test.each([
    {
      name: "Langfuse",
      attributes: {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": JSON.stringify({ input: [...items, answered] }),
        "langfuse.observation.output": JSON.stringify(items),
      },
      history: [reply, { role: "tool", content: "rain", tool_call_id: "c1" }],
    },
    {
      name: "LangSmith",
      attributes: {
        "langsmith.span.kind": "llm",
        "gen_ai.prompt": '{"model": "m", "instructions": "Be terse.", "input": "Weather?"}',
        "gen_ai.completion": JSON.stringify({ object: "response", output: items }),
      },
      history: [
        { role: "system", content: "Be terse." },
        { role: "user", content: "Weather?" },
      ],
    },
  ])("items of $name are messages, and stay", ({ attributes, history }) => {
    const got = eventOf({ attributes });

    expect(got.inputs).toMatchObject({ chat_history: history, input: expect.anything() as string });
    expect(got.outputs).toMatchObject({ ...reply, output: items });
  });

  test("the items that OpenInference lists for LiteLLM are one reply", () => {
    const message = "llm.output_messages";
    const parts = "message.contents.0.message_content";

    const got = eventOf({
      attributes: {
        "openinference.span.kind": "LLM",
        "input.value": "hi",
        "output.value": JSON.stringify([{ role: "assistant", contents: [] }]),
        [`${message}.0.message.role`]: "assistant",
        [`${message}.0.${parts}.type`]: "reasoning",
        [`${message}.0.${parts}.text`]: "I look.",
        [`${message}.1.message.role`]: "assistant",
        [`${message}.1.${parts}.type`]: "text",
        [`${message}.1.${parts}.text`]: "Rain.",
      },
    });

    expect(got.outputs).toEqual({ role: "assistant", reasoning: "I look.", content: "Rain." });
  });

  test("reasoning that the Agents SDK for JavaScript sends back is the assistant's", () => {
    const prefix = "llm.input_messages";
    const listed = "message.tool_calls.0.tool_call";
    const got = eventOf({
      attributes: {
        "openinference.span.kind": "LLM",
        "output.value": '{"object": "response"}',
        [`${prefix}.0.message.role`]: "user",
        [`${prefix}.0.message.content`]: "Weather?",
        [`${prefix}.1.message.contents.0.message_content.type`]: "text",
        [`${prefix}.1.message.contents.0.message_content.text`]: "I look.",
        [`${prefix}.2.message.role`]: "assistant",
        [`${prefix}.2.${listed}.id`]: "c1",
        [`${prefix}.2.${listed}.function.name`]: "get_weather",
        [`${prefix}.2.${listed}.function.arguments`]: "{}",
      },
    });

    expect(got.inputs).toMatchObject({
      chat_history: [
        { role: "user", content: "Weather?" },
        { role: "assistant", reasoning: "I look.", tool_calls: [{ id: "c1" }] },
      ],
    });
  });

  test("OpenLLMetry's summary of the reasoning is a text", () => {
    const summary = '[{"text": "I look.", "type": "summary_text"}]';
    const parts = [
      { type: "reasoning", content: summary },
      { type: "text", content: "Rain." },
    ];
    const got = eventOf({
      attributes: { "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts }]) },
    });

    expect(got.outputs).toEqual({ role: "assistant", reasoning: "I look.", content: "Rain." });
  });
});

describe("messages of frameworks", () => {
  test("LangChain.js: contents that are lists and ids of calls come from the whole payload", () => {
    const ai = (tool_calls: JsonObject[], content: JsonObject[]): JsonObject => ({
      lc: 1,
      id: ["langchain_core", "messages", "AIMessage"],
      kwargs: { content, tool_calls },
    });
    const find = { id: "c7", name: "find", args: {}, type: "tool_call" };
    const listed = "message.tool_calls.0.tool_call.function";
    const got = eventOf({
      attributes: {
        "openinference.span.kind": "LLM",
        metadata: '{"ls_provider": "openai"}',
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.1.message.role": "assistant",
        [`llm.input_messages.1.${listed}.name`]: "find",
        [`llm.input_messages.1.${listed}.arguments`]: "{}",
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.content": "rain",
        "llm.output_messages.0.message.role": "assistant",
        "input.value": JSON.stringify({
          messages: [
            [
              { id: ["SystemMessage"], kwargs: { content: [{ type: "text", text: "Be terse." }] } },
              ai([find], []),
              { id: ["ToolMessage"], kwargs: { content: "rain", tool_call_id: "c7" } },
            ],
          ],
        }),
        "output.value": JSON.stringify({
          generations: [
            [
              {
                text: "Rain.",
                message: ai(
                  [],
                  [
                    { type: "reasoning", reasoning: "I look." },
                    { type: "text", text: "Rain.", annotations: [] },
                  ],
                ),
              },
            ],
          ],
        }),
      },
    });

    const call = { id: "c7", type: "function", function: { name: "find", arguments: "{}" } };
    expect(got.config).toMatchObject({ provider: "openai" });
    expect(got.inputs).toEqual({
      chat_history: [
        { role: "system", content: "Be terse." },
        { role: "assistant", tool_calls: [call] },
        { role: "tool", content: "rain", tool_call_id: "c7" },
      ],
    });
    expect(got.outputs).toEqual({ role: "assistant", reasoning: "I look.", content: "Rain." });
  });

  test("Google ADK: chunks of a stream are one reply", () => {
    const chunk = (content: string, finish_reason: string): JsonObject => ({
      role: "assistant",
      parts: [{ type: "text", content }],
      finish_reason,
    });
    const outputOf = (messages: JsonObject[]) =>
      eventOf({
        scope: { name: "gcp.vertex.agent", version: "", attributes: new Map() },
        attributes: { "gen_ai.output.messages": JSON.stringify(messages) },
      }).outputs;

    const want = { role: "assistant", content: "It rains." };
    const chunks = [chunk("It ", ""), chunk("rains.", "")];
    expect(outputOf([...chunks, chunk("", "stop")])).toEqual(want);
    expect(outputOf([...chunks, chunk("It rains.", "stop")])).toEqual(want);
    expect(outputOf([chunk("A", "stop"), chunk("B", "stop")])).toHaveProperty("choices");
  });

  test("OpenInference: a call among the contents stands once, and reasoning has no id", () => {
    const contents = "llm.output_messages.0.message.contents";
    const call = {
      "tool_call.id": "c1",
      "tool_call.function.name": "find",
      "tool_call.function.arguments": "{}",
    };
    const under = (prefix: string) =>
      Object.fromEntries(Object.entries(call).map(([key, value]) => [`${prefix}.${key}`, value]));
    const got = eventOf({
      attributes: {
        "llm.output_messages.0.message.role": "assistant",
        [`${contents}.0.message_content.type`]: "reasoning",
        [`${contents}.0.message_content.id`]: "rs_1",
        [`${contents}.0.message_content.text`]: "I look.",
        [`${contents}.1.message_content.type`]: "text",
        [`${contents}.1.message_content.text`]: "Well.",
        [`${contents}.2.message_content.type`]: "tool_use",
        ...under(`${contents}.2.message_content`),
        ...under("llm.output_messages.0.message.tool_calls.0"),
      },
    });

    expect(got.outputs).toEqual({
      role: "assistant",
      content: "Well.",
      reasoning: "I look.",
      tool_calls: [{ id: "c1", type: "function", function: { name: "find", arguments: "{}" } }],
    });
  });

  // As openinference-instrumentation-anthropic 3.1 writes a reply of Claude.
  test("OpenInference: signed reasoning is reasoning, and the signature stays", () => {
    const contents = "llm.output_messages.0.message.contents";

    const got = eventOf({
      attributes: {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        [`${contents}.0.message_content.type`]: "reasoning",
        [`${contents}.0.message_content.text`]: "I look.",
        [`${contents}.0.message_content.signature`]: "c2ln",
        [`${contents}.1.message_content.type`]: "text",
        [`${contents}.1.message_content.text`]: "Rain.",
      },
    });

    expect(got.outputs).toEqual({ role: "assistant", reasoning: "I look.", content: "Rain." });
    expect(got.metadata).toMatchObject({ [`${contents}.0.message_content.signature`]: "c2ln" });
  });

  test("Agno: a text that stands twice in a message is said once", () => {
    const part = "llm.output_messages.0.message.contents.0.message_content";
    const got = eventOf({
      attributes: {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Rain.",
        [`${part}.type`]: "text",
        [`${part}.text`]: "Rain.",
      },
    });

    expect(got.outputs).toEqual({ role: "assistant", content: "Rain." });
  });

  describe("Logfire", () => {
    const scope = { name: "logfire.openai", version: "", attributes: new Map() };
    const chat = { "gen_ai.operation.name": "chat" };
    const user = { role: "user", content: "Weather?" };
    const calls = [{ id: "c1", type: "function", function: { name: "weather", arguments: "{}" } }];

    test("items of the Responses API are messages, and the last of the model the reply", () => {
      const events = JSON.stringify([
        { "event.name": "gen_ai.user.message", ...user },
        { "event.name": "gen_ai.assistant.message", role: "assistant", tool_calls: calls },
        { "event.name": "gen_ai.tool.message", role: "tool", id: "c1", content: "Sunny." },
        { "event.name": "gen_ai.assistant.message", role: "assistant", content: "It is sunny." },
      ]);

      const got = eventOf({ scope, attributes: { ...chat, events } });

      expect(got.inputs).toEqual({
        chat_history: [
          user,
          { role: "assistant", tool_calls: calls },
          { role: "tool", content: "Sunny.", tool_call_id: "c1" },
        ],
      });
      expect(got.outputs).toEqual({ role: "assistant", content: "It is sunny." });
      expect(got.metadata).not.toHaveProperty("events");
    });

    test.each([
      { name: "a completion", response: { text: "Sunny.", finish_reason: "stop" } },
      { name: "a stream", response: { combined_chunk_content: "Sunny.", chunk_count: 3 } },
    ])("the text of $name is the reply", ({ response }) => {
      const got = eventOf({
        scope,
        attributes: {
          ...chat,
          request_data: JSON.stringify({ model: "m", prompt: "Weather?" }),
          response_data: JSON.stringify(response),
        },
      });

      expect(got.inputs).toEqual({ chat_history: [user] });
      expect(got.outputs).toEqual({ role: "assistant", content: "Sunny." });
      expect(got.metadata).toMatchObject({ request_data: { model: "m" } });
    });

    test.each([
      { name: "Function: {name}", type: "tool", inputs: { city: "Bern" }, outputs: "Sunny." },
      { name: "Agent run: {name!r}", type: "chain", inputs: undefined, outputs: undefined },
      { name: "OpenAI Agents trace: {name}", type: "chain", inputs: undefined, outputs: undefined },
    ])("$name of the OpenAI Agents SDK is a $type", ({ name, type, inputs, outputs }) => {
      const payload = type === "tool" ? { input: '{"city":"Bern"}', output: outputs ?? null } : {};

      const got = eventOf({
        scope: { ...scope, name: "logfire.openai_agents" },
        name,
        attributes: { name: "weather", ...payload },
      });

      expect(got.event_type).toBe(type);
      expect(got.inputs).toEqual(inputs);
      expect(got.outputs).toEqual(outputs && { result: outputs });
      expect(got.metadata).not.toHaveProperty("input");
    });

    test("the reply of a call by the OpenAI Agents SDK is behind its messages", () => {
      const messages = [user, { role: "assistant", content: "Sunny." }];

      const got = eventOf({
        scope: { ...scope, name: "logfire.openai_agents" },
        attributes: {
          "gen_ai.request.model": "m",
          request_data: JSON.stringify({ messages, model: "m" }),
        },
      });

      expect(got.event_type).toBe("model");
      expect(got.inputs).toEqual({ chat_history: [user] });
      expect(got.outputs).toEqual({ role: "assistant", content: "Sunny." });
    });

    test("messages of the GenAI conventions win, and what repeats them stays", () => {
      const request_data = JSON.stringify({ model: "m", messages: [user] });
      const own = [{ role: "user", parts: [{ type: "text", content: "Weather now?" }] }];

      const got = eventOf({
        scope,
        attributes: { ...chat, request_data, "gen_ai.input.messages": JSON.stringify(own) },
      });

      expect(got.inputs).toEqual({ chat_history: [{ role: "user", content: "Weather now?" }] });
      expect(got.metadata).toMatchObject({ request_data });
    });
  });

  test("Gemini's role of the model is the assistant's", () => {
    const got = eventOf({
      attributes: {
        "llm.output_messages.0.message.role": "model",
        "llm.output_messages.0.message.content": "Rain.",
      },
    });

    expect(got.outputs).toEqual({ role: "assistant", content: "Rain." });
  });

  test("OpenLLMetry's unknown role of a reply is the assistant's", () => {
    const parts = [{ type: "text", content: "Rain." }];
    const got = eventOf({
      attributes: { "gen_ai.output.messages": JSON.stringify([{ role: "unknown", parts }]) },
    });

    expect(got.outputs).toEqual({ role: "assistant", content: "Rain." });
  });

  test("Langfuse's handler for LangChain: tools are no results of tools", () => {
    const tool = { type: "function", function: { name: "find" } };
    const messages = [
      { role: "user", content: "Weather?" },
      { role: "tool", content: tool },
    ];
    const got = eventOf({
      attributes: {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": JSON.stringify(messages),
      },
    });

    expect(got.inputs).toEqual({
      tools: [tool],
      chat_history: [{ role: "user", content: "Weather?" }],
    });
  });
});

describe("spans of Mastra", () => {
  const mastra = (type: string, input: string, output: string): JsonObject => ({
    "mastra.span.type": type,
    "gen_ai.operation.name": type === "agent_run" ? "invoke_agent" : type,
    [`mastra.${type}.input`]: input,
    [`mastra.${type}.output`]: output,
  });
  const question = { role: "user", content: "Weather?" };

  test("an agent's question and answer stand beside its instructions", () => {
    const got = eventOf({
      attributes: {
        ...mastra("agent_run", "Weather?", '{"text": "Rain.", "files": []}'),
        "gen_ai.system_instructions": '[{"type": "text", "content": "Be terse."}]',
        "mastra.metadata.userId": "ada",
      },
    });

    expect(got.event_type).toBe("chain");
    expect(got.inputs).toEqual({
      chat_history: [{ role: "system", content: "Be terse." }, question],
    });
    expect(got.outputs).toEqual({ role: "assistant", content: "Rain." });
    expect(got.metadata).toMatchObject({ user_id: "ada" });
    expect(JSON.stringify(got.metadata)).not.toContain("Rain.");
  });

  test.each(["model_generation", "model_step"])("a %s has messages and calls", (type) => {
    const calls = [{ toolCallId: "c1", toolName: "get_weather", args: { city: "Paris" } }];
    const output = JSON.stringify({ text: "", toolCalls: calls, sources: ["a.org"] });
    const got = eventOf({
      attributes: mastra(type, JSON.stringify({ messages: [question] }), output),
    });

    expect(got.inputs).toEqual({ chat_history: [question] });
    expect(got.outputs).toMatchObject({ role: "assistant", tool_calls: [call] });
    expect(JSON.stringify(got)).toContain("a.org");
  });

  test("another step has an input and an output", () => {
    const got = eventOf({ attributes: mastra("workflow_step", '{"city": "Paris"}', "18") });

    expect(got).toMatchObject({
      event_type: "chain",
      inputs: { city: "Paris" },
      outputs: { result: "18" },
    });
  });
});

describe("calls of LiteLLM", () => {
  test("have a cost, reasons that are a list, and no empty provider", () => {
    const got = eventOf({
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "",
        "gen_ai.response.finish_reasons": '["stop"]',
        "gen_ai.cost.total_cost": 0.5,
      },
    });

    expect(got.config).toBeUndefined();
    expect(got.metadata).toMatchObject({
      cost: 0.5,
      finish_reasons: ["stop"],
      finish_reason: "stop",
    });
  });
});

describe("embedded texts", () => {
  const messages = JSON.stringify([
    { role: "user", content: "sun" },
    { role: "user", parts: [{ type: "text", content: "rain" }] },
  ]);

  test.each([
    {
      name: "OpenLLMetry",
      attributes: {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.input.messages": messages,
      },
    },
    {
      name: "LiteLLM",
      attributes: {
        "gen_ai.operation.name": "chat",
        "llm.request.type": "embedding",
        "gen_ai.input.messages": messages,
      },
    },
    {
      name: "OpenLLMetry with Cohere",
      attributes: {
        "llm.request.type": "embedding",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": JSON.stringify([
          { type: "text", text: "sun" },
          { type: "text", text: "rain" },
        ]),
      },
    },
    {
      name: "LiteLLM's proxy",
      attributes: {
        "gen_ai.operation.name": "aembedding",
        "gen_ai.request.model": "text-embedding-3-small",
        "gen_ai.input.messages": messages,
      },
    },
    {
      name: "Langfuse",
      attributes: {
        "langfuse.observation.type": "embedding",
        "langfuse.observation.input": '["sun", "rain"]',
      },
    },
  ])("of $name are no chat", ({ attributes }) => {
    const got = eventOf({ attributes });

    expect(got).toMatchObject({ event_type: "model", inputs: { texts: ["sun", "rain"] } });
    expect(got.inputs).not.toHaveProperty("chat_history");
    expect(got.config?.["type"]).toBeUndefined();
    expect(got.metadata).not.toHaveProperty(["gen_ai.input.messages"]);
  });
});

describe("inputs and outputs of steps", () => {
  test.each([
    { scope: "gen_ai", result: '"sunny"', want: "sunny" },
    { scope: "gen_ai", result: "18", want: 18 },
    { scope: "other", result: '"sunny"', want: '"sunny"' },
  ])("a tool's result $result of scope $scope is $want", ({ scope, result, want }) => {
    const got = eventOf({
      scope: { name: scope, version: "", attributes: new Map() },
      attributes: { "gen_ai.tool.name": "weather", "gen_ai.tool.call.result": result },
    });

    expect(got.outputs).toEqual({ result: want });
  });

  test("a payload that several attributes repeat stands once", () => {
    const got = eventOf({
      attributes: {
        "gen_ai.tool.call.arguments": '{"inputs":{"city":"Paris"},"input_str":"Paris"}',
        "traceloop.entity.input": '{"inputs":{"city":"Paris"},"tags":["a"]}',
        "gen_ai.task.input": '{"tags":["a"],"inputs":{"city":"Paris"}}',
        "traceloop.entity.output": '"done"',
        "gen_ai.task.output": '"done"',
      },
    });

    expect(got.inputs).toEqual({ inputs: { city: "Paris" }, input_str: "Paris", tags: ["a"] });
    expect(got.outputs).toEqual({ result: "done" });
    expect(got.metadata).not.toHaveProperty(["gen_ai.task.input"]);
    expect(got.metadata).not.toHaveProperty(["gen_ai.task.output"]);
  });

  test.each<{ name: string; attributes: JsonObject; want: JsonObject }>([
    {
      name: "OpenInference JSON",
      attributes: { "input.value": '{"q":1}', "output.value": "done" },
      want: { inputs: { q: 1 }, outputs: { result: "done" } },
    },
    {
      name: "Traceloop entities",
      attributes: {
        "traceloop.entity.input": '{"args":["Paris"],"kwargs":{}}',
        "traceloop.entity.output": "[1,2]",
      },
      want: { inputs: { args: ["Paris"], kwargs: {} }, outputs: { result: [1, 2] } },
    },
    {
      name: "GenAI tool calls",
      attributes: {
        "gen_ai.tool.call.arguments": '{"city":"Paris"}',
        "gen_ai.tool.call.result": "18",
      },
      want: { inputs: { city: "Paris" }, outputs: { result: "18" } },
    },
    {
      name: "GenAI searches of a memory",
      attributes: {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.query.text": "food",
        "gen_ai.memory.records": '[{"id":"m1","content":"vegetarian"}]',
      },
      want: {
        inputs: { query: "food" },
        outputs: { records: [{ id: "m1", content: "vegetarian" }] },
      },
    },
    {
      name: "GenAI memories that are stored",
      attributes: {
        "gen_ai.operation.name": "create_memory",
        "gen_ai.memory.records": '[{"content":"vegetarian"}]',
      },
      want: { inputs: { records: [{ content: "vegetarian" }] } },
    },
    {
      name: "Vercel tool calls",
      attributes: { "ai.toolCall.args": '{"city":"Paris"}', "ai.toolCall.result": '{"c":18}' },
      want: { inputs: { city: "Paris" }, outputs: { c: 18 } },
    },
    {
      name: "Traceloop texts",
      attributes: { "traceloop.entity.input": '"go"', "traceloop.entity.output": '"done"' },
      want: { inputs: { input: "go" }, outputs: { result: "done" } },
    },
    {
      name: "Traceloop numbers and nothing",
      attributes: { "traceloop.entity.input": "5", "traceloop.entity.output": "null" },
      want: { inputs: { input: 5 }, outputs: { result: null } },
    },
    {
      name: "Traceloop text that is no JSON",
      attributes: { "traceloop.entity.input": '"half', "traceloop.entity.output": "NaN" },
      want: { inputs: { input: '"half' }, outputs: { result: "NaN" } },
    },
    {
      name: "Traceloop numbers that JSON cannot keep",
      attributes: {
        "traceloop.entity.input": "9007199254740993",
        "traceloop.entity.output": "1E+400",
      },
      want: { inputs: { input: "9007199254740993" }, outputs: { result: "1E+400" } },
    },
    {
      name: "Vercel tools with texts",
      attributes: { "ai.toolCall.args": '"x"', "ai.toolCall.result": '"18\\u00b0"' },
      want: { inputs: { input: "x" }, outputs: { result: "18°" } },
    },
    {
      name: "Vercel tools whose text holds JSON",
      attributes: { "ai.toolCall.args": "true", "ai.toolCall.result": '"{\\"a\\":1}"' },
      want: { inputs: { input: true }, outputs: { result: '{"a":1}' } },
    },
    {
      name: "Vercel tools with text that is no JSON",
      attributes: { "ai.toolCall.args": "rain", "ai.toolCall.result": "{sun" },
      want: { inputs: { input: "rain" }, outputs: { result: "{sun" } },
    },
    {
      name: "retrieved documents",
      attributes: {
        "reranker.query": "sun",
        "retrieval.documents.0.document.id": "d",
        "retrieval.documents.0.document.metadata": '{"page":1}',
      },
      want: {
        inputs: { query: "sun" },
        outputs: { documents: [{ id: "d", metadata: { page: 1 } }] },
      },
    },
    {
      name: "HoneyHive buckets",
      attributes: {
        "honeyhive_inputs._params_.city": "Paris",
        "honeyhive_outputs.result": "18",
        "honeyhive_config.a.b": 1,
        "honeyhive_metrics.score": 0.5,
        honeyhive_feedback: '{"rating":5}',
        "honeyhive_user_properties.plan": "pro",
      },
      want: {
        inputs: { _params_: { city: "Paris" } },
        outputs: { result: "18" },
        config: { a: { b: 1 } },
        metrics: { score: 0.5 },
        feedback: { rating: 5 },
        user_properties: { plan: "pro" },
      },
    },
  ])("$name", ({ attributes, want }) => {
    expect(eventOf({ attributes })).toMatchObject(want);
  });
});

describe("everything else", () => {
  test("unknown attributes are kept in metadata under their literal key with their type", () => {
    const attributes = {
      "test.a.b": "text",
      "honeyhive.inputs.x": 1,
      flag: true,
      list: [1, "two"],
      tree: { leaf: null },
      __proto__x: 1,
    };

    expect(eventOf({ attributes }).metadata).toMatchObject(attributes);
  });

  test("an attribute called __proto__ is a key like any other", () => {
    const attributes = JSON.parse(
      '{"__proto__":"x","honeyhive_inputs.__proto__.y":1}',
    ) as JsonObject;

    const got = eventOf({ attributes });

    expect(JSON.stringify(got.metadata)).toContain('"__proto__":"x"');
    expect(JSON.stringify(got.inputs)).toBe('{"__proto__":{"y":1}}');
  });

  test.each([
    { name: "an attribute", attributes: { ["__proto__"]: '{"content":"no"}', content: "yes" } },
    {
      name: "a key of a body",
      attributes: { "gen_ai.event.content": '{"__proto__":{"content":"no"},"content":"yes"}' },
    },
  ])("$name of a message called __proto__ is a key like any other", ({ attributes }) => {
    const events = [{ name: "gen_ai.user.message", attributes }];

    const [message] = eventOf({
      attributes: { "gen_ai.operation.name": "chat" },
      events,
    }).inputs?.["chat_history"] as JsonObject[];

    expect(JSON.stringify(message)).toBe(
      '{"role":"user","content":"yes","__proto__":{"content":"no"}}',
    );
  });

  test("an attribute with the name of a field of ours stands beside it", () => {
    const got = eventOf({ attributes: { trace_id: "mine" } });

    expect(got.metadata).toMatchObject({
      trace_id: "0af7651916cd43dd8448eb211c80319c",
      "attribute.trace_id": "mine",
    });
  });

  test("span events, links, kind and dropped counts are kept", () => {
    const link = {
      traceId: "1".repeat(32),
      spanId: "2".repeat(16),
      traceState: "",
      attributes: new Map(),
    };

    const got = eventOf({
      kind: "client",
      links: [link],
      events: [{ name: "retry", attributes: { attempt: 2 } }],
      dropped: { attributes: 3, events: 0, links: 0 },
    });

    expect(got.metadata).toMatchObject({
      otel_span_kind: "client",
      span_links: [{ trace_id: link.traceId, span_id: link.spanId }],
      span_events: [{ name: "retry", time: 1_760_000_000_500, attributes: { attempt: 2 } }],
      dropped_attributes_count: 3,
    });
  });

  test("the application's resource attributes are kept, the machine's are not", () => {
    const resource = { "service.name": "shop", "host.name": "h", "process.pid": 1, team: "a" };

    const { metadata } = eventOf({ resource });

    expect(metadata).toMatchObject({ "service.name": "shop", team: "a" });
    expect(Object.keys(metadata ?? {})).not.toEqual(expect.arrayContaining(["host.name"]));
    expect(Object.keys(metadata ?? {})).not.toEqual(expect.arrayContaining(["process.pid"]));
  });
});

describe("errors", () => {
  const exception = {
    name: "exception",
    attributes: { "exception.type": "TypeError", "exception.message": "bad" },
  };

  test.each([
    { name: "status message", parts: { statusMessage: "boom", events: [exception] }, want: "boom" },
    { name: "exception message", parts: { events: [exception] }, want: "bad" },
    {
      name: "exception type",
      parts: { events: [{ name: "exception", attributes: { "exception.type": "TypeError" } }] },
      want: "TypeError",
    },
    { name: "error.type", parts: { attributes: { "error.type": "timeout" } }, want: "timeout" },
    {
      name: "exception of LiteLLM's proxy",
      parts: { attributes: { exception: "litellm.RateLimitError: stand-in says 429" } },
      want: "litellm.RateLimitError: stand-in says 429",
    },
    { name: "nothing said", parts: {}, want: "error" },
    { name: "honeyhive_error", parts: { attributes: { honeyhive_error: "mine" } }, want: "mine" },
  ])("a failed span's error is its $name", ({ parts, want }) => {
    expect(eventOf({ status: "error", ...parts }).error).toBe(want);
  });

  test("a stream of Vercel's SDK that broke is an error, though its status is unset", () => {
    expect(eventOf({ attributes: { "ai.response.finishReason": "error" } }).error).toBe("error");
    expect(eventOf({ attributes: { "ai.response.finishReason": "stop" } })).not.toHaveProperty(
      "error",
    );
  });

  test("an exception is an error unless the status says ok", () => {
    expect(eventOf({ events: [exception] }).error).toBe("bad");
    expect(eventOf({ events: [exception], status: "ok" })).not.toHaveProperty("error");
  });

  test("honeyhive_error_type stays in metadata", () => {
    const got = eventOf({ attributes: { honeyhive_error: "x", honeyhive_error_type: "T" } });

    expect(got.metadata).toMatchObject({ honeyhive_error_type: "T" });
  });
});

describe("spans of Genkit", () => {
  const genkit = (type: string, input: JsonValue, output: JsonValue): JsonObject => ({
    "genkit:name": "googleai/gemini-3-pro",
    "genkit:metadata:subtype": type,
    "genkit:input": JSON.stringify(input),
    "genkit:output": JSON.stringify(output),
  });

  test("what a model said is text beside the signature of what it thought", () => {
    const said = { text: "Rain.", metadata: { thoughtSignature: "c2ln" } };
    const thought = { reasoning: "It may rain." };
    const message = { role: "model", content: [thought, said] };

    const { outputs } = eventOf({ attributes: genkit("model", {}, { message }) });

    const part_metadata = [{ thoughtSignature: "c2ln" }];
    expect(outputs).toEqual({
      role: "assistant",
      content: "Rain.",
      reasoning: "It may rain.",
      part_metadata,
    });
  });

  test("a flow's own messages and settings stay as they are", () => {
    const input = { messages: [{ text: "Weather?" }], config: { topK: 3 }, tools: [] };
    const output = { message: "Rain.", usage: { inputTokens: 5 } };

    const { inputs, outputs, config, metadata } = eventOf({
      attributes: genkit("flow", input, output),
    });

    expect({ inputs, outputs, config }).toEqual({ inputs: input, outputs: output });
    expect(metadata).not.toHaveProperty("prompt_tokens");
  });
});

describe("spans of Braintrust", () => {
  test("calls of Anthropic count the tokens that a cache read and wrote", () => {
    const { metadata } = eventOf({
      attributes: {
        "braintrust.span_attributes": '{"type":"llm"}',
        "braintrust.metadata": '{"provider":"anthropic","model":"claude"}',
        "braintrust.metrics": JSON.stringify({
          prompt_tokens: 17,
          prompt_cached_tokens: 64,
          prompt_cache_creation_tokens: 32,
          completion_tokens: 5,
          tokens: 22,
        }),
      },
    });

    expect(metadata).toMatchObject({
      prompt_tokens: 113,
      cache_read_input_tokens: 64,
      cache_write_input_tokens: 32,
      completion_tokens: 5,
      total_tokens: 118,
    });
  });

  test("scores are metrics, and a step's own metadata is the event's", () => {
    const got = eventOf({
      attributes: {
        "braintrust.span_attributes": '{"type":"score","name":"exact"}',
        "braintrust.scores": '{"exact":0.5}',
        "braintrust.metadata": '{"case":"a"}',
        "braintrust.output_json": '"done"',
      },
    });

    expect(got).toMatchObject({
      event_type: "chain",
      metrics: { exact: 0.5 },
      metadata: { case: "a" },
      outputs: { result: "done" },
    });
  });
});

describe("names, sources and times", () => {
  test("Logfire's template is named by the text made of it", () => {
    const template = "Ask {name}";
    const nameOf = (text: string, name = template) =>
      eventOf({
        name,
        attributes: { "logfire.msg_template": template, "logfire.msg": text },
      }).event_name;

    expect(nameOf("Ask Ada")).toBe("Ask Ada");
    expect(nameOf("x".repeat(100_000))).toBe(template);
    expect(nameOf("Ask Ada", "ask")).toBe("ask");
  });

  test("honeyhive_event_name replaces the span's name", () => {
    expect(eventOf({ name: "fn" }).event_name).toBe("fn");
    expect(eventOf({ attributes: { honeyhive_event_name: "mine" } }).event_name).toBe("mine");
  });

  test.each([
    { attributes: { "honeyhive.source": "a" }, header: "h", service: "s", want: "a" },
    { attributes: {}, header: "h", service: "s", want: "h" },
    { attributes: {}, header: undefined, service: "s", want: "s" },
    { attributes: {}, header: undefined, service: "unknown_service:node", want: undefined },
  ])("the source is $want", ({ attributes, header, service, want }) => {
    const got = eventOf({ attributes, resource: { "service.name": service } }, header);

    expect(got.source).toBe(want);
  });

  test("duration is the time between start and end, never negative", () => {
    expect(eventOf({ endMs: 1_760_000_000_000.25 }).duration).toBe(0.25);
    expect(eventOf({ endMs: 1_759_999_999_999 }).duration).toBe(0);
    expect(eventOf({ attributes: { honeyhive_duration_ms: 7.5 } }).duration).toBe(7.5);
    expect(eventOf({ endMs: undefined })).not.toHaveProperty("duration");
  });
});
