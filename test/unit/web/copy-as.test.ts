// The question of the traces as text for a shell.

import { describe, expect, test } from "vitest";
import {
  formatCurl,
  formatFilters,
  quoteForShell,
} from "../../../src/web/app/pages/traces/copy-as.ts";

const question = {
  tab: "events",
  filters: [{ field: "error", operator: "is", value: "it's late", type: "string" }],
  from: 5,
} as const;

describe("copies of a question", () => {
  test("quote what a shell would read", () => {
    expect(quoteForShell("it's $HOME")).toBe(`'it'\\''s $HOME'`);
  });

  test("hold filters and range, and no key", () => {
    const command = formatCurl("http://127.0.0.1:8080", question);

    expect(command).toContain("'http://127.0.0.1:8080/v1/events/search'");
    expect(command).toContain("Bearer $WAGGLE_API_KEY");
    expect(command).toContain(`"value":"it'\\''s late"`);
    expect(command).toContain(`"dateRange":{"$gte":5}`);
  });

  test("are filters as the API takes them", () => {
    expect(JSON.parse(formatFilters(question))).toEqual(question.filters);
  });
});
