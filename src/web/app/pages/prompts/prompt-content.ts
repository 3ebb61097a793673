// The parameters of a configuration as an editor holds them, and back; keys that it does not show
// stay as they are.

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { formatValue } from "../../design/format.ts";

export type PromptMessage = {
  readonly role: string;
  /** Text of the content; JSON of a content with other parts, such as images. */
  readonly text: string;
  /** The message as it is stored; absent for a new one. */
  readonly stored?: JsonObject;
};

export type PromptContent = {
  readonly provider: string;
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  /** Hyperparameters as JSON. */
  readonly parameters: string;
};

export const emptyContent: PromptContent = {
  provider: "openai",
  model: "",
  messages: [{ role: "system", text: "" }],
  parameters: "{}",
};

export const environments = ["dev", "staging", "prod"] as const;

/** Returns what the editor shows of a configuration. */
export function toContent(provider: string, parameters: JsonObject | undefined): PromptContent {
  const { model, template, hyperparameters } = parameters ?? {};
  return {
    provider,
    model: typeof model === "string" ? model : "",
    messages: toMessages(template),
    parameters: JSON.stringify(hyperparameters ?? {}, null, 2),
  };
}

function toMessages(template: JsonValue | undefined): readonly PromptMessage[] {
  if (typeof template === "string") return [{ role: "system", text: template }];
  if (!Array.isArray(template)) return emptyContent.messages;
  return template.flatMap((message) => {
    if (typeof message !== "object" || message === null || Array.isArray(message)) return [];
    const { role, content } = message;
    const text = formatValue(content);
    return [{ role: typeof role === "string" ? role : "user", text, stored: message }];
  });
}

function isText({ content }: JsonObject): boolean {
  return content === undefined || content === null || typeof content === "string";
}

/** Returns a message to save; a part that the editor does not show stays as it is. */
function fromMessage({ role, text, stored }: PromptMessage): JsonObject {
  if (!stored) return { role, content: text };
  if (text === formatValue(stored["content"])) return { ...stored, role };
  return { ...stored, role, content: isText(stored) ? text : (JSON.parse(text) as JsonValue) };
}

/** Returns why the messages cannot be saved, as a sentence; undefined if they can. */
export function messagesFault(messages: readonly PromptMessage[]): string | undefined {
  const wrong = messages.findIndex((message) => {
    try {
      fromMessage(message);
      return false;
    } catch {
      // A content that was JSON is none now.
      return true;
    }
  });
  return wrong === -1 ? undefined : `The content of message ${wrong + 1} is no JSON.`;
}

/** Returns the parameters to save. Throws a SyntaxError for a part that must be JSON and is not. */
export function toParameters(content: PromptContent, before: JsonObject = {}): JsonObject {
  const template = content.messages.map(fromMessage);
  const hyperparameters = JSON.parse(content.parameters || "{}") as JsonObject;
  return { call_type: "chat", ...before, model: content.model, hyperparameters, template };
}

/** Placeholders that the service fills in: a name may have spaces and letters of any language. */
const placeholder = /\{\{\s*([^{}\s](?:[^{}]*[^{}\s])?)\s*\}\}/g;

/** Returns a text with the values of its placeholders; those without a value are left out. */
export function fillVariables(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(placeholder, (_, name: string) => valueOf(values, name));
}

/** Returns the value of a placeholder; empty where there is none. */
export function valueOf(values: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(values, name) ? (values[name] ?? "") : "";
}

/** Names of the placeholders `{{ name }}` of the messages, in the order in which they stand. */
export function variablesOf(messages: readonly { readonly text: string }[]): readonly string[] {
  const found = messages.flatMap(({ text }) => [...text.matchAll(placeholder)]);
  return [...new Set(found.map(([, name]) => name ?? ""))];
}
