// Agreement of people, against published worked examples and against the definitions.
// Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011, sections A to C;
// Wikipedia, "Cohen's kappa", simple example; J. Cohen, "Weighted Kappa", 1968.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Agreement,
  createAgreementSum,
  type Level,
  type Rating,
} from "../../../src/evaluation/queues/agreement.ts";

/** Computes the agreement of rows of values, a row for each person; `.` is no value. */
function agreementOf(level: Level, ...rows: readonly string[]): Agreement {
  const values = rows.map((row) => row.split(" "));
  const sum = createAgreementSum(level);
  for (const index of (values[0] ?? []).keys()) {
    const ratings = values.flatMap((row, person): Rating[] => {
      const value = row[index] ?? ".";
      return value === "." ? [] : [{ reviewer: `person ${person}`, value }];
    });
    sum.add(ratings);
  }
  return sum.get();
}

const four = [
  "1 2 3 3 2 1 4 1 2 . . .",
  "1 2 3 3 2 2 4 1 2 5 . 3",
  ". 3 3 3 2 3 4 2 2 5 1 .",
  "1 2 3 3 2 4 4 1 2 5 1 .",
];

describe("Krippendorff's alpha", () => {
  test("of two people with two values (section A)", () => {
    const { alpha, events, scores, reviewers } = agreementOf(
      "nominal",
      "0 1 0 0 0 0 0 0 1 0",
      "1 1 1 0 0 1 0 0 0 0",
    );

    expect(alpha).toBeCloseTo(0.095, 3);
    expect({ events, scores, reviewers }).toEqual({ events: 10, scores: 20, reviewers: 2 });
  });

  test("of two people with five values (section B)", () => {
    const { alpha } = agreementOf("nominal", "a a b b d c c c e d d a", "b a b b b c c c e d d d");

    expect(alpha).toBeCloseTo(0.692, 3);
  });

  test("of four people with missing values (section C), nominal and interval", () => {
    const nominal = agreementOf("nominal", ...four);

    expect(nominal.alpha).toBeCloseTo(0.743, 3);
    expect(agreementOf("interval", ...four).alpha).toBeCloseTo(0.849, 3);
    // The value of the last event is of one person alone.
    expect(nominal).toMatchObject({ events: 11, scores: 40, reviewers: 4, kappa: undefined });
  });

  test("is undefined without pairs, and where all values are equal", () => {
    expect(agreementOf("nominal", "a b c")).toMatchObject({ events: 0, alpha: undefined });
    const equal = agreementOf("nominal", "a a", "a a");
    expect(equal).toMatchObject({ observed: 1, alpha: undefined, kappa: undefined });
  });
});

describe("Cohen's kappa", () => {
  test("of two readers of fifty proposals", () => {
    const one = [...Array<string>(25).fill("yes"), ...Array<string>(25).fill("no")];
    const other = [
      ...Array<string>(20).fill("yes"),
      ...Array<string>(5).fill("no"),
      ...Array<string>(10).fill("yes"),
      ...Array<string>(15).fill("no"),
    ];

    const got = agreementOf("nominal", one.join(" "), other.join(" "));

    expect(got.observed).toBeCloseTo(0.7, 12);
    expect(got.kappa).toBeCloseTo(0.4, 12);
  });

  const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 })), {
    minLength: 2,
  });
  const distances: Readonly<Record<Level, (a: number, b: number) => number>> = {
    nominal: (a, b) => (a === b ? 0 : 1),
    interval: (a, b) => (a - b) ** 2,
  };

  test.each(["nominal", "interval"] as const)("is as defined at level %s", (level) => {
    const distance = distances[level];
    fc.assert(
      fc.property(pairs, (given) => {
        const [one, other] = [given.map(([a]) => a), given.map(([, b]) => b)];
        const got = agreementOf(level, one.join(" "), other.join(" "));

        const observed = given.reduce((sum, [a, b]) => sum + distance(a, b), 0) / given.length;
        const all = one.flatMap((a) => other.map((b) => distance(a, b)));
        const expected = all.reduce((sum, each) => sum + each, 0) / all.length;
        if (expected === 0) expect(got.kappa ?? 0).toBeCloseTo(0, 9);
        else expect(got.kappa).toBeCloseTo(1 - observed / expected, 9);
      }),
    );
  });
});

test("neither the order of events nor that of people changes anything", () => {
  const ratings = fc.array(
    fc.uniqueArray(
      fc.record({
        reviewer: fc.constantFrom("a", "b", "c"),
        value: fc.constantFrom("1", "2", "3"),
      }),
      {
        selector: ({ reviewer }) => reviewer,
      },
    ),
  );
  fc.assert(
    fc.property(ratings, fc.constantFrom<Level>("nominal", "interval"), (events, level) => {
      const [forth, back] = [createAgreementSum(level), createAgreementSum(level)];
      events.forEach((event) => forth.add(event));
      events.toReversed().forEach((event) => back.add(event.toReversed()));

      const [got, want] = [forth.get(), back.get()];
      expect({ ...got, observed: 0, kappa: 0, alpha: 0 }).toEqual({
        ...want,
        observed: 0,
        kappa: 0,
        alpha: 0,
      });
      for (const name of ["observed", "kappa", "alpha"] as const) {
        if (want[name] === undefined) expect(got[name] ?? 0).toBeCloseTo(0, 6);
        else expect(got[name] ?? 0).toBeCloseTo(want[name], 6);
      }
    }),
  );
});
