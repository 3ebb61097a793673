// What went wrong in a span, if anything did. Called by map-span.ts.
// Source: docs/spec.md, "Event record" (failed spans are errors); OpenTelemetry, "Exceptions".

import type { JsonValue } from "../../base/json.ts";
import type { Draft } from "./draft.ts";
import { take } from "./draft.ts";

/** Says no more than that the span failed, where the sender said no more. */
const unnamedError = "error";

/**
 * Returns the error of a failed span, never empty: the sender's own text, the status message, the
 * last exception's message or type, `error.type`. Undefined when nothing failed: an exception
 * alone is a failure unless the status says ok.
 */
export function spanError(draft: Draft): string | undefined {
  const own = text(take(draft, "honeyhive_error"));
  if (own !== undefined) return own;
  const { span } = draft;
  if (span.status === "ok") return undefined;
  const exception = span.events.findLast((event) => event.name === "exception")?.attributes;
  if (span.status !== "error" && exception === undefined) return undefined;
  return (
    text(span.statusMessage) ??
    text(exception?.get("exception.message")) ??
    text(exception?.get("exception.type")) ??
    text(span.attributes.get("error.message")) ??
    text(span.attributes.get("error.type")) ??
    unnamedError
  );
}

function text(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
