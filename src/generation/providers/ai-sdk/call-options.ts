// Converts a chat request of the OpenAI API to options of the Vercel AI SDK. A member without an
// equivalent is refused by name, unless its value has no effect.
// Source: docs/decisions.md, 20.1; docs/generations.md.

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { faultOfChoice } from "../../../base/choices.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { chatChoicesMax } from "../../../base/tenant-limits.ts";
import type { Target } from "../../provider.ts";
import { type Fields, itemFields, untranslatable } from "../../openai/fields.ts";
import { toPrompt } from "./messages.ts";

/** Fails with INVALID_ARGUMENT naming a member that is malformed or cannot be translated. */
export function toCallOptions(request: Fields, target: Target): LanguageModelV4CallOptions {
  assertTranslatable(request);
  const { type } = target.connection;
  const declared = toTools(request);
  const toolChoice = toToolChoice(request, declared);
  // The SDK lets Bedrock's models answer by a schema as a call, and then any function is called.
  const isNoneCalled = type === "bedrock" && toolChoice?.type === "none";
  const tools = isNoneCalled ? undefined : declared;
  return {
    prompt: toPrompt(request, type),
    ...defined({
      maxOutputTokens: toTokensMax(request),
      ...toSampling(request, target),
      stopSequences: toStops(request),
      seed: request.integer("seed"),
      tools,
      toolChoice,
      responseFormat: toResponseFormat(request, target),
      reasoning: toEffort(request),
      providerOptions: toProviderOptions(request, target),
    }),
  };
}

/** Returns the number of choices that the request asks for. */
export function toChoices(request: Fields): number {
  const count = request.integer("n") ?? 1;
  if (count >= 1 && count <= chatChoicesMax) return count;
  return request.refuse("n", `must be 1 to ${chatChoicesMax} for this provider`);
}

export function isUsageWanted(request: Fields): boolean {
  const options = request.fields("stream_options");
  options?.only("include_usage", "include_obfuscation");
  return options?.boolean("include_usage") ?? false;
}

const translated: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "n",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "stop",
  "seed",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  // Labels of the caller: they change no answer, are not sent, and stay with the event.
  "user",
  "metadata",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
]);

/** Values without an effect: clients also send the defaults of OpenAI's API. */
const idle: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  logit_bias: (value) => isJsonObject(value) && Object.keys(value).length === 0,
  modalities: (value) => isJsonArray(value) && value.length === 1 && value[0] === "text",
  service_tier: (value) => value === "auto" || value === "default",
  store: (value) => value === false,
  verbosity: (value) => value === "medium",
};

function isIdle(name: string, value: JsonValue): boolean {
  return Object.hasOwn(idle, name) && idle[name]?.(value) === true;
}

function assertTranslatable(request: Fields): void {
  for (const [name, value] of Object.entries(request.object)) {
    if (value === null || translated.has(name) || isIdle(name, value)) continue;
    request.refuse(name, untranslatable);
  }
}

function toTokensMax(request: Fields): number | undefined {
  const older = request.integer("max_tokens");
  const newer = request.integer("max_completion_tokens");
  if (older !== undefined && newer !== undefined && older !== newer) {
    request.refuse("max_tokens", "must not differ from max_completion_tokens");
  }
  return newer ?? older;
}

type Sampling = Pick<
  LanguageModelV4CallOptions,
  "temperature" | "topP" | "presencePenalty" | "frequencyPenalty"
>;

// Omits a default that is given explicitly if newer models would refuse it.
function toSampling(request: Fields, { connection }: Target): Undefinable<Sampling> {
  const unlessOf = (name: string, idle: number | undefined): number | undefined => {
    const value = request.number(name);
    return value === idle ? undefined : value;
  };
  const anthropicDefault = connection.type === "anthropic" ? 1 : undefined;
  return {
    temperature: unlessOf("temperature", anthropicDefault),
    topP: unlessOf("top_p", anthropicDefault),
    presencePenalty: unlessOf("presence_penalty", 0),
    frequencyPenalty: unlessOf("frequency_penalty", 0),
  };
}

