// OpenLLMetry (Traceloop): workflow, task, agent and tool spans with their input and output, and
// the `llm.*` attributes of its model spans.
// Source: OpenLLMetry semantic conventions (traceloop.*, llm.*).

import { movePayload } from "../draft.ts";
import { parseScalarText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const traceloop: Convention = {
  fields: {
    "traceloop.span.kind": "metadata.span_kind",
    "traceloop.association.properties.run_id": "metadata.run_id",
    "traceloop.association.properties.dataset_id": "metadata.dataset_id",
    "traceloop.association.properties.datapoint_id": "metadata.datapoint_id",
    "traceloop.association.properties.disable_http_tracing": "metadata.disable_http_tracing",
    "traceloop.association.properties.user_id": "metadata.user_id",
    "crewai.task.description": "inputs.description",
    "crewai.task.expected_output": "inputs.expected_output",
    "crewai.crew.result": "outputs.result",
    "llm.request.type": "metadata.request_type",
    "llm.frequency_penalty": "config.hyperparameters.frequency_penalty",
    "llm.presence_penalty": "config.hyperparameters.presence_penalty",
    "llm.top_k": "config.hyperparameters.top_k",
    "llm.chat.stop_sequences": "config.hyperparameters.stop",
  },
  usage: {
    "llm.usage.total_tokens": "metadata.total_tokens",
  },
  read(draft) {
    movePayload(draft, "traceloop.entity.input", "inputs", "input", parseScalarText);
    movePayload(draft, "traceloop.entity.output", "outputs", "result", parseScalarText);
    // Later releases repeat both under these names.
    movePayload(draft, "gen_ai.task.input", "inputs", "input", parseScalarText);
    movePayload(draft, "gen_ai.task.output", "outputs", "result", parseScalarText);
  },
};
