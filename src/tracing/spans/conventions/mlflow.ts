// MLflow: the spans of its SDK for Python, each attribute as JSON text. It sends the GenAI
// conventions instead if MLFLOW_ENABLE_OTEL_GENAI_SEMCONV is true. Source: PyPI mlflow 3.17.

import { isJsonObject, type JsonValue } from "../../../base/json.ts";
import { move, movePayload, type Draft } from "../draft.ts";
import { toModelInputs, toModelOutputs } from "../model-payload.ts";
import { parseJsonText, parseScalarText, rename } from "../values.ts";
import type { Convention } from "./convention.ts";

const inputKey = "mlflow.spanInputs";

export const mlflow: Convention = {
  prepare: adoptCall,
  read(draft) {
    const isModel = draft.eventType === "model";
    const read = (toPayload: (value: JsonValue) => JsonValue) => (text: JsonValue) =>
      isModel ? toPayload(parseScalarText(text)) : parseScalarText(text);
    movePayload(draft, inputKey, "inputs", "input", read(toModelInputs));
    movePayload(draft, "mlflow.spanOutputs", "outputs", "result", read(toModelOutputs));
    move(draft, "mlflow.chat.tools", "config", "tools", parseJsonText);
  },
};

const settings = {
  model: "gen_ai.request.model",
  temperature: "gen_ai.request.temperature",
  top_p: "gen_ai.request.top_p",
  max_tokens: "gen_ai.request.max_tokens",
};

const amounts = {
  input_tokens: "gen_ai.usage.input_tokens",
  output_tokens: "gen_ai.usage.output_tokens",
  total_tokens: "gen_ai.usage.total_tokens",
  cache_read_input_tokens: "gen_ai.usage.cache_read.input_tokens",
  cache_creation_input_tokens: "gen_ai.usage.cache_creation.input_tokens",
};

/** Attributes with one text each, whose GenAI names tell the same. */
const texts = {
  "mlflow.llm.model": "gen_ai.response.model",
  "mlflow.llm.provider": "gen_ai.provider.name",
};

// The settings and amounts of a call get the names of the GenAI conventions. Usage and cost may
// have amounts without a field, so they stay as well.
function adoptCall(draft: Draft): void {
  if (draft.eventType !== "model" || !draft.attributes.has("mlflow.spanType")) return;
  const read = (key: string) => parseScalarText(draft.attributes.get(key) ?? null);
  const added = new Map<string, JsonValue>();
  const attributes = new Map(draft.attributes);
  for (const [key, name] of Object.entries(texts)) {
    if (attributes.delete(key)) added.set(name, read(key));
  }
  const type = read("mlflow.spanType");
  if (type === "EMBEDDING") added.set("gen_ai.operation.name", "embeddings");
  const [asked, used, cost] = [inputKey, "mlflow.chat.tokenUsage", "mlflow.llm.cost"].map(read);
  if (isJsonObject(asked)) rename(asked, settings, added);
  if (isJsonObject(used)) rename(used, amounts, added);
  if (isJsonObject(cost)) rename(cost, { total_cost: "gen_ai.usage.cost" }, added);
  draft.attributes = new Map([...added, ...attributes]);
}
