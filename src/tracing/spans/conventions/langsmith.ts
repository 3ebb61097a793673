// LangSmith: the runs of its SDKs, whose inputs and outputs are JSON text in the earlier GenAI
// attributes. Source: PyPI langsmith 0.15, npm langsmith 0.12 (their OpenTelemetry export).

import type { JsonValue } from "../../../base/json.ts";
import { movePayload } from "../draft.ts";
import { toModelInputs, toModelOutputs } from "../model-payload.ts";
import { parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const langSmith: Convention = {
  fields: {
    "langsmith.span.kind": "metadata.span_kind",
  },
  usage: {},
  read(draft) {
    if (!draft.attributes.has("langsmith.span.kind")) return;
    const isModel = draft.eventType === "model";
    movePayload(draft, "gen_ai.prompt", "inputs", "input", isModel ? readInput : parseJsonText);
    movePayload(
      draft,
      "gen_ai.completion",
      "outputs",
      "result",
      isModel ? readOutput : parseJsonText,
    );
  },
};

function readInput(value: JsonValue): JsonValue {
  return toModelInputs(parseJsonText(value));
}

function readOutput(value: JsonValue): JsonValue {
  return toModelOutputs(parseJsonText(value));
}
