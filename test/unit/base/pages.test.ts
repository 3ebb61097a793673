// Keyset pages: cursors come back as they went out, and anything else is refused by name.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatCursor, parseCursor, parsePageOptions, toPage } from "../../../src/base/pages.ts";

const position = fc.record({ createdAtUs: fc.maxSafeInteger(), id: fc.uuid() });
const invalid = (field: string) =>
  expect.objectContaining({
    reason: "INVALID_ARGUMENT",
    message: expect.stringMatching(new RegExp(`^${field}: `)) as string,
  }) as Error;

describe("parseCursor", () => {
  test("reads what formatCursor wrote", () => {
    fc.assert(
      fc.property(position, (one) => {
        expect(parseCursor("keys", formatCursor("keys", one))).toEqual(one);
      }),
    );
  });

  test.each([
    { name: "no text", cursor: "" },
    { name: "no JSON", cursor: "zzz" },
    { name: "no array", cursor: encode({ createdAtUs: 1, id: "x" }) },
    { name: "half of one", cursor: encode([1]) },
    { name: "no UUID, which Postgres would refuse", cursor: encode([1, "x"]) },
    { name: "a fraction", cursor: encode([1.5, crypto.randomUUID()]) },
    { name: "a number past those that are exact", cursor: encode([2 ** 60, crypto.randomUUID()]) },
  ])("refuses $name", ({ cursor }) => {
    expect(() => parseCursor("keys", cursor)).toThrow(invalid("cursor"));
  });

  test("refuses a cursor of another list", () => {
    const one = { createdAtUs: 1, id: crypto.randomUUID() };
    expect(() => parseCursor("members", formatCursor("keys", one))).toThrow(invalid("cursor"));
  });

  test("throws nothing else, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        try {
          parseCursor("keys", text);
        } catch (error) {
          expect(error).toEqual(invalid("cursor"));
        }
      }),
    );
  });
});

function encode(value: unknown): string {
  return Buffer.from(`keys:${JSON.stringify(value)}`).toString("base64url");
}

describe("parsePageOptions", () => {
  test("takes 100 rows from the beginning when nothing is asked", () => {
    expect(parsePageOptions("keys", {})).toEqual({ limit: 100, after: undefined });
  });

  test.each([0, -1, 1_001, 1.5, NaN])("refuses a limit of %d", (limit) => {
    expect(() => parsePageOptions("keys", { limit })).toThrow(invalid("limit"));
  });
});

describe("toPage", () => {
  test("names the last row of the page where there are more", () => {
    const rows = [1, 2, 3].map((createdAtUs) => ({ createdAtUs, id: crypto.randomUUID() }));

    const { items, nextCursor = "" } = toPage("keys", rows, 2);

    expect(items).toEqual(rows.slice(0, 2));
    expect(parseCursor("keys", nextCursor)).toEqual(rows[1]);
    expect(toPage("keys", rows, 3)).toEqual({ items: rows, nextCursor: undefined });
    expect(toPage("keys", [], 3)).toEqual({ items: [], nextCursor: undefined });
  });
});
