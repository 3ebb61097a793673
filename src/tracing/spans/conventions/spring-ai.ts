// Spring AI: tools, with their arguments and results as JSON text. Its model spans send the earlier
// GenAI conventions. Source: Spring AI 1.0, observability reference.

import { movePayload } from "../draft.ts";
import { parseScalarText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const springAi: Convention = {
  fields: {
    "spring.ai.kind": "metadata.span_kind",
    "spring.ai.tool.definition.name": "metadata.tool_name",
    "spring.ai.tool.definition.description": "metadata.tool_description",
  },
  read(draft) {
    movePayload(draft, "spring.ai.tool.call.arguments", "inputs", "input", parseScalarText);
    movePayload(draft, "spring.ai.tool.call.result", "outputs", "result", parseScalarText);
  },
};
