// Checks a request of /chat, and converts it to a chat completion of the OpenAI API and to the
// recorded fields. Messages are checked later, when they become a prompt.
// Source: docs/spec.md, "POST /chat", "config"; docs/decisions.md, 20.1.

import { refuse } from "../../base/errors.ts";
import { type JsonObject, type JsonValue, present } from "../../base/json.ts";
import { nameLengthMax, nestingDepthMax } from "../../base/limits.ts";
import { chatChoicesMax } from "../../base/tenant-limits.ts";
import { assertSound, isSound } from "../../tracing/events/parse-event.ts";
import { type Fields, fieldsOf } from "../openai/fields.ts";
import { findOwnKey } from "../calls/generation-event.ts";
import type { UsedConfiguration } from "../configurations/used.ts";
import { type FilledMessages, fillMessages } from "./template.ts";

export type ChatRequest = {
  /** Id or name of the caller's project. */
  readonly project: string;
  readonly messages: readonly JsonObject[];
  readonly model: string;
  readonly provider?: string | undefined;
  readonly hyperparameters?: JsonObject | undefined;
  readonly numSamples?: number | undefined;
  readonly functions: readonly JsonObject[];
  readonly functionCall?: string | undefined;
  readonly version?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly parentId?: string | undefined;
  /** Values of the placeholders; undefined: placeholders are not filled in. */
  readonly inputs?: JsonObject | undefined;
  readonly eventName?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly userProperties?: JsonObject | undefined;
  /** Id or name of a configuration, and the environment whose version is used. */
  readonly configuration?: string | undefined;
  readonly environment?: string | undefined;
  /** The configuration itself. */
  readonly used?: UsedConfiguration;
};

export type ChatTask = {
  /** Request body for chat completions of the OpenAI API. */
  readonly body: JsonObject;
  /** `config` of the event: version, configuration, settings, template, tools, answer format. */
  readonly config: JsonObject;
  /** `inputs` of the event: values of the template and `chat_history`. */
  readonly inputs: JsonObject;
  /** Number of characters of the configuration's template and of the values filled in. */
  readonly filledCharacters: number;
};

/** Maximum nesting of a message and of a tool: an event's, less the levels around them. */
const messageDepthMax = nestingDepthMax - 2;
const functionDepthMax = nestingDepthMax - 3;

/** Checks and converts a request. Fails with INVALID_ARGUMENT naming the field. */
export function toChatTask(request: ChatRequest): ChatTask {
  const { messages, inputs, version, model, used } = request;
  if (model === "") refuse("model", "value is required");
  if (messages.length === 0 && !used?.template.length) {
    refuse("messages", "must have at least one message");
  }
  assertRecordable(request);
  if (inputs && Object.hasOwn(inputs, historyName)) {
    refuse(`inputs.${historyName}`, "is reserved for the recorded messages; use another name");
  }
  const filled = fillAll(request);
  const hyperparameters = hyperparametersOf(request);
  const tools = toTools(request);
  const format = present({ response_format: used?.responseFormat });
  return {
    body: { model, messages: filled.messages, ...hyperparameters, ...tools, ...format },
    config: present({
      ...used?.recorded,
      version: version ?? used?.recorded["version"],
      hyperparameters: Object.keys(hyperparameters).length > 0 ? hyperparameters : undefined,
      template: (inputs ?? used) && [...(used?.template ?? []), ...messages],
      ...tools,
      ...format,
    }),
    inputs: { ...inputs, [historyName]: filled.messages },
    filledCharacters: filled.filledCharacters,
  };
}

/** Key of the messages in the event's `inputs`. */
export const historyName = "chat_history";

/** Fills in the template of a configuration, and with `inputs` the messages of the request. */
function fillAll({ messages, inputs, used }: ChatRequest): FilledMessages {
  const own = inputs ? fillMessages(messages, inputs) : { messages, filledCharacters: 0 };
  if (!used) return own;
  const template = fillMessages(used.template, inputs ?? {});
  return {
    messages: [...template.messages, ...own.messages],
    filledCharacters:
      JSON.stringify(used.template).length + template.filledCharacters + own.filledCharacters,
  };
}

/** Refuses a request that no event can hold, because every model that ran must be recorded. */
function assertRecordable(request: ChatRequest): void {
  const { eventName = "", messages, functions, inputs, metadata, userProperties } = request;
  if (eventName.length > nameLengthMax) {
    refuse("event_name", `is longer than ${nameLengthMax} characters`);
  }
  const buckets = { inputs, metadata, user_properties: userProperties };
  for (const [name, value] of Object.entries(buckets)) if (value) assertSound(value, name);
  const ownKey = findOwnKey(metadata ?? {});
  if (ownKey !== undefined) refuse(`metadata.${ownKey}`, "is written by the service alone");
  assertItems(messages, "messages", messageDepthMax);
  assertItems(functions, "functions", functionDepthMax);
}

