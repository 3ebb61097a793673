// Pure functions that convert the tools and parameters of a recorded event to the form of the API.
// OpenAI, Anthropic, Gemini and the AI SDK describe functions differently and name some parameters
// differently.

import { type Fields, isFields } from "../../design/chat-message.ts";
import { type Column, parameterNames, toParameters } from "./draft.ts";

export type CarriedTools = {
  /** JSON of the functions; empty for none. */
  readonly text: string;
  /** Tools that the API does not take, as parts of a sentence. */
  readonly notes: readonly string[];
};

/** Returns the functions among recorded tools. Built-in tools of a provider are left out. */
export function carryTools(tools: unknown): CarriedTools {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const functions: unknown[] = [];
  const notes: string[] = [];
  for (const tool of list.flatMap(declarationsOf)) {
    const found = toFunction(tool);
    if (found) functions.push(found);
    else notes.push(`the tool ${nameOf(tool)}`);
  }
  return { text: functions.length > 0 ? JSON.stringify(functions, null, 2) : "", notes };
}

/** Gemini groups its functions. */
function declarationsOf(tool: unknown): readonly unknown[] {
  if (!isFields(tool)) return [tool];
  const found = tool["functionDeclarations"] ?? tool["function_declarations"];
  if (!Array.isArray(found)) return [tool];
  const { functionDeclarations: _, function_declarations: __, ...others } = tool;
  return [
    ...found.map((one: unknown) =>
      isFields(one)
        ? { ...one, parameters: one["parametersJsonSchema"] ?? toSchema(one["parameters"]) }
        : one,
    ),
    ...Object.entries(others).map(([name, value]) => ({ [name]: value })),
  ];
}

/** Gemini writes the types of a schema in capitals. */
function toSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSchema);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === "type" && typeof inner === "string" ? inner.toLowerCase() : toSchema(inner),
  ]);
  return Object.fromEntries(entries) as unknown;
}

function toFunction(tool: unknown): unknown {
  if (!isFields(tool)) return undefined;
  if (isFields(tool["function"])) return tool;
  const { type, name, description, strict, input_schema: anthropic, inputSchema: aiSdk } = tool;
  const schema = anthropic ?? aiSdk;
  const { parameters = schema } = tool;
  const isBuiltIn = typeof type === "string" && type !== "function" && type !== "custom";
  if (typeof name !== "string" || isBuiltIn) return undefined;
  if (type === "custom" && !isFields(schema)) return undefined;
  // A member without a value is left out as the text is made.
  return { name, description, parameters, strict };
}

function nameOf(tool: unknown): string {
  if (!isFields(tool)) return String(tool);
  const { name, type } = tool;
  return (
    [name, type, Object.keys(tool)[0]].find((one) => typeof one === "string") ?? "without name"
  );
}

const otherNames: Readonly<Record<string, (typeof parameterNames)[number]>> = {
  max_completion_tokens: "max_tokens",
  max_output_tokens: "max_tokens",
  maxOutputTokens: "max_tokens",
  stop_sequences: "stop",
  stopSequences: "stop",
  topP: "top_p",
  frequencyPenalty: "frequency_penalty",
  presencePenalty: "presence_penalty",
};

/** Settings that change an answer and that the playground has no field for. */
const otherSettings = [
  "n",
  "seed",
  "top_k",
  "logit_bias",
  "reasoning",
  "reasoning_effort",
  "thinking",
  "response_format",
  "responseFormat",
  "tool_choice",
  "toolConfig",
  "function_call",
];

export type CarriedParameters = {
  readonly parameters: Column["parameters"];
  readonly notes: readonly string[];
};

/**
 * Returns the parameters among the settings of an event. Members of `hyperparameters` and
 * `generationConfig` are all parameters. Of the other settings, those that `otherSettings` lists
 * become notes, since they change the answer and the playground has no field for them.
 */
export function carryParameters(settings: Fields): CarriedParameters {
  const { hyperparameters, generationConfig, generation_config: generation } = settings;
  const inner = [hyperparameters, generationConfig, generation].find(isFields) ?? {};
  const named = Object.entries({ ...settings, ...inner }).map(([name, value]) => [
    otherNames[name] ?? name,
    value,
  ]);
  const left = [
    ...otherSettings.filter((name) => isSet(settings[name])),
    ...Object.keys(inner).filter(
      (name) => !isParameter(name) && !quietSettings.includes(name) && isSet(inner[name]),
    ),
  ];
  return {
    parameters: toParameters(Object.fromEntries(named)),
    notes: [...new Set(left)].map((name) => `the setting ${name}`),
  };
}

/** Returns whether the playground has a field for a parameter of this name. */
export function isParameter(name: string): boolean {
  return Object.hasOwn(otherNames, name) || (parameterNames as readonly string[]).includes(name);
}

/**
 * Settings that change no answer, that the draft holds elsewhere, or that senders add, such as
 * LangChain's `_type`.
 */
const quietSettings = [
  "_type",
  "id",
  "created_at",
  "model",
  "model_name",
  "class_name",
  "api_base",
  "base_url",
  "stream",
  "stream_options",
  "streaming",
  "user",
  "metadata",
  "store",
  "instructions",
  "encoding_format",
];

/** Values that are the default anyway, or that say nothing, change nothing. */
function isSet(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return ![undefined, null, "", "auto", 1].includes(value as string | undefined);
}
