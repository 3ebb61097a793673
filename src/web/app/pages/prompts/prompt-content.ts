// The parameters of a configuration as an editor holds them, and back; keys that it does not show
// stay as they are.

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

export type PromptMessage = { readonly role: string; readonly text: string };

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
    const text = typeof content === "string" ? content : JSON.stringify(content ?? "");
    return [{ role: typeof role === "string" ? role : "user", text }];
  });
}

/** Returns the parameters to save. Throws a SyntaxError for hyperparameters that are not JSON. */
export function toParameters(content: PromptContent, before: JsonObject = {}): JsonObject {
  const template = content.messages.map(({ role, text }) => ({ role, content: text }));
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
