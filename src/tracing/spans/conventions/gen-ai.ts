// OpenTelemetry's current semantic conventions for generative AI: messages in attributes.
// Source: OpenTelemetry semantic conventions, gen-ai registry and gen-ai-spans (1.37 and later).

import { isJsonArray, isJsonObject, type JsonValue } from "../../../base/json.ts";
import { move, movePayload, place, type Draft } from "../draft.ts";
import type { SpanEvent } from "../span.ts";
import { isOnlyMessages, moveReply, placeHistory } from "../messages.ts";
import { readMessages, type Message } from "../messages.ts";
import { isSameJson, parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const genAi: Convention = {
  fields: {
    "gen_ai.request.model": "config.model",
    "gen_ai.provider.name": ["config.provider", "metadata.provider"],
    "gen_ai.operation.name": "metadata.operation_name",
    "gen_ai.request.temperature": "config.hyperparameters.temperature",
    "gen_ai.request.top_p": "config.hyperparameters.top_p",
    "gen_ai.request.top_k": "config.hyperparameters.top_k",
    "gen_ai.request.max_tokens": "config.hyperparameters.max_tokens",
    "gen_ai.request.presence_penalty": "config.hyperparameters.presence_penalty",
    "gen_ai.request.frequency_penalty": "config.hyperparameters.frequency_penalty",
    "gen_ai.request.stop_sequences": "config.hyperparameters.stop",
    "gen_ai.request.choice.count": "config.hyperparameters.n",
    "gen_ai.request.seed": "config.hyperparameters.seed",
    "gen_ai.request.stream": "config.hyperparameters.stream",
    "gen_ai.response.id": "metadata.response_id",
    "gen_ai.response.model": "metadata.response_model",
    "gen_ai.response.finish_reasons": "metadata.finish_reasons",
    "anthropic.message.stop_reason": "metadata.finish_reason",
    "gen_ai.agent.type": "metadata.span_kind",
    "gen_ai.agent.name": "metadata.agent_name",
    "gen_ai.agent.id": "metadata.agent_id",
    "gen_ai.agent.description": "metadata.agent_description",
    "gen_ai.agent.version": "metadata.agent_version",
    "gen_ai.tool.name": "metadata.tool_name",
    "gen_ai.tool.type": "metadata.tool_type",
    "gen_ai.tool.description": "metadata.tool_description",
    "gen_ai.tool.call.id": "metadata.tool_call_id",
    "gen_ai.tool.status": "metadata.tool_status",
    "gen_ai.conversation.id": "metadata.conversation_id",
    "session.id": ["metadata.session_id", "metadata.conversation_id"],
    "user.id": "metadata.user_id",
    "gen_ai.retrieval.query.text": "inputs.query",
    "gen_ai.memory.query.text": "inputs.query",
    "http.response.status_code": "metadata.status_code",
    "http.status_code": "metadata.status_code",
    "mcp.client.name": "metadata.mcp_client_name",
    "mcp.server.name": "metadata.mcp_server_name",
    "mcp.tool.name": "metadata.mcp_tool_name",
    "mcp.request.type": "metadata.mcp_request_type",
    "mcp.session.id": "metadata.mcp_session_id",
  },
  usage: {
    "gen_ai.usage.input_tokens": ["metadata.input_tokens", "metadata.prompt_tokens"],
    "gen_ai.usage.output_tokens": ["metadata.output_tokens", "metadata.completion_tokens"],
    "gen_ai.usage.total_tokens": "metadata.total_tokens",
    "gen_ai.usage.cache_read.input_tokens": "metadata.cache_read_input_tokens",
    "gen_ai.usage.cache_read_input_tokens": "metadata.cache_read_input_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "metadata.cache_write_input_tokens",
    "gen_ai.usage.cache_creation_input_tokens": "metadata.cache_write_input_tokens",
    "gen_ai.usage.cache_write.input_tokens": "metadata.cache_write_input_tokens",
    "gen_ai.usage.cache_write_input_tokens": "metadata.cache_write_input_tokens",
    "gen_ai.usage.reasoning.output_tokens": "metadata.reasoning_tokens",
    "gen_ai.usage.reasoning_tokens": "metadata.reasoning_tokens",
    // Codex's.
    "codex.usage.reasoning_output_tokens": "metadata.reasoning_tokens",
    "gen_ai.usage.cost": "metadata.cost",
    // LiteLLM's.
    "gen_ai.cost.total_cost": "metadata.cost",
  },
  prepare: adoptOperationDetails,
  read(draft) {
    readReasons(draft);
    readHistory(draft);
    moveReply(draft, "gen_ai.output.messages");
    move(draft, "gen_ai.tool.definitions", "config", "tools", readDefinitions);
    // OpenLIT repeats the call that a model asks for; its messages have it.
    if (draft.eventType !== "model") {
      movePayload(draft, "gen_ai.tool.call.arguments", "inputs", "input");
      movePayload(draft, "gen_ai.tool.call.result", "outputs", "result");
    }
    move(draft, "gen_ai.retrieval.documents", "outputs", "documents");
    const isSearch = draft.attributes.get("gen_ai.operation.name") === "search_memory";
    move(draft, "gen_ai.memory.records", isSearch ? "outputs" : "inputs", "records");
    readScores(draft);
  },
};

// LiteLLM and Logfire send the list as JSON text, LangSmith's SDK for JavaScript a single reason.
function readReasons({ buckets: { metadata } }: Draft): void {
  const reasons = parseJsonText(metadata["finish_reasons"] ?? null);
  if (isJsonArray(reasons)) metadata["finish_reasons"] = reasons;
  else if (typeof reasons === "string") metadata["finish_reasons"] = [reasons];
}

function readHistory(draft: Draft): void {
  const system = parseJsonText(draft.left.get("gen_ai.system_instructions") ?? null);
  const instructions = readInstructions(system);
  // Runs of agents of Rig have what was asked under the name of earlier conventions.
  const isOfRig = instructions.length > 0 && !draft.left.has("gen_ai.input.messages");
  const inputKey = isOfRig ? "gen_ai.prompt" : "gen_ai.input.messages";
  const input = parseJsonText(draft.left.get(inputKey) ?? null);
  const messages = readMessages(input, "user");
  if (messages === undefined && instructions.length === 0) return;
  // The OpenAI Agents SDK's instrumentation has the instructions in both.
  const isRepeated = isSameJson(instructions, messages?.slice(0, instructions.length));
  const history = [...(isRepeated ? [] : instructions), ...(messages ?? [])];
  if (!placeHistory(draft, history)) return;
  if (messages !== undefined && isOnlyMessages(input)) draft.left.delete(inputKey);
  if (instructions.length > 0 && isOnlyMessages(system)) {
    draft.left.delete("gen_ai.system_instructions");
  }
}

// Instructions are the parts of one system message, without the message around them.
function readInstructions(system: JsonValue): Message[] {
  if (!isJsonArray(system)) return readMessages(system, "system") ?? [];
  const areMessages = system.every((part) => isJsonObject(part) && "role" in part);
  const messages = areMessages ? system : [{ role: "system", parts: system }];
  return readMessages(messages, "system") ?? readMessages(system, "system") ?? [];
}

// Some senders write each definition as separate JSON text.
function readDefinitions(tools: JsonValue): JsonValue {
  const value = parseJsonText(tools);
  return Array.isArray(value) ? value.map(parseJsonText) : value;
}

/** Name of the event with all messages of a call, of a span or a log. */
export const operationDetails = "gen_ai.client.inference.operation.details";

function isDetails(event: SpanEvent): boolean {
  return event.name === operationDetails;
}

// The event repeats the span's attributes and adds the messages. Values that differ from the span's
// stay on the event.
function adoptOperationDetails(draft: Draft): void {
  if (!draft.events.some(isDetails)) return;
  const attributes = new Map(draft.attributes);
  draft.events = draft.events.flatMap((event) => {
    if (!isDetails(event)) return [event];
    const differing = new Map<string, JsonValue>();
    for (const [key, value] of event.attributes) {
      const known = attributes.get(key);
      if (known === undefined) attributes.set(key, value);
      else if (!isSameJson(known, value)) differing.set(key, value);
    }
    return differing.size === 0 ? [] : [{ ...event, attributes: differing }];
  });
  draft.attributes = attributes;
}

/** Name of the event with a score, of a span or a log. */
const evaluationResult = "gen_ai.evaluation.result";

const evaluationKeys = {
  name: "gen_ai.evaluation.name",
  value: "gen_ai.evaluation.score.value",
  label: "gen_ai.evaluation.score.label",
  explanation: "gen_ai.evaluation.explanation",
  failure: "error.type",
} as const;
const readOfScore: ReadonlySet<string> = new Set(Object.values(evaluationKeys));

/** Returns the metrics of an event with a score or its failure; undefined for another event. */
export function scoreOf({
  name,
  attributes,
}: SpanEvent): ReadonlyMap<string, JsonValue> | undefined {
  if (name !== evaluationResult) return undefined;
  const told = (key: keyof typeof evaluationKeys) =>
    attributes.get(evaluationKeys[key]) ?? undefined;
  const metric = told("name");
  const score = told("value") ?? told("label");
  const failure = told("failure");
  if (typeof metric !== "string" || metric === "" || (score ?? failure) === undefined) {
    return undefined;
  }
  const metrics = {
    [metric]: score,
    [`${metric}_label`]: told("value") === undefined ? undefined : told("label"),
    [`${metric}_explanation`]: told("explanation"),
    [`${metric}_failure`]: failure,
  };
  return new Map(
    Object.entries(metrics).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

// A metric that has a value already stays, and so does the event then.
function readScores(draft: Draft): void {
  draft.events = draft.events.flatMap((event) => {
    const metrics = scoreOf(event);
    if (metrics === undefined) return [event];
    const isPlaced = [...metrics].every(([key, value]) => place(draft, "metrics", key, value));
    const rest = [...event.attributes].filter(([key]) => !isPlaced || !readOfScore.has(key));
    return rest.length === 0 ? [] : [{ ...event, attributes: new Map(rest) }];
  });
}
