// Values outside of closed sets: the error names the field, the members and the value.

import { describe, expect, test } from "vitest";
import { faultOfChoice, parseChoice } from "../../../src/base/choices.ts";
import { ServiceError } from "../../../src/base/errors.ts";

const signs = ["is", "is not"] as const;

describe("a value of a closed set", () => {
  test("is returned if it is a member", () => {
    expect(parseChoice("operator", signs, "is not")).toBe("is not");
  });

  test.each<readonly [given: unknown, end: string]>([
    ["IS", ', not "IS"'],
    ["", ', not ""'],
    ['a"\n\u0000', ', not "a\\"\\n\\u0000"'],
    ["x".repeat(1_000), `, not "${"x".repeat(80)}…"`],
    [7, ", not 7"],
    [null, ", not null"],
    [{ a: 1 }, ", not an object"],
    [["is"], ", not a list"],
    [undefined, ""],
  ])("is refused by name otherwise: %j", (given, end) => {
    expect(() => parseChoice("operator", signs, given)).toThrow(
      new ServiceError("INVALID_ARGUMENT", `operator: must be one of is, is not${end}`),
    );
  });

  test("may be something else too, which the error says", () => {
    expect(faultOfChoice(signs, "7", "a number")).toBe(
      'must be one of is, is not, or a number, not "7"',
    );
  });
});
