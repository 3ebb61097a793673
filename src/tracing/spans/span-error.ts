// Finds the error of a span, if it failed.
// Source: docs/spec.md, "Event record" (failed spans are errors); OpenTelemetry, "Exceptions".

import type { JsonValue } from "../../base/json.ts";
import { type Draft, take } from "./draft.ts";

const langfuseLevel = "langfuse.observation.level";

/** Error of a failed span without any text. */
const unnamedError = "error";

/**
 * Returns the error of a failed span, never empty: the sender's own text, the status message, the
 * last exception's message or type, `error.message`, Langfuse's message, LiteLLM's `exception`, or
 * `error.type`. Undefined if the span did not fail. An exception alone, or the finish reason
 * `error` of Vercel's SDK, is a failure unless the status is ok.
 */
export function spanError(draft: Draft): string | undefined {
  const own = text(take(draft, "honeyhive_error"));
  if (own !== undefined) return own;
  const { span } = draft;
  // LangSmith's SDK for JavaScript sets ok when a run starts, which no later status replaces.
  const isOk = span.status === "ok" && !span.attributes.has("langsmith.span.kind");
  if (isOk) return undefined;
  const exception = span.events.findLast((event) => event.name === "exception")?.attributes;
  // Langfuse's SDK for JavaScript sets no status, nor does Vercel's for a stream that broke.
  const isFailed =
    span.status === "error" ||
    span.attributes.get(langfuseLevel) === "ERROR" ||
    span.attributes.get("ai.response.finishReason") === "error";
  if (!isFailed && exception === undefined) return undefined;
  return (
    text(span.statusMessage) ??
    text(exception?.get("exception.message")) ??
    text(exception?.get("exception.type")) ??
    text(span.attributes.get("error.message")) ??
    text(span.attributes.get("langfuse.observation.status_message")) ??
    text(span.attributes.get("exception")) ??
    text(span.attributes.get("error.type")) ??
    unnamedError
  );
}

function text(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
