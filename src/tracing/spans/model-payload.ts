// Inputs and outputs of model calls in the forms of Langfuse and LangSmith, as chat messages.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { type Draft, isEmbedding, movePayload } from "./draft.ts";
import { type Message, readMessage, readMessages } from "./messages.ts";
import { readItems } from "./responses.ts";
import { parseJsonText } from "./values.ts";

/** Names of the attributes that hold the payload of a step as JSON text. */
export type PayloadKeys = { readonly input: string; readonly output: string };

/** Moves the payload of a step to the buckets; that of a model call as chat messages. */
export function movePayloads(draft: Draft, { input, output }: PayloadKeys): void {
  const isModel = draft.eventType === "model";
  const read = (toPayload: (value: JsonValue) => JsonValue) => (value: JsonValue) =>
    isModel ? toPayload(parseJsonText(value)) : parseJsonText(value);
  movePayload(draft, input, "inputs", "input", read(isEmbedding(draft) ? toTexts : toModelInputs));
  movePayload(draft, output, "outputs", "result", read(toModelOutputs));
}

function toTexts(value: JsonValue): JsonObject {
  const areTexts = isJsonArray(value) && value.every((text) => typeof text === "string");
  return areTexts ? { texts: value } : toBucket(value, "input");
}

/** Returns a bucket of a payload: objects as they are, anything else under `name`. */
export function toBucket(value: JsonValue | undefined, name: string): JsonObject {
  if (value === undefined || value === null) return {};
  return isJsonObject(value) ? value : { [name]: value };
}

const langChainRoles: Readonly<Record<string, string>> = {
  human: "user",
  HumanMessage: "user",
  HumanMessageChunk: "user",
  ai: "assistant",
  AIMessage: "assistant",
  AIMessageChunk: "assistant",
  system: "system",
  SystemMessage: "system",
  tool: "tool",
  ToolMessage: "tool",
  function: "function",
  FunctionMessage: "function",
};

/** Returns `inputs` of a model call: messages as chat_history, other keys beside it. */
export function toModelInputs(value: JsonValue | undefined): JsonObject {
  const messages = isJsonObject(value) ? value["messages"] : value;
  const [said, tools] = splitTools(messages);
  const history = typeof messages === "string" ? undefined : toHistory(said);
  if (history === undefined) return toRequest(value) ?? toBucket(value, "input");
  const described = tools.length > 0 ? { tools } : {};
  if (!isJsonObject(value)) return { ...described, chat_history: history };
  const { messages: _, ...rest } = value;
  const isTaken = Object.hasOwn(rest, "chat_history");
  return isTaken ? value : { ...described, ...rest, chat_history: history };
}

// Langfuse's handler for LangChain appends the tools offered to the model as results of tools.
function splitTools(messages: JsonValue | undefined): [JsonValue | undefined, JsonValue[]] {
  if (!isJsonArray(messages)) return [messages, []];
  const tools = messages.flatMap((one) => toolIn(one) ?? []);
  if (tools.length === 0) return [messages, []];
  return [messages.filter((one) => toolIn(one) === undefined), tools];
}

function toolIn(message: JsonValue): JsonObject | undefined {
  const content = isJsonObject(message) && message["role"] === "tool" ? message["content"] : null;
  const isTool = isJsonObject(content) && content["type"] === "function" && "function" in content;
  return isTool ? content : undefined;
}

// A request of OpenAI's Responses API; the items stay, since messages do not say all of them.
function toRequest(value: JsonValue | undefined): JsonObject | undefined {
  const items = isJsonObject(value) ? value["input"] : value;
  const isText = typeof items === "string" && isJsonObject(value) && "model" in value;
  const history = isText ? [{ role: "user", content: items }] : readItems(items);
  if (history === undefined) return undefined;
  if (!isJsonObject(value)) return { chat_history: history, input: items ?? null };
  if (Object.hasOwn(value, "chat_history")) return undefined;
  const { instructions } = value;
  const system =
    typeof instructions === "string" ? [{ role: "system", content: instructions }] : [];
  return { ...value, chat_history: [...system, ...history] };
}

