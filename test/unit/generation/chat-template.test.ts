// Placeholders of chat messages. Source: docs/spec.md, "config"; docs/decisions.md, 20.1.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { fillMessages } from "../../../src/generation/chat/template.ts";

function filled(content: string, values: JsonObject): unknown {
  return fillMessages([{ role: "user", content }], values).messages[0]?.["content"];
}

describe("fillMessages", () => {
  test.each([
    { name: "with spaces and without", content: "{{a}} {{ a }} {{  a}}", want: "x x x" },
    { name: "as often as one stands there", content: "{{a}}{{a}}", want: "xx" },
    { name: "by a path", content: "{{ deep.er }}", want: "y" },
    { name: "by a key with a dot before a path", content: "{{ b.c }}", want: "literal" },
    { name: "of an array by its position", content: "{{ list.1 }}", want: "two" },
    { name: "with a name of several words", content: "{{ two words }}", want: "z" },
    {
      name: "that is no text as JSON",
      content: "{{ deep }} {{ n }} {{ no }}",
      want: '{"er":"y"} 1.5 null',
    },
    { name: "once, not again", content: "{{ again }}", want: "{{ a }}" },
    { name: "with what a replacement would read", content: "{{ money }}", want: "$& $1 $$" },
    {
      name: "not where there is no name",
      content: "{{ }} {{}} {a} {{a",
      want: "{{ }} {{}} {a} {{a",
    },
  ])("fills a value $name", ({ content, want }) => {
    const values = {
      a: "x",
      deep: { er: "y" },
      "b.c": "literal",
      b: { c: "path" },
      list: ["one", "two"],
      "two words": "z",
      n: 1.5,
      no: null,
      again: "{{ a }}",
      money: "$& $1 $$",
    };

    expect(filled(content, values)).toBe(want);
  });

  test.each(["absent", "toString", "__proto__", "a.length", "list.length", "deep.er.more"])(
    "names the value that is missing: %s",
    (name) => {
      const values = { a: "x", list: [], deep: { er: "y" } };

      expect(() => filled(`{{ ${name} }}`, values)).toThrow(
        `inputs.${name}: is missing, and messages[0].content has a placeholder for it`,
      );
    },
  );

  test("fills texts of parts, and leaves other parts and other members as they are", () => {
    const image = { type: "image_url", image_url: { url: "https://example.org/{{ a }}" } };
    const message = {
      role: "user",
      name: "{{ a }}",
      content: [{ type: "text", text: "{{ a }}" }, image],
    };

    const got = fillMessages([message, { role: "assistant", tool_calls: [] }], { a: "x" });

    expect(got.messages).toEqual([
      { role: "user", name: "{{ a }}", content: [{ type: "text", text: "x" }, image] },
      { role: "assistant", tool_calls: [] },
    ]);
  });

  test("fills in no more than a model reads, and tells how much", () => {
    const values = { a: "x".repeat(1_000_000) };
    const messagesOf = (count: number) => [{ role: "user", content: "{{ a }}".repeat(count) }];

    expect(fillMessages(messagesOf(4), values).filledCharacters).toBe(4_000_000);
    expect(() => fillMessages(messagesOf(5), values)).toThrow(
      "messages: the values filled in have more than 4000000 characters",
    );
  });

  test("puts any text in the place of its name, and leaves all other text as it is", () => {
    const plain = fc.string().map((text) => text.replaceAll(/[{}]/g, ""));
    fc.assert(
      fc.property(plain, fc.string(), plain, (before, value, after) => {
        expect(filled(`${before}{{ v }}${after}`, { v: value })).toBe(`${before}${value}${after}`);
      }),
    );
  });
});
