// LangSmith: the runs of its SDKs, whose inputs and outputs are JSON text in the earlier GenAI
// attributes. Source: PyPI langsmith 0.15, npm langsmith 0.12 (their OpenTelemetry export).

import { movePayloads } from "../model-payload.ts";
import type { Convention } from "./convention.ts";

export const langSmith: Convention = {
  fields: {
    "langsmith.span.kind": "metadata.span_kind",
  },
  usage: {},
  read(draft) {
    if (!draft.attributes.has("langsmith.span.kind")) return;
    movePayloads(draft, { input: "gen_ai.prompt", output: "gen_ai.completion" });
  },
};
