// The programs of the first visit, and what the one that calls a model says about providers.

import { describe, expect, test } from "vitest";
import {
  createSnippets,
  type ProvidersKnown,
} from "../../../src/web/app/pages/traces/first-visit/snippets.ts";

const openaiFor = (providers?: ProvidersKnown) =>
  createSnippets({ origin: "https://waggle.test", keys: {}, providers }).at(-1);

describe("createSnippets", () => {
  test("asks for a provider where there is none", () => {
    expect(openaiFor({ models: [], hasNone: true })?.note).toMatch(/^Set up a provider first/);
  });

  test("asks for none where there are some, or where that is not known", () => {
    const some = { models: ["openai/gpt-5-mini"], hasNone: false };

    expect(openaiFor(some)?.note).not.toContain("first");
    expect(openaiFor()?.note).not.toContain("first");
  });

  test("calls a chat model that the project can use", () => {
    const models = ["mistral/mistral-embed", "mistral/mistral-small"];

    expect(openaiFor({ models, hasNone: false })?.code).toContain('model="mistral/mistral-small"');
  });
});
