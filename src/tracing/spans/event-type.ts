// Infers the kind of step of a span: model, tool or chain. Source: docs/spec.md, "Event record";
// the order of evidence is docs/otlp.md, "Event types".

import type { JsonValue } from "../../base/json.ts";
import type { EventType } from "../events/event.ts";
import { agentsScope } from "./conventions/logfire.ts";
import type { Span } from "./span.ts";

const explicitKeys = [
  "honeyhive_event_type",
  "honeyhive.event_type",
  "honeyhive_event_type_raw",
  "honeyhive.event_type_raw",
];

/** Types by the values of an attribute. */
type Types = ReadonlyMap<string, EventType>;

function typesOf(values: { readonly [Type in EventType]?: readonly string[] }): Types {
  const types = Object.entries(values) as [EventType, readonly string[]][];
  return new Map(types.flatMap(([type, names]) => names.map((name) => [name, type])));
}

const byOperation = typesOf({
  model: ["chat", "text_completion", "generate_content", "embeddings"],
  chain: [
    "invoke_agent",
    "create_agent",
    "invoke_workflow",
    "plan",
    // Agent steps as named by the Vercel AI SDK.
    "agent_step",
    // A turn of an agent, as named by Strands.
    "execute_event_loop_cycle",
  ],
  tool: [
    "execute_tool",
    "retrieval",
    "search_memory",
    "create_memory",
    "update_memory",
    "upsert_memory",
    "delete_memory",
    "create_memory_store",
    "delete_memory_store",
  ],
});

const byOpenInferenceKind = typesOf({
  model: ["LLM"],
  chain: ["CHAIN", "AGENT", "EVALUATOR", "PROMPT"],
  tool: ["TOOL", "RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL"],
});

// Its embeddings are calls of a model, but its exporter names retrievals as embeddings.
const byLangSmithKind = typesOf({
  model: ["llm", "embedding"],
  chain: ["chain", "parser", "prompt"],
  tool: ["tool", "retriever"],
});

const byLangfuseType = typesOf({
  model: ["generation", "embedding"],
  chain: ["span", "agent", "chain", "evaluator", "event", "guardrail"],
  tool: ["tool", "retriever"],
});

// Types beside those that `gen_ai.operation.name` tells.
const byMastraType = typesOf({
  chain: [
    "scorer_run",
    "scorer_step",
    "generic",
    "model_generation",
    "model_chunk",
    "mcp_server_request",
    "processor_run",
    "workflow_step",
    "workflow_conditional",
    "workflow_conditional_eval",
    "workflow_parallel",
    "workflow_loop",
    "workflow_sleep",
    "workflow_wait_event",
    "rag_ingestion",
  ],
  tool: ["client_tool_call", "memory_operation", "rag_vector_operation", "rag_action"],
});

const byGenkitType = typesOf({
  model: ["model", "background-model", "embedder"],
  chain: ["flow", "agent", "prompt", "executable-prompt", "evaluator", "util"],
  tool: ["tool", "tool.v2", "retriever", "indexer", "reranker", "resource"],
});

const byLangWatchType = typesOf({
  model: ["llm"],
  chain: [
    "span",
    "chain",
    "agent",
    "guardrail",
    "evaluation",
    "workflow",
    "component",
    "module",
    "task",
    "prompt",
  ],
  tool: ["tool", "rag"],
});

// MLflow writes JSON text.
const byMlflowType = typesOf({
  model: ['"CHAT_MODEL"', '"LLM"', '"EMBEDDING"'],
  chain: ['"AGENT"', '"CHAIN"', '"WORKFLOW"', '"TASK"', '"PARSER"', '"GUARDRAIL"', '"EVALUATOR"'],
  tool: ['"TOOL"', '"RETRIEVER"', '"RERANKER"', '"MEMORY"'],
});

const byBraintrustType = typesOf({
  model: ["llm"],
  chain: ["task", "eval", "score", "function"],
  tool: ["tool"],
});

