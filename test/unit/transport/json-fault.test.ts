// Where a body stops being JSON, said without any of its content.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeJsonFault } from "../../../src/base/decode/json-fault.ts";
import { createPacer } from "../../../src/base/pacer.ts";

describe("describeJsonFault", () => {
  test.each([
    { text: '{"a":NaN}', want: "NaN at position 5 is no JSON number" },
    { text: '{"a":-Infinity}', want: "Infinity at position 6 is no JSON number" },
    { text: '{"password":hunter2}', want: "unexpected character at position 12" },
    { text: '{"a":tru}', want: "unexpected character at position 8" },
    { text: "{'a':1}", want: "unexpected character at position 1" },
    { text: "[1,]", want: "unexpected character at position 3" },
    { text: '{"a":1}{', want: "unexpected character at position 7" },
    { text: '{"a":', want: "unexpected end at position 5" },
    { text: ' "abc', want: "unexpected end at position 5" },
    { text: "", want: "unexpected end at position 0" },
  ])("says of $text: $want", async ({ text, want }) => {
    expect(await describeJsonFault(text, createPacer())).toBe(want);
  });

  test("agrees with JSON.parse where that names a position", async () => {
    const edits = fc.array(
      fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'{}[],:"\\u0e-.+ntx \n'.split(""))),
      { minLength: 1, maxLength: 3 },
    );
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(fc.json(), edits, async (json, changes) => {
        const text = changes.reduce((before, [place, removed, char]) => {
          const at = place % (before.length + 1);
          return before.slice(0, at) + char + before.slice(at + removed);
        }, json);
        const at = positionByParse(text);
        if (at === undefined) return;
        compared += 1;
        expect(await describeJsonFault(text, createPacer())).toMatch(
          new RegExp(`at position ${at}$`),
        );
      }),
      { numRuns: 2_000 },
    );
    expect(compared).toBeGreaterThan(100);
  });
});

function positionByParse(text: string): number | undefined {
  try {
    JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    if (message === "Unexpected end of JSON input") return text.length;
    const named = / in JSON at position (\d+) /.exec(message)?.[1];
    return named === undefined ? undefined : Number(named);
  }
  return undefined;
}
