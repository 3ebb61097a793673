// Placeholders of chat messages: `{{ name }}` is replaced by the value of that name.
// Source: docs/spec.md, "config"; docs/decisions.md, 20.1.

import { refuse } from "../../base/errors.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { promptCharactersMax } from "../../base/limits.ts";

export type FilledMessages = {
  readonly messages: readonly JsonObject[];
  /** Number of characters filled in; a repeated value counts each time. */
  readonly filledCharacters: number;
};

const placeholder = /\{\{\s*([^{}\s](?:[^{}]*[^{}\s])?)\s*\}\}/g;

/**
 * Returns the messages with the placeholders of their contents filled in; filled-in text is not
 * searched again. Values other than text are written as JSON. A name is a key of `values`, or a
 * path of keys separated by dots.
 *
 * Fails with INVALID_ARGUMENT naming a missing value.
 */
export function fillMessages(messages: readonly JsonObject[], values: JsonObject): FilledMessages {
  let filledCharacters = 0;

  function fill(text: string, path: string): string {
    return text.replaceAll(placeholder, (_, name: string) => {
      const value = findValue(values, name);
      if (value === undefined) {
        return refuse(`inputs.${name}`, `is missing, and ${path} has a placeholder for it`);
      }
      const words = typeof value === "string" ? value : JSON.stringify(value);
      filledCharacters += words.length;
      if (filledCharacters > promptCharactersMax) {
        refuse("messages", `the values filled in have more than ${promptCharactersMax} characters`);
      }
      return words;
    });
  }

  function fillPart(part: JsonValue, path: string): JsonValue {
    if (!isJsonObject(part) || typeof part["text"] !== "string") return part;
    return { ...part, text: fill(part["text"], `${path}.text`) };
  }

  function fillContent(content: JsonValue | undefined, path: string): JsonValue | undefined {
    if (typeof content === "string") return fill(content, path);
    if (!isJsonArray(content)) return content;
    return content.map((part, index) => fillPart(part, `${path}[${index}]`));
  }

  const filled = messages.map((message, index) => {
    const content = fillContent(message["content"], `messages[${index}].content`);
    return content === undefined ? message : { ...message, content };
  });
  return { messages: filled, filledCharacters };
}

/** Returns the value of a key or path; a key that contains dots takes precedence over a path. */
function findValue(values: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(values, name)) return values[name];
  let value: JsonValue | undefined = values;
  for (const key of name.split(".")) value = memberOf(value, key);
  return value;
}

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (isJsonArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