function toStops(request: Fields): string[] | undefined {
  const stop = request.value("stop");
  if (typeof stop === "string") return [stop];
  return request.texts("stop");
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;

function toEffort(request: Fields): (typeof efforts)[number] | undefined {
  const effort = request.text("reasoning_effort");
  if (effort === undefined) return undefined;
  const known = efforts.find((one) => one === effort);
  return known ?? request.refuse("reasoning_effort", faultOfChoice(efforts, effort));
}

function toResponseFormat(
  request: Fields,
  { connection }: Target,
): LanguageModelV4CallOptions["responseFormat"] | undefined {
  const format = request.fields("response_format");
  const type = format?.needText("type");
  if (!format || type === "text") return undefined;
  const isSchema = type === "json_schema";
  if (!isSchema && type !== "json_object") return format.refuse("type", untranslatable);
  const asked = isSchema ? format.needFields("json_schema") : undefined;
  asked?.only("name", "description", "schema", "strict");
  const schema = toSchema(asked?.fields("schema")?.object);
  // Without a schema the SDK asks Bedrock for no JSON, and does not warn.
  if (!schema && connection.type === "bedrock") {
    request.refuse("response_format", `${untranslatable} (JSON response format requires a schema)`);
  }
  const named = defined({ name: asked?.needText("name"), description: asked?.text("description") });
  return { type: "json", ...named, ...defined({ schema }) };
}

/** Returns options that the SDK has only under the name of a provider. */
function toProviderOptions(request: Fields, target: Target): SharedV4ProviderOptions | undefined {
  const { connection, model } = target;
  const isParallel = request.boolean("parallel_tool_calls") ?? true;
  const isStrict = request.fields("response_format")?.fields("json_schema")?.boolean("strict");
  if (connection.type === "mistral") {
    return { mistral: { parallelToolCalls: isParallel, strictJsonSchema: isStrict ?? false } };
  }
  if (isParallel) return undefined;
  const isClaude = connection.type === "anthropic" || model.includes("anthropic");
  if (isClaude) return { anthropic: { disableParallelToolUse: true } };
  return request.refuse("parallel_tool_calls", untranslatable);
}

type Undefinable<T> = { readonly [Name in keyof T]: T[Name] | undefined };

/** Omits undefined members: the SDK's types allow absent members, but not undefined ones. */
function defined<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}

type Schema = LanguageModelV4FunctionTool["inputSchema"];

const noParameters: Schema = { type: "object", properties: {} };

function toTools(request: Fields): LanguageModelV4FunctionTool[] | undefined {
  const items = request.list("tools");
  if (!items || items.length === 0) return undefined;
  return items.map((item) => toTool(itemFields(item)));
}

function toTool(tool: Fields): LanguageModelV4FunctionTool {
  if (tool.needText("type") !== "function") tool.refuse("type", untranslatable);
  tool.only("type", "function");
  const declared = tool.needFields("function");
  declared.only("name", "description", "parameters", "strict");
  const description = declared.text("description");
  return {
    type: "function",
    name: declared.needText("name"),
    ...(description !== undefined && { description }),
    inputSchema: toInputSchema(declared.fields("parameters")?.object),
    ...(declared.boolean("strict") === true && { strict: true }),
  };
}

/** Gives a schema without a type, such as `{}`, the one that Anthropic and Bedrock demand. */
function toInputSchema(parameters: JsonObject = {}): Schema {
  const isTyped = (parameters["type"] ?? undefined) !== undefined;
  return isTyped ? parameters : { ...noParameters, ...(parameters as Schema) };
}

/** Passes a JSON Schema on unchanged: the provider checks it. */
function toSchema(value: JsonValue | undefined): Schema | undefined {
  return value as Schema | undefined;
}

function toToolChoice(
  request: Fields,
  tools: readonly LanguageModelV4FunctionTool[] | undefined,
): LanguageModelV4ToolChoice | undefined {
  const choice = request.value("tool_choice");
  if (choice === undefined) return undefined;
  if (choice === "none" || choice === "auto") return tools && { type: choice };
  if (!tools) return request.refuse("tool_choice", "needs tools");
  if (choice === "required") return { type: "required" };
  const named = typeof choice === "string" ? undefined : request.fields("tool_choice");
  if (named?.text("type") !== "function") return request.refuse("tool_choice", untranslatable);
  const toolName = named.fields("function")?.needText("name") ?? "";
  if (tools.some(({ name }) => name === toolName)) return { type: "tool", toolName };
  return request.refuse("tool_choice", "must name one of the tools");
}
