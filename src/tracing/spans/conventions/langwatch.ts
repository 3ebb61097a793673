// LangWatch: the spans of its SDKs, whose input and output are JSON text of `{type, value}`.
// Source: PyPI langwatch 1.4, npm langwatch 0.16.

import { isJsonArray, isJsonObject, type JsonValue } from "../../../base/json.ts";
import { move, movePayload, placeOrKeep, type Draft } from "../draft.ts";
import { toModelInputs, toModelOutputs } from "../model-payload.ts";
import { parseJsonText, toNumber } from "../values.ts";
import type { Convention } from "./convention.ts";

export const langWatch: Convention = {
  fields: {
    "langwatch.span.type": "metadata.span_kind",
    "langwatch.user.id": "metadata.user_id",
    "langwatch.thread.id": "metadata.session_id",
    "langwatch.customer.id": "metadata.customer_id",
  },
  prepare: adoptParameters,
  read(draft) {
    const isModel = draft.eventType === "model";
    const read = (toPayload: (value: JsonValue) => JsonValue) => (text: JsonValue) =>
      isModel ? toPayload(unwrap(text)) : unwrap(text);
    movePayload(draft, "langwatch.input", "inputs", "input", read(toInputs));
    movePayload(draft, "langwatch.output", "outputs", "result", read(toModelOutputs));
    move(draft, "langwatch.labels", "metadata", "tags");
    // Python's SDK and the one for TypeScript.
    for (const key of ["langwatch.rag_contexts", "langwatch.contexts"]) {
      move(draft, key, "outputs", "documents", unwrap);
    }
    if (isModel) readMetrics(draft);
  },
};

function toInputs(value: JsonValue): JsonValue {
  return toModelInputs(typeof value === "string" ? [{ role: "user", content: value }] : value);
}

// A list has typed values too.
function unwrap(text: JsonValue): JsonValue {
  const typed = parseJsonText(text);
  if (!isJsonObject(typed) || typeof typed["type"] !== "string" || !("value" in typed)) {
    return typed;
  }
  const value = typed["value"] ?? null;
  return typed["type"] === "list" && isJsonArray(value) ? value.map(unwrap) : value;
}

// The parameters of a call are those that OpenInference writes in one attribute as well.
function adoptParameters(draft: Draft): void {
  const given = draft.attributes.get("langwatch.params");
  const key = "llm.invocation_parameters";
  const parameters = unwrap(given ?? null);
  if (!isJsonObject(parameters) || draft.attributes.has(key)) return;
  const attributes = new Map(draft.attributes);
  attributes.delete("langwatch.params");
  attributes.set(key, parameters);
  draft.attributes = attributes;
}

/** Names of the amounts in the SDKs for Python and TypeScript. */
const metrics = {
  prompt_tokens: ["prompt_tokens", "promptTokens"],
  completion_tokens: ["completion_tokens", "completionTokens"],
  reasoning_tokens: ["reasoning_tokens", "reasoningTokens"],
  cost: ["cost"],
  time_to_first_byte_ms: ["first_token_ms", "firstTokenMs"],
} as const;

// The metrics may have amounts without a field, so they stay.
function readMetrics(draft: Draft): void {
  const given = unwrap(draft.left.get("langwatch.metrics") ?? null);
  if (!isJsonObject(given)) return;
  for (const [field, names] of Object.entries(metrics)) {
    const amount = names.map((name) => toNumber(given[name])).find((one) => one !== undefined);
    if (amount !== undefined) placeOrKeep(draft, "metadata", field, amount, `langwatch.${field}`);
  }
}