function toHistory(value: JsonValue | undefined): Message[] | undefined {
  const [first] = isJsonArray(value) ? value : [];
  // LangChain passes a list of conversations; a model call has one.
  const isNested = isJsonArray(value) && value.length === 1 && isJsonArray(first);
  const list = isNested ? first : value;
  if (!isJsonArray(list) || list.length === 0) return undefined;
  return readMessages(list.map(fromLangChain), "user");
}

/** Returns a serialised LangChain message with a role and its fields; others as they are. */
function fromLangChain(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const { kwargs, data } = value;
  const inner = isJsonObject(kwargs) ? kwargs : isJsonObject(data) ? data : value;
  if (typeof inner["role"] === "string") return inner;
  const path = value["id"];
  const name = isJsonArray(path) ? path.at(-1) : undefined;
  const role = roleOf(inner["type"]) ?? roleOf(value["type"]) ?? roleOf(name);
  if (role === undefined || !("content" in inner)) return value;
  const { type: _, ...fields } = inner;
  return { ...fields, role };
}

function roleOf(type: JsonValue | undefined): string | undefined {
  return typeof type === "string" && Object.hasOwn(langChainRoles, type)
    ? langChainRoles[type]
    : undefined;
}

// A reply of OpenAI's Responses API, or the items of one, which stay.
function toReply(value: JsonValue | undefined): JsonObject | undefined {
  const items = isJsonObject(value) && value["object"] === "response" ? value["output"] : value;
  const [only, ...others] = readItems(items) ?? [];
  if (only === undefined || others.length > 0) return undefined;
  return { ...only, ...toBucket(value, "output") };
}

/** Returns `outputs` of a model call: role and content of the reply, other keys beside them. */
export function toModelOutputs(value: JsonValue | undefined): JsonObject {
  if (typeof value === "string") return { role: "assistant", content: value };
  if (!isJsonObject(value)) {
    const replies = toHistory(value);
    const isOne = replies?.length === 1;
    return isOne ? { ...replies[0] } : (toReply(value) ?? toBucket(value, "output"));
  }
  const { generations, choices, ...rest } = value;
  const [inner] = isJsonArray(generations) ? generations : [];
  const nested = isJsonArray(generations) && generations.length === 1 && isJsonArray(inner);
  const list = nested ? inner : (generations ?? choices);
  if (isJsonArray(list)) {
    const [only, ...others] = list.map(fromChoice);
    const fits = others.length === 0 && isJsonObject(only) && !("response" in only);
    if (!fits) return value;
    if (!sharesKeys(only, rest)) return { ...rest, ...only };
    return { ...only, response: rest };
  }
  const reply = toReply(value);
  if (reply !== undefined) return reply;
  const message = fromLangChain(value);
  if (isJsonObject(message) && typeof message["role"] === "string") {
    const read = readMessage(message, "assistant");
    if (read.length === 1) return read[0] ?? value;
  }
  return value;
}

// {text, message, generation_info} of LangChain, {message, finish_reason, …} of OpenAI.
function fromChoice(choice: JsonValue): JsonObject | undefined {
  if (!isJsonObject(choice)) return undefined;
  const { message, text, ...rest } = choice;
  const given = message === undefined ? undefined : fromLangChain(message);
  const source = isJsonObject(given) ? given : { content: text ?? "" };
  const read = readMessage(source, "assistant");
  const [only] = read;
  if (read.length !== 1 || only === undefined || sharesKeys(only, rest)) return undefined;
  const isRepeated = text === undefined || text === only["content"] || message === undefined;
  return { ...rest, ...(isRepeated ? {} : { text }), ...only };
}

function sharesKeys(a: JsonObject, b: JsonObject): boolean {
  return Object.keys(a).some((key) => Object.hasOwn(b, key));
}
