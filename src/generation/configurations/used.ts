// A configuration as a model call uses it: model, hyperparameters, messages, functions and response
// format, in the words of the OpenAI API. Pure. Source: docs/decisions.md, 44.5; docs/prompts.md.

import { formatVersion } from "../../base/versions.ts";
import { isJsonArray, isJsonObject, type JsonObject, present } from "../../base/json.ts";
import { type Configuration, type Environment } from "./configuration.ts";

export type UsedConfiguration = {
  /** `provider/model`. */
  readonly model: string;
  /** The model alone, for a request that names another provider. */
  readonly plainModel: string;
  readonly hyperparameters: JsonObject;
  /** Messages with their placeholders, which come before those of the request. */
  readonly template: readonly JsonObject[];
  /** `{name, description, parameters}` each. */
  readonly functions: readonly JsonObject[];
  /** `none`, `auto`, or the name of the function that the model must call. */
  readonly functionCall: string | undefined;
  /** Undefined for text, which is every provider's default. */
  readonly responseFormat: JsonObject | undefined;
  /** Members of the recorded event's `config`. */
  readonly recorded: JsonObject;
};

/** Parts of a configuration that a model call uses. */
export type UsableConfiguration = Pick<
  Configuration,
  "id" | "name" | "version" | "provider" | "parameters"
>;

export type UsedFor = {
  readonly environment: Environment | undefined;
  /** Whether the request has messages of its own. */
  readonly hasMessages: boolean;
};

export function toUsed(
  configuration: UsableConfiguration,
  { environment, hasMessages }: UsedFor,
): UsedConfiguration {
  const { provider, parameters } = configuration;
  const functions = listOf(parameters, "selectedFunctions").map(toFunction);
  const version = formatVersion(configuration.version);
  const { id, name } = configuration;
  const plainModel = textOf(parameters, "model");
  return {
    model: plainModel.startsWith(`${provider}/`) ? plainModel : `${provider}/${plainModel}`,
    plainModel,
    hyperparameters: objectOf(parameters, "hyperparameters") ?? {},
    template: toMessages(parameters, hasMessages),
    functions,
    functionCall: toFunctionCall(parameters, functions),
    responseFormat: toResponseFormat(parameters),
    recorded: { version, configuration: present({ id, name, version, environment }) },
  };
}

/** Converts the template. A text is the whole prompt, or instructions before other messages. */
function toMessages(parameters: JsonObject, hasMessages: boolean): readonly JsonObject[] {
  const { template } = parameters;
  if (typeof template !== "string") return listOf(parameters, "template");
  return template === "" ? [] : [{ role: hasMessages ? "system" : "user", content: template }];
}

/** Removes members that only the client knows, such as `id`. */
function toFunction({ name, description, parameters, strict }: JsonObject): JsonObject {
  return present({ name, description, parameters, strict });
}

function toFunctionCall(
  parameters: JsonObject,
  functions: readonly JsonObject[],
): string | undefined {
  const { functionCallParams: choice } = parameters;
  if (functions.length === 0) return undefined;
  if (choice === "none" || choice === "auto") return choice;
  if (choice !== "force") return undefined;
  const forced = objectOf(parameters, "forceFunction")?.["name"];
  const name = functions.length === 1 ? (forced ?? functions[0]?.["name"]) : forced;
  return typeof name === "string" ? name : undefined;
}

function toResponseFormat(parameters: JsonObject): JsonObject | undefined {
  const format = objectOf(parameters, "responseFormat");
  const type = format?.["type"];
  return type === undefined || type === "text" ? undefined : format;
}

/** Returns a text that was checked when it was stored. */
function textOf(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === "string" ? value : "";
}

function objectOf(parameters: JsonObject, key: string): JsonObject | undefined {
  const value = parameters[key];
  return isJsonObject(value) ? value : undefined;
}

function listOf(parameters: JsonObject, key: string): readonly JsonObject[] {
  const value = parameters[key];
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}
