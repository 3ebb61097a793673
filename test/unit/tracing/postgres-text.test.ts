// Text that Postgres refuses, there and back.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  escapeJson,
  escapeText,
  unescapeJson,
  unescapeText,
} from "../../../src/tracing/events/postgres-text.ts";

const odd = fc.string({
  unit: fc.constantFrom("a", "\\", '"', "\0", "\ud800", "\udc00", "\ue000", "u", "0", "e", "😀"),
});

describe("escapeText", () => {
  test("gives text that Postgres takes, and back what it was", () => {
    fc.assert(
      fc.property(odd, (text) => {
        const escaped = escapeText(text);
        expect(escaped.isWellFormed()).toBe(true);
        expect(escaped).not.toContain("\0");
        expect(unescapeText(escaped)).toBe(text);
      }),
    );
  });
});

describe("escapeJson", () => {
  test("escapes the strings of JSON as escapeText does, and back", () => {
    fc.assert(
      fc.property(odd, odd, (key, value) => {
        const escaped = escapeJson(JSON.stringify({ [key]: [value] }));
        expect(JSON.parse(escaped)).toEqual({ [escapeText(key)]: [escapeText(value)] });
        expect(JSON.parse(unescapeJson(escaped))).toEqual({ [key]: [value] });
      }),
    );
  });
});
