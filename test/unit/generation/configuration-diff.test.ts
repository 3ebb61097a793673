// Differences between two versions of a configuration, field by field and line by line.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Content } from "../../../src/generation/configurations/configuration.ts";
import {
  compareContents,
  compareLines,
  type DiffLine,
} from "../../../src/generation/configurations/diff.ts";

function content(parameters: Content["parameters"], more: Partial<Content> = {}): Content {
  return {
    type: "LLM",
    provider: "openai",
    parameters: { call_type: "chat", model: "m", ...parameters },
    userProperties: {},
    tags: [],
    ...more,
  };
}

describe("fields", () => {
  test("of equal contents do not differ, whatever the order of keys", () => {
    const before = content({ hyperparameters: { a: 1, b: { c: 2, d: 3 } } });
    const after = content({ hyperparameters: { b: { d: 3, c: 2 }, a: 1 } });

    expect(compareContents(before, after)).toEqual([]);
  });

  test("show parameters and hyperparameters by key, and the others as a whole", () => {
    const before = content({
      hyperparameters: { temperature: 0, n: 1 },
      functionCallParams: "none",
    });
    const after = content(
      { model: "m2", hyperparameters: { temperature: 1, n: 1, top_p: 1 } },
      { provider: "anthropic", tags: ["x"], userProperties: { owner: "me" } },
    );

    expect(compareContents(before, after)).toEqual([
      { field: "provider", before: "openai", after: "anthropic" },
      { field: "parameters.model", before: "m", after: "m2" },
      { field: "parameters.functionCallParams", before: "none", after: undefined },
      { field: "parameters.hyperparameters.temperature", before: 0, after: 1 },
      { field: "tags", before: [], after: ["x"] },
      { field: "user_properties", before: {}, after: { owner: "me" } },
      { field: "parameters.hyperparameters.top_p", before: undefined, after: 1 },
    ]);
  });

  test("show a template line by line, messages under their roles", () => {
    const before = content({
      template: [
        { role: "system", content: "Be kind.\nBe short." },
        { role: "user", content: [{ type: "text", text: "Hello" }, { type: "image" }], name: "me" },
      ],
    });
    const after = content({
      template: [
        { role: "system", content: "Be kind.\nBe very short." },
        { role: "user", content: [{ type: "text", text: "Hello" }, { type: "image" }], name: "me" },
      ],
    });

    expect(compareContents(before, after)[0]?.lines).toEqual([
      { kind: "same", text: "[system]" },
      { kind: "same", text: "Be kind." },
      { kind: "removed", text: "Be short." },
      { kind: "added", text: "Be very short." },
      { kind: "same", text: "[user]" },
      { kind: "same", text: "Hello" },
      { kind: "same", text: '{"type":"image"}' },
      { kind: "same", text: '{"name":"me"}' },
    ]);
  });
});

describe("lines", () => {
  const texts = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });

  const of = (lines: readonly DiffLine[], kind: DiffLine["kind"]) =>
    lines.filter((line) => line.kind === "same" || line.kind === kind).map(({ text }) => text);

  test("without the added ones are the old text, without the removed ones the new text", () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const lines = compareLines(before, after);

        expect(of(lines, "removed")).toEqual(before);
        expect(of(lines, "added")).toEqual(after);
      }),
    );
  });

  test("keep as many the same in either direction", () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const same = (lines: readonly DiffLine[]) =>
          lines.filter(({ kind }) => kind === "same").length;

        expect(same(compareLines(before, after))).toBe(same(compareLines(after, before)));
      }),
    );
  });

  test("of very long texts differ as a whole between equal ends", () => {
    const middle = (of: string) => Array.from({ length: 1_500 }, (_, index) => `${of}${index % 7}`);
    const before = ["first", ...middle("x"), "last"];
    const after = ["first", ...middle("y"), "last"];

    const lines = compareLines(before, after);

    expect(lines.map(({ kind }) => kind)).toEqual([
      "same",
      ...Array<string>(1_500).fill("removed"),
      ...Array<string>(1_500).fill("added"),
      "same",
    ]);
  });
});