/** Tables in order; the first that knows the attribute's value decides. */
const evidence: readonly (readonly [string, Types])[] = [
  ["langsmith.span.kind", byLangSmithKind],
  ["gen_ai.operation.name", byOperation],
  ["openinference.span.kind", byOpenInferenceKind],
  ["traceloop.span.kind", typesOf({ chain: ["workflow", "task", "agent"], tool: ["tool"] })],
  ["llm.request.type", typesOf({ model: ["chat", "completion", "embedding"], tool: ["rerank"] })],
  ["langfuse.observation.type", byLangfuseType],
  ["mastra.span.type", byMastraType],
  // AG2 repeats the tokens of each call of a model on a span of its own.
  ["ag2.usage.kind", typesOf({ chain: ["model_call"] })],
  // Steps around the calls of models, which do not have the attribute.
  [
    "spring.ai.kind",
    typesOf({ chain: ["chat_client", "advisor"], tool: ["tool_call", "vector_store"] }),
  ],
  ["genkit:metadata:subtype", byGenkitType],
  // Steps that are no actions.
  ["genkit:type", typesOf({ chain: ["util", "flow", "flowStep", "dotprompt", "promptTemplate"] })],
  ["langwatch.span.type", byLangWatchType],
  ["mlflow.spanType", byMlflowType],
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

/** An address in a name: FastAPI's spans of what a request sends have it and no attribute. */
const address = /(^|\s)(https?:\/)?\/\S*/gi;

/**
 * Attributes of spans whose name is an address, a statement or the name of a task, a tool, a field
 * or a method, and therefore no evidence of a model.
 */
const notByName = [
  "http.request.method",
  "http.method",
  "db.system",
  "db.system.name",
  "rpc.system",
  "rpc.system.name",
  "messaging.system",
  // Celery's, of a task.
  "messaging.destination",
  "mcp.method.name",
  "graphql.operation.type",
  "graphql.field.name",
  "nestjs.type",
  // Braintrust's, whose calls of models say so; others are named after a method.
  "braintrust.parent",
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
    typeFromBraintrust(span) ??
    typeFromVercelOperation(span) ??
    typeFromTellingAttributes(span) ??
    typeFromLiteLlm(span) ??
    typeFromAutoGen(span) ??
    typeFromLogfire(span) ??
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

// LiteLLM puts what it sent to the provider on a span inside that of the call, and its proxy makes
// spans of its own steps, such as `auth` and `router`.
function typeFromLiteLlm({ scope, name }: Span): EventType | undefined {
  return scope.name === "litellm" || name === "raw_gen_ai_request" ? "chain" : undefined;
}

// Messages between the agents of AutoGen, several for each turn of a team.
function typeFromAutoGen({ scope, attributes }: Span): EventType | undefined {
  const isMessage = scope.name.startsWith("autogen ") && attributes.has("messaging.operation");
  return isMessage ? "chain" : undefined;
}

// Runs, turns and handoffs of the OpenAI Agents SDK, which have no attribute of their kind.
function typeFromLogfire({ scope, name }: Span): EventType | undefined {
  if (scope.name !== agentsScope) return undefined;
  return name.startsWith("Function: ") ? "tool" : "chain";
}

function typeFromEvidence(span: Span): EventType | undefined {
  for (const [key, types] of evidence) {
    const value = span.attributes.get(key);
    if (typeof value !== "string") continue;
    const type =
      types.get(value) ?? types.get(value.toLowerCase()) ?? types.get(value.toUpperCase());
    if (type !== undefined) return type;
  }
  return undefined;
}

// The type is part of JSON text.
function typeFromBraintrust({ attributes }: Span): EventType | undefined {
  const described = attributes.get("braintrust.span_attributes");
  if (typeof described !== "string") return undefined;
  return byBraintrustType.get(/"type": ?"(\w+)"/.exec(described)?.[1] ?? "");
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
  return modelName.test(span.name.replaceAll(address, " ")) ? "model" : undefined;
}

function lower(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value.toLowerCase() : undefined;
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== "";
}
