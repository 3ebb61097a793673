// Infers the kind of step of a span: model, tool or chain. Source: docs/spec.md, "Event record";
// the order of evidence is docs/otlp.md, "Event types".

import type { JsonValue } from "../../base/json.ts";
import type { EventType } from "../events/event.ts";
import type { Span } from "./span.ts";

const explicitKeys = [
  "honeyhive_event_type",
  "honeyhive.event_type",
  "honeyhive_event_type_raw",
  "honeyhive.event_type_raw",
];

const byOperation: Readonly<Record<string, EventType>> = {
  chat: "model",
  text_completion: "model",
  generate_content: "model",
  embeddings: "model",
  invoke_agent: "chain",
  create_agent: "chain",
  invoke_workflow: "chain",
  // Agent steps as named by the Vercel AI SDK.
  agent_step: "chain",
  // A turn of an agent, as named by Strands.
  execute_event_loop_cycle: "chain",
  execute_tool: "tool",
  retrieval: "tool",
};

const byOpenInferenceKind: Readonly<Record<string, EventType>> = {
  LLM: "model",
  CHAIN: "chain",
  AGENT: "chain",
  TOOL: "tool",
  RETRIEVER: "tool",
  EMBEDDING: "tool",
  RERANKER: "tool",
  GUARDRAIL: "tool",
  EVALUATOR: "chain",
  PROMPT: "chain",
};

// Its embeddings are calls of a model, but its exporter names retrievals as embeddings.
const byLangSmithKind: Readonly<Record<string, EventType>> = {
  llm: "model",
  embedding: "model",
  tool: "tool",
  retriever: "tool",
  chain: "chain",
  parser: "chain",
  prompt: "chain",
};

const byLangfuseType: Readonly<Record<string, EventType>> = {
  generation: "model",
  embedding: "model",
  tool: "tool",
  retriever: "tool",
  span: "chain",
  agent: "chain",
  chain: "chain",
  evaluator: "chain",
  event: "chain",
  guardrail: "chain",
};

const byTraceloopKind: Readonly<Record<string, EventType>> = {
  workflow: "chain",
  task: "chain",
  agent: "chain",
  tool: "tool",
};

// Types beside those that `gen_ai.operation.name` tells.
const byMastraType: Readonly<Record<string, EventType>> = {
  scorer_run: "chain",
  scorer_step: "chain",
  generic: "chain",
  model_generation: "chain",
  model_chunk: "chain",
  mcp_server_request: "chain",
  processor_run: "chain",
  client_tool_call: "tool",
  workflow_step: "chain",
  workflow_conditional: "chain",
  workflow_conditional_eval: "chain",
  workflow_parallel: "chain",
  workflow_loop: "chain",
  workflow_sleep: "chain",
  workflow_wait_event: "chain",
  memory_operation: "tool",
  rag_ingestion: "chain",
  rag_vector_operation: "tool",
  rag_action: "tool",
};

// AG2 repeats the tokens of each call of a model on a span of its own.
const byAg2Usage: Readonly<Record<string, EventType>> = { model_call: "chain" };

const byRequestType: Readonly<Record<string, EventType>> = {
  chat: "model",
  completion: "model",
  embedding: "model",
  rerank: "tool",
};

/** Tables in order; the first that knows the attribute's value decides. */
const evidence: readonly (readonly [string, Readonly<Record<string, EventType>>])[] = [
  ["langsmith.span.kind", byLangSmithKind],
  ["gen_ai.operation.name", byOperation],
  ["openinference.span.kind", byOpenInferenceKind],
  ["traceloop.span.kind", byTraceloopKind],
  ["llm.request.type", byRequestType],
  ["langfuse.observation.type", byLangfuseType],
  ["mastra.span.type", byMastraType],
  ["ag2.usage.kind", byAg2Usage],
];