function assertItems(items: readonly JsonObject[], name: string, depthMax: number): void {
  const at = items.findIndex((item) => !isSound(item, depthMax));
  if (at === -1) return;
  refuse(`${name}[${at}]`, `may nest ${depthMax} levels, and its numbers must be finite`);
}

const number = (fields: Fields, name: string) => fields.number(name);

const integer =
  (max: number) =>
  (fields: Fields, name: string): number | undefined => {
    const value = fields.integer(name);
    if (value === undefined || (value >= 1 && value <= max)) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? "at least 1" : `1 to ${max}`;
    return fields.refuse(name, `must be ${range}`);
  };

type Checker = (fields: Fields, name: string) => JsonValue | undefined;

const hyperparameterChecks: Readonly<Record<string, Checker>> = {
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  max_tokens: integer(Number.MAX_SAFE_INTEGER),
  stop: (fields, name) => fields.texts(name),
  n: integer(chatChoicesMax),
};

/** Returns the given hyperparameters by name; `num_samples` sets `n`. */
function hyperparametersOf({ hyperparameters = {}, numSamples }: ChatRequest): JsonObject {
  const fields = fieldsOf(hyperparameters, "hyperparameters");
  const names = Object.keys(hyperparameterChecks);
  const unknown = Object.keys(hyperparameters).find((name) => !names.includes(name));
  if (unknown !== undefined) fields.refuse(unknown, `is none of ${names.join(", ")}`);
  const checked = Object.entries(hyperparameterChecks).map(([name, check]) => [
    name,
    check(fields, name),
  ]);
  const given = present(Object.fromEntries(checked) as Record<string, JsonValue | undefined>);
  if (numSamples === undefined) return given;
  if (numSamples < 1 || numSamples > chatChoicesMax)
    refuse("num_samples", `must be 1 to ${chatChoicesMax}`);
  if ((given["n"] ?? numSamples) !== numSamples) {
    refuse("num_samples", "must not differ from hyperparameters.n");
  }
  return { ...given, n: numSamples };
}

/** Returns `tools` and `tool_choice` if the request has functions. */
function toTools({ functions, functionCall }: ChatRequest): JsonObject {
  const names = functions.map((one, index) => checkFunction(fieldsOf(one, `functions[${index}]`)));
  return present({
    tools: functions.length > 0 ? functions.map(toTool) : undefined,
    tool_choice: toToolChoice(functionCall, names),
  });
}

const functionMembers = ["name", "description", "parameters", "strict"];

function checkFunction(fields: Fields): string {
  const unknown = Object.keys(fields.object).find((name) => !functionMembers.includes(name));
  if (unknown !== undefined) fields.refuse(unknown, `is none of ${functionMembers.join(", ")}`);
  fields.text("description");
  fields.fields("parameters");
  fields.boolean("strict");
  const name = fields.needText("name");
  return name === "" ? fields.refuse("name", "must not be empty") : name;
}

/** Returns a declared function as a tool. */
export function toTool(declared: JsonObject): JsonObject {
  return { type: "function", function: declared };
}

/** Returns the choice of a tool by `none`, `auto` or the name of a function. */
export function toToolChoice(
  choice: string | undefined,
  names: readonly string[],
): JsonValue | undefined {
  if (choice === undefined || choice === "") return undefined;
  if (names.includes(choice)) return { type: "function", function: { name: choice } };
  if (choice === "none" || choice === "auto") return names.length > 0 ? choice : undefined;
  return refuse("function_call", "must be none, auto, or the name of one of the functions");
}

/**
 * Returns a chat that names a configuration: what the request does not say itself comes from there.
 * Source: docs/decisions.md, 44.5; docs/prompts.md.
 */
export function withConfiguration(request: ChatRequest, used: UsedConfiguration): ChatRequest {
  const hasFunctions = request.functions.length > 0;
  const { functionCall = hasFunctions ? undefined : used.functionCall } = request;
  return {
    ...request,
    model: request.model || (request.provider ? used.plainModel : used.model),
    hyperparameters: { ...used.hyperparameters, ...request.hyperparameters },
    functions: hasFunctions ? request.functions : used.functions,
    functionCall,
    used,
  };
}
