// Event types, from the sender's word down to the span's name.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { eventOf } from "../../support/spans.ts";

const generates = { "gen_ai.operation.name": "generate_content" };

describe("inferEventType", () => {
  test.each<{ attributes: JsonObject; name?: string; want: string }>([
    { attributes: { honeyhive_event_type: "model" }, want: "model" },
    { attributes: { "honeyhive.event_type": "chain" }, want: "chain" },
    { attributes: { honeyhive_event_type_raw: "MODEL" }, want: "model" },
    { attributes: { honeyhive_event_type: "session" }, want: "session" },
    {
      attributes: { honeyhive_event_type: "generic", "gen_ai.operation.name": "chat" },
      want: "model",
    },
    { attributes: { honeyhive_event_type: "tool", "gen_ai.operation.name": "chat" }, want: "tool" },
    ...["chat", "text_completion", "generate_content", "embeddings"].map((operation) => ({
      attributes: { "gen_ai.operation.name": operation },
      want: "model",
    })),
    ...["invoke_agent", "create_agent", "invoke_workflow", "execute_event_loop_cycle"].map(
      (operation) => ({
        attributes: { "gen_ai.operation.name": operation },
        want: "chain",
      }),
    ),
    { attributes: { "gen_ai.operation.name": "plan", "gen_ai.request.model": "m" }, want: "chain" },
    ...["execute_tool", "retrieval"].map((operation) => ({
      attributes: { "gen_ai.operation.name": operation },
      want: "tool",
    })),
    ...["search_memory", "create_memory", "upsert_memory", "delete_memory_store"].map(
      (operation) => ({
        attributes: { "gen_ai.operation.name": operation, "gen_ai.agent.name": "a" },
        want: "tool",
      }),
    ),
    // A call of a model that AG2 tells of a second time.
    {
      attributes: { "ag2.usage.kind": "model_call", "gen_ai.usage.input_tokens": 3 },
      want: "chain",
    },
    {
      attributes: { "ag2.usage.kind": "compaction", "gen_ai.usage.input_tokens": 3 },
      want: "model",
    },
    ...["CHAIN", "AGENT", "PROMPT", "EVALUATOR"].map((kind) => ({
      attributes: { "openinference.span.kind": kind },
      want: "chain",
    })),
    ...["TOOL", "RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL"].map((kind) => ({
      attributes: { "openinference.span.kind": kind },
      want: "tool",
    })),
    { attributes: { "openinference.span.kind": "LLM" }, want: "model" },
    { attributes: { "traceloop.span.kind": "workflow" }, want: "chain" },
    { attributes: { "traceloop.span.kind": "task" }, want: "chain" },
    { attributes: { "traceloop.span.kind": "agent" }, want: "chain" },
    { attributes: { "traceloop.span.kind": "tool" }, want: "tool" },
    { attributes: { "llm.request.type": "completion" }, want: "model" },
    { attributes: { "ai.operationId": "ai.streamText" }, want: "chain" },
    { attributes: { "ai.operationId": "ai.streamText.doStream" }, want: "model" },
    { attributes: { "ai.operationId": "ai.toolCall" }, want: "tool" },
    // Unknown operations are typed from the other attributes.
    { attributes: { "gen_ai.operation.name": "new", "gen_ai.request.model": "m" }, want: "model" },
    { attributes: { "gen_ai.operation.name": "new", "gen_ai.tool.name": "t" }, want: "tool" },
    { attributes: { "gen_ai.operation.name": "new", "gen_ai.agent.name": "a" }, want: "chain" },
    {
      attributes: { "gen_ai.operation.name": "new", "traceloop.span.kind": "task" },
      want: "chain",
    },
    { attributes: { "gen_ai.operation.name": "new" }, want: "tool" },
    { attributes: { "gen_ai.operation.name": "constructor" }, want: "tool" },
    { attributes: { "gen_ai.operation.name": 7 }, want: "tool" },
    { attributes: {}, name: "openai.chat", want: "model" },
    { attributes: {}, name: "Embeddings", want: "model" },
    { attributes: { "http.request.method": "POST" }, name: "POST /chat/completions", want: "tool" },
    {
      attributes: { "messaging.destination": "celery", "celery.action": "run" },
      name: "run/tasks.chat",
      want: "tool",
    },
    {
      attributes: { "mcp.method.name": "tools/call" },
      name: "MCP send tools/call ask_gemini",
      want: "tool",
    },
    { attributes: { "rpc.system.name": "grpc" }, name: "acme.chat.v1.Chat/Ask", want: "tool" },
    { attributes: { "graphql.operation.type": "query" }, name: "query chat", want: "tool" },
    { attributes: { "graphql.field.name": "chat" }, name: "graphql.resolve chat", want: "tool" },
    { attributes: { "nestjs.type": "handler" }, name: "chat", want: "tool" },
    { attributes: { "messaging.system": "kafka" }, name: "chat publish", want: "tool" },
    { attributes: {}, name: "POST /api/chat http send", want: "tool" },
    { attributes: {}, name: "GET https://api.mistral.ai/v1/models", want: "tool" },
    { attributes: {}, name: "call openai/gpt-4o", want: "model" },
    { attributes: { "llm.openai.model": "m" }, name: "raw_gen_ai_request", want: "chain" },
    { attributes: {}, name: "chatter", want: "tool" },
    { attributes: {}, want: "tool" },
  ])("$attributes $name is a $want", ({ attributes, name = "step", want }) => {
    expect(eventOf({ attributes, name }).event_type).toBe(want);
  });

  // Spans of a call through LiteLLM's proxy and of a team of AutoGen 0.7.
  test.each([
    { of: "litellm", name: "auth", attributes: { service: "auth", call_type: "/v1/chat" } },
    { of: "litellm", name: "router", attributes: { service: "router", call_type: "acompletion" } },
    {
      of: "litellm",
      name: "Received Proxy Server Request",
      attributes: { "url.path": "/v1/chat/completions", "http.route": "/v1/chat/completions" },
    },
    {
      of: "autogen SingleThreadedAgentRuntime",
      name: "autogen publish group_topic_703f74d8.(703f74d8)-T",
      attributes: {
        "messaging.operation": "publish",
        "messaging.destination": "group_topic_703f74d8.(703f74d8)-T",
      },
    },
  ])("$of's step $name is a chain", ({ of, name, attributes }) => {
    const scope = { name: of, version: "", attributes: new Map() };

    expect(eventOf({ scope, name, attributes }).event_type).toBe("chain");
  });

  test.each([
    {
      of: "litellm",
      name: "litellm_request",
      attributes: { "gen_ai.request.model": "m" },
      want: "model",
    },
    {
      of: "autogen-core",
      name: "execute_tool get_weather",
      attributes: { "gen_ai.operation.name": "execute_tool" },
      want: "tool",
    },
  ])("$of's $name stays a $want", ({ of, name, attributes, want }) => {
    const scope = { name: of, version: "", attributes: new Map() };

    expect(eventOf({ scope, name, attributes }).event_type).toBe(want);
  });

  test.each([
    { name: "invocation", attributes: {}, want: "chain" },
    { name: "call_llm", attributes: { "gen_ai.request.model": "m" }, want: "model" },
    // In the first schema it repeats the tokens of `call_llm`, with the messages if asked to.
    { name: "generate_content", attributes: generates, want: "chain" },
    {
      name: "generate_content",
      attributes: { ...generates, "gen_ai.input.messages": "[]" },
      want: "chain",
    },
    {
      name: "generate_content",
      attributes: { ...generates, "gen_ai.provider.name": "gcp.gemini" },
      want: "model",
    },
  ])("Google ADK's $name of $attributes is a $want", ({ name, attributes, want }) => {
    const scope = { name: "gcp.vertex.agent", version: "", attributes: new Map() };

    expect(eventOf({ scope, name, attributes }).event_type).toBe(want);
  });
});
