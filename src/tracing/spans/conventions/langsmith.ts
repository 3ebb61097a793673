// LangSmith: the runs of its SDKs, whose inputs and outputs are JSON text in the earlier GenAI
// attributes. Source: PyPI langsmith 0.15, npm langsmith 0.12 (their OpenTelemetry export).

import { isJsonObject, type JsonValue } from "../../../base/json.ts";
import { move, placeOrKeep, type Draft } from "../draft.ts";
import { movePayloads } from "../model-payload.ts";
import { parseJsonText, toNumber } from "../values.ts";
import type { Convention } from "./convention.ts";

/** Tags of a span, which the SDKs join; a span without any has an empty text. */
const tagsKey = "langsmith.span.tags";

export const langSmith: Convention = {
  fields: {
    "langsmith.span.kind": "metadata.span_kind",
    "langsmith.metadata.session_id": ["metadata.session_id", "metadata.conversation_id"],
    "langsmith.metadata.thread_id": "metadata.conversation_id",
    "langsmith.metadata.conversation_id": "metadata.conversation_id",
    "langsmith.metadata.user_id": "metadata.user_id",
  },
  read(draft) {
    if (draft.left.get(tagsKey) !== "") move(draft, tagsKey, "metadata", "tags", readTags);
    if (!draft.attributes.has("langsmith.span.kind")) return;
    movePayloads(draft, { input: "gen_ai.prompt", output: "gen_ai.completion" });
    if (draft.eventType === "model" && draft.hasUsage) readTokenDetails(draft);
  },
};

function readTags(tags: JsonValue): JsonValue {
  if (typeof tags !== "string") return tags;
  return tags
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

/** Attributes with the whole usage as JSON text; the first is of both SDKs. */
const usageKeys = ["langsmith.metadata.usage_metadata", "langsmith.usage_metadata"];

/** Details of token counts: group and key in the usage, field of `metadata`. */
const tokenDetails = [
  ["input_token_details", "cache_read", "cache_read_input_tokens"],
  ["input_token_details", "cache_creation", "cache_write_input_tokens"],
  ["output_token_details", "reasoning", "reasoning_tokens"],
] as const;

// The usage also has details without a field, such as audio, so it stays as well.
function readTokenDetails(draft: Draft): void {
  const key = usageKeys.find((one) => draft.left.has(one));
  const usage = parseJsonText(key === undefined ? null : (draft.left.get(key) ?? null));
  if (key === undefined || !isJsonObject(usage)) return;
  for (const [group, name, field] of tokenDetails) {
    const details = usage[group] ?? null;
    const count = isJsonObject(details) ? toNumber(details[name]) : undefined;
    if (count !== undefined) placeOrKeep(draft, "metadata", field, count, `${key}.${name}`);
  }
}
