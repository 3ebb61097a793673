// Checks the fields of a configuration; unknown keys of its parameters pass unchecked.
// Source: docs/decisions.md, 44.1; docs/prompts.md.

import { assertName, assertText } from "../../base/assert-text.ts";
import { faultOfChoice, refuseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import {
  configurationNameLengthMax,
  configurationTagLengthMax,
  configurationTagsMax,
  modelLengthMax,
  savedModelLengthMax,
  versionMessageLengthMax,
} from "../../base/field-limits.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { nestingDepthMax } from "../../base/limits.ts";
import { configurationBytesMax } from "../../base/tenant-limits.ts";
import { isSound } from "../../tracing/events/parse-event.ts";
import { type Fields, fieldsOf, itemFields } from "../openai/fields.ts";
import { configurationTypes, environments, parseEnvironment } from "./configuration.ts";
import type { ConfigurationType, Content, Environment } from "./configuration.ts";

/** Fields of a request; undefined means omitted. */
export type ConfigurationFields = {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  readonly provider?: string | undefined;
  readonly parameters?: JsonObject | undefined;
  readonly userProperties?: JsonObject | undefined;
  readonly tags?: JsonValue | undefined;
  readonly env?: JsonValue | undefined;
  /** Reason for the version. */
  readonly message?: string | undefined;
};

/** Maximum nesting of an event, less the levels around recorded parameters. */
const depthMax = nestingDepthMax - 2;

/**
 * Returns the content that a request asks for, on top of the content before. Throws
 * INVALID_ARGUMENT naming the field.
 */
export function toContent(fields: ConfigurationFields, before: Content | undefined): Content {
  const { type, provider, parameters, userProperties, tags } = fields;
  const content = {
    type: type === undefined || type === "" ? (before?.type ?? "LLM") : parseType(type),
    provider:
      provider === undefined
        ? (before?.provider ?? refuse("provider", "must be given"))
        : checkText("provider", provider, savedModelLengthMax),
    parameters:
      parameters === undefined
        ? (before?.parameters ?? refuse("parameters", "must be given"))
        : checkParameters(parameters),
    userProperties:
      userProperties === undefined
        ? (before?.userProperties ?? {})
        : checkSound("user_properties", userProperties),
    tags: tags === undefined ? (before?.tags ?? []) : parseTags(tags),
  };
  const bytes = Buffer.byteLength(JSON.stringify(content));
  if (bytes <= configurationBytesMax) return content;
  return refuse(
    "parameters",
    `and the other fields must be at most ${configurationBytesMax} bytes long together`,
  );
}

/** Returns a name that can be stored. Throws INVALID_ARGUMENT. */
export function checkName(name: string): string {
  assertName("name", name, configurationNameLengthMax);
  return name;
}

/** Returns the message of a version. Throws INVALID_ARGUMENT. */
export function checkMessage(message: string): string {
  if (message === "") return message;
  return checkText("message", message, versionMessageLengthMax);
}

/** Returns the environments of a list, without repetitions. Throws INVALID_ARGUMENT. */
export function parseEnvironments(list: JsonValue): readonly Environment[] {
  const named = textsOf("env", list).map((text, index) => parseEnvironment(text, `env[${index}]`));
  return environments.filter((one) => named.includes(one));
}

/**
 * Checks the known keys of parameters and returns them without keys of value null, which means
 * none. Throws INVALID_ARGUMENT naming the path.
 */
function checkParameters(parameters: JsonObject): JsonObject {
  checkSound("parameters", parameters);
  const fields = fieldsOf(parameters, "parameters");
  oneOf(fields, "call_type", ["chat", "completion"], true);
  checkText("parameters.model", fields.needText("model"), modelLengthMax);
  fields.fields("hyperparameters");
  checkResponseFormat(fields);
  fields.list("selectedFunctions")?.forEach((item) => {
    checkFunction(itemFields(item));
  });
  oneOf(fields, "functionCallParams", ["none", "auto", "force"], false);
  fields.fields("forceFunction");
  checkTemplate(fields);
  const entries = Object.entries(parameters).filter(([, value]) => value !== null);
  return Object.fromEntries(entries);
}

function checkResponseFormat(fields: Fields): void {
  const format = fields.fields("responseFormat");
  // Clients send an empty object for no format.
  if (!format || Object.keys(format.object).length === 0) return;
  oneOf(format, "type", ["text", "json_object", "json_schema"], true);
}

function checkFunction(declared: Fields): void {
  if (declared.needText("name") === "") declared.refuse("name", "must not be empty");
  declared.text("id");
  declared.text("description");
  declared.fields("parameters");
}

/** Checks a template: a text, or messages with a role. */
function checkTemplate(fields: Fields): void {
  const template = fields.value("template");
  if (template === undefined || typeof template === "string") return;
  if (!isJsonArray(template)) fields.refuse("template", "must be text, or a list of messages");
  fields.list("template")?.forEach((item) => {
    const message = itemFields(item);
    message.needText("role");
    const content = message.value("content");
    if (content === undefined || typeof content === "string" || isJsonArray(content)) return;
    message.refuse("content", "must be text, or a list of parts");
  });
}

function oneOf(fields: Fields, name: string, values: readonly string[], isRequired: boolean): void {
  const value = isRequired ? fields.needText(name) : fields.text(name);
  if (value === undefined || values.includes(value)) return;
  fields.refuse(name, faultOfChoice(values, value));
}

function parseType(text: string): ConfigurationType {
  const type = configurationTypes.find((one) => one.toLowerCase() === text.toLowerCase());
  return type ?? refuseChoice("type", configurationTypes, text);
}

/** Returns tags without repetitions. Throws INVALID_ARGUMENT. */
export function parseTags(list: JsonValue): readonly string[] {
  const tags = textsOf("tags", list);
  if (tags.length > configurationTagsMax) refuse("tags", `must be at most ${configurationTagsMax}`);
  tags.forEach((tag, index) => checkText(`tags[${index}]`, tag, configurationTagLengthMax));
  return [...new Set(tags)];
}

function textsOf(field: string, list: JsonValue): readonly string[] {
  if (!isJsonArray(list)) return refuse(field, "must be a list of texts");
  return list.map((item, index) =>
    typeof item === "string" ? item : refuse(`${field}[${index}]`, "must be text"),
  );
}

/** Returns a text that is not blank, is not too long, and that Postgres takes. */
export function checkText(field: string, text: string, charactersMax: number): string {
  if (text.trim() === "") refuse(field, "must not be blank");
  assertText(field, text, charactersMax);
  return text;
}

export function checkSound(field: string, value: JsonValue): JsonObject {
  if (!isJsonObject(value)) return refuse(field, "must be an object");
  if (isSound(value, depthMax)) return value;
  return refuse(field, `may nest ${depthMax} levels, and its numbers must be finite`);
}
