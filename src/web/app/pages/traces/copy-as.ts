// The question of the page in other forms: a curl command, and the filters as JSON. Pure.

import type { FilterRow } from "../../design/filters.ts";
import type { Question } from "./question.ts";

/** Returns a filter as REST takes it. */
function toJson({ field, operator, value, type }: FilterRow) {
  return {
    field,
    operator,
    ...(value !== undefined && { value }),
    ...(type !== undefined && { type }),
  };
}

/** Returns the filters as the API takes them. */
export function formatFilters({ filters }: Question): string {
  return JSON.stringify(filters.map(toJson), null, 2);
}

/** Quotes a text for a POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns a command that asks the same of the API. The key is the reader's own, from the
 * environment: nothing secret is in the text.
 */
export function formatCurl(origin: string, question: Question): string {
  const { tab, filters, from, to } = question;
  const dateRange = { $gte: from, ...(to !== undefined && { $lte: to }) };
  const key = `-H "Authorization: Bearer $WAGGLE_API_KEY"`;
  if (tab === "events") {
    const body = JSON.stringify({ filters: filters.map(toJson), dateRange, limit: 100 });
    return [
      `curl -sS ${quoteForShell(`${origin}/v1/events/search`)} ${key}`,
      `-H 'Content-Type: application/json' -d ${quoteForShell(body)}`,
    ].join(" \\\n  ");
  }
  const query = [
    ["filters", JSON.stringify(filters.map(toJson))],
    ["dateRange", JSON.stringify(dateRange)],
    ["limit", "100"],
  ].map(([name, value]) => `--data-urlencode ${quoteForShell(`${name}=${value}`)}`);
  return [`curl -sS -G ${quoteForShell(`${origin}/v1/sessions`)} ${key}`, ...query].join(" \\\n  ");
}
