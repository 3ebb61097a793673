// LiteLLM: the user of a call, and its usage as the text of a Python dictionary. Its other
// attributes are those of the GenAI conventions. Source: PyPI litellm 1.110.

import { placeOrKeep, type Draft } from "../draft.ts";
import type { Convention } from "./convention.ts";

export const liteLlm: Convention = {
  fields: {
    "llm.user": "metadata.user_id",
  },
  read(draft) {
    if (draft.eventType === "model") readDetails(draft);
  },
};

const usageKey = "metadata.usage_object";

/** Counts in the usage, for which there are no attributes. */
const details: readonly (readonly [string, RegExp])[] = [
  ["cache_read_input_tokens", /'cached_tokens': (\d+)/],
  ["cache_write_input_tokens", /'cache_creation_tokens': (\d+)/],
  ["reasoning_tokens", /'reasoning_tokens': (\d+)/],
];

// The usage also has counts without a field, such as audio, so it stays as well.
function readDetails(draft: Draft): void {
  const usage = draft.left.get(usageKey);
  if (typeof usage !== "string") return;
  for (const [field, pattern] of details) {
    const count = pattern.exec(usage)?.[1];
    if (count !== undefined) {
      placeOrKeep(draft, "metadata", field, Number(count), `${usageKey}.${field}`);
    }
  }
}