/** Attributes that only one kind of step has, in order of precedence. */
const telling: readonly (readonly [string, EventType])[] = [
  ["gen_ai.tool.name", "tool"],
  ["gen_ai.tool.call.id", "tool"],
  ["ai.toolCall.name", "tool"],
  ["gen_ai.request.model", "model"],
  ["gen_ai.response.model", "model"],
  ["llm.model_name", "model"],
  ["gen_ai.usage.input_tokens", "model"],
  ["gen_ai.usage.prompt_tokens", "model"],
  ["gen_ai.usage.output_tokens", "model"],
  ["gen_ai.usage.completion_tokens", "model"],
  ["llm.token_count.total", "model"],
  ["gen_ai.agent.name", "chain"],
  ["gen_ai.agent.id", "chain"],
  ["gen_ai.workflow.name", "chain"],
  ["gen_ai.output.messages", "model"],
  ["gen_ai.input.messages", "model"],
];

// Names of model calls from instrumentations without conventions.
const modelWords = [
  "chat",
  "completions?",
  "embeddings?",
  "llm",
  "generate_?content",
  "openai",
  "anthropic",
  "gemini",
  "mistral",
  "cohere",
  "bedrock",
];
const modelName = new RegExp(`(^|[^a-z])(${modelWords.join("|")})([^a-z]|$)`, "i");

/**
 * Attributes of spans whose name is an address or a statement and therefore no evidence of a model.
 */
const notByName = [
  "http.request.method",
  "http.method",
  "db.system",
  "db.system.name",
  "rpc.system",
];

/**
 * Infers the type of a span's event, in this order: the sender's explicit type, LangSmith's span
 * kind, `gen_ai.operation.name`, span kinds of OpenInference, Traceloop and Langfuse, Vercel's
 * operation, other model or tool attributes, the span's name; otherwise it is a tool. An unknown
 * operation name or kind decides nothing.
 */
export function inferEventType(span: Span): EventType {
  return (
    explicitType(span) ??
    typeFromGoogleAdk(span) ??
    typeFromEvidence(span) ??
    typeFromVercelOperation(span) ??
    typeFromTellingAttributes(span) ??
    typeFromName(span) ??
    "tool"
  );
}

function explicitType(span: Span): EventType | undefined {
  for (const key of explicitKeys) {
    const value = lower(span.attributes.get(key));
    if (value === "model" || value === "tool" || value === "chain" || value === "session") {
      return value;
    }
  }
  return undefined;
}

// The whole run of an agent has no attributes. In the first schema, `call_llm` is the call of the
// model, with its messages and tokens, and the `generate_content` inside it repeats the tokens;
// only later schemas name the provider.
function typeFromGoogleAdk({ scope, name, attributes }: Span): EventType | undefined {
  if (scope.name !== "gcp.vertex.agent") return undefined;
  const isInner =
    attributes.get("gen_ai.operation.name") === "generate_content" &&
    !attributes.has("gen_ai.provider.name");
  return isInner || name === "invocation" ? "chain" : undefined;
}

function typeFromEvidence(span: Span): EventType | undefined {
  for (const [key, types] of evidence) {
    const value = span.attributes.get(key);
    if (typeof value !== "string") continue;
    const type =
      own(types, value) ?? own(types, value.toLowerCase()) ?? own(types, value.toUpperCase());
    if (type !== undefined) return type;
  }
  return undefined;
}

// `ai.generateText` wraps the steps of a call, `ai.generateText.doGenerate` is one request.
function typeFromVercelOperation(span: Span): EventType | undefined {
  const operation = span.attributes.get("ai.operationId");
  if (typeof operation !== "string" || !operation.startsWith("ai.")) return undefined;
  if (operation === "ai.toolCall") return "tool";
  return /\.do[A-Z]\w*$/.test(operation) ? "model" : "chain";
}

function typeFromTellingAttributes(span: Span): EventType | undefined {
  return telling.find(([key]) => isPresent(span.attributes.get(key)))?.[1];
}

function typeFromName(span: Span): EventType | undefined {
  if (notByName.some((key) => span.attributes.has(key))) return undefined;
  return modelName.test(span.name) ? "model" : undefined;
}

function own(types: Readonly<Record<string, EventType>>, value: string): EventType | undefined {
  return Object.hasOwn(types, value) ? types[value] : undefined;
}

function lower(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value.toLowerCase() : undefined;
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== "";
}
