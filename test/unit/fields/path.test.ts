// Paths of fields: writing, reading, and finding a dotted name among them.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  anyItem,
  formatName,
  joinItem,
  joinKey,
  matchName,
  parsePath,
  splitName,
} from "../../../src/tracing/fields/path.ts";

describe("stored paths", () => {
  test("read back as the keys they were written from, whatever the keys hold", () => {
    const key = fc.oneof(fc.string(), fc.constantFrom(".", "*", "\\", "a.b", "\\.", "", "\n"));
    const segment = fc.oneof(key, fc.constant(anyItem));
    fc.assert(
      fc.property(fc.array(segment), (segments) => {
        const stored = segments.reduce<string>(
          (path, next) => (next === anyItem ? joinItem(path) : joinKey(path, next)),
          "metadata",
        );
        expect(parsePath(stored)).toEqual(["metadata", ...segments]);
      }),
    );
  });

  test("show keys with dots as they are", () => {
    expect(formatName(parsePath("metadata.honeyhive\\.inputs.*"))).toBe(
      "metadata.honeyhive.inputs.*",
    );
  });
});

describe("matchName", () => {
  test.each([
    { path: "metadata.a\\.b", name: "metadata.a.b", want: ["metadata", "a.b"] },
    { path: "metadata.a.b", name: "metadata.a", want: ["metadata", "a"] },
    { path: "metadata.a\\.b", name: "metadata.a", want: undefined },
    { path: "metadata.ab", name: "metadata.a", want: undefined },
    { path: "metadata.a", name: "metadata.ab", want: undefined },
    { path: "metadata.a", name: "metadata.a.b", want: undefined },
    { path: "metadata.*.b", name: "metadata.10.b", want: ["metadata", "10", "b"] },
    { path: "metadata.*.b", name: "metadata.01.b", want: undefined },
    { path: "metadata.*.b", name: "metadata.*.b", want: ["metadata", anyItem, "b"] },
    { path: "metadata.\\*", name: "metadata.3", want: undefined },
    { path: "metadata.", name: "metadata.", want: ["metadata", ""] },
  ])("$name in $path", ({ path, name, want }) => {
    expect(matchName(parsePath(path), name)).toEqual(want);
  });
});

test("a name splits into keys, the longest first key first, within a bound", () => {
  expect(splitName("a.b.c", 16)).toEqual([["a.b.c"], ["a.b", "c"], ["a", "b.c"], ["a", "b", "c"]]);
  expect(splitName("a.b.c.d.e.f.g.h.i.j", 16)).toHaveLength(16);
});
