// Sums of the values of a split over past hours, which one chart keeps for the next.

import fc from "fast-check";
import { expect, test } from "vitest";
import { createPacer } from "../../../src/base/pacer.ts";
import type { ChartQuestion } from "../../../src/tracing/charts/chart-query.ts";
import { toCells } from "../../../src/tracing/charts/summaries/aggregate.ts";
import { addUpSplits } from "../../../src/tracing/charts/summaries/kept-sums.ts";
import type { SummaryPlan } from "../../../src/tracing/charts/summaries/plan.ts";
import type { Part } from "../../../src/tracing/charts/summaries/sums.ts";
import { createBook, numberOf } from "../../../src/tracing/charts/summaries/book.ts";

const plan: SummaryPlan = {
  key: "",
  split: { kind: "column", name: "model" },
  sourceOf: [0],
  sources: [{ source: { kind: "duration" }, keeps: ["max", "min", "sum"] }],
};
const groups = 6;

type Entry = { readonly split: number; readonly events: number; readonly sum: number };

function part(entries: readonly Entry[], isKept: boolean): Part {
  const distinct = [...new Map(entries.map((one) => [one.split, one])).values()];
  const numbers = Float64Array.from(distinct, ({ sum }) => sum);
  const events = Uint32Array.from(distinct, (one) => one.events);
  const kept = { sum: numbers, min: numbers, max: numbers };
  const splits = Uint32Array.from(distinct, ({ split }) => split);
  return { bucket: 0, isKept, summary: { splits, events, sources: [{ counts: events, kept }] } };
}

const hour = fc
  .tuple(
    fc.array(fc.record({ split: fc.nat(groups - 1), events: fc.nat(9), sum: fc.integer() })),
    fc.boolean(),
  )
  .map(([entries, isKept]) => part(entries, isKept));

test("are those that are added up anew, whichever hours a chart has", async () => {
  const pacer = createPacer();
  await fc.assert(
    fc.asyncProperty(
      fc.array(hour, { minLength: 1, maxLength: 8 }),
      fc.array(fc.array(fc.nat(7)), { minLength: 1, maxLength: 5 }),
      async (hours, charts) => {
        const book = createBook();
        for (const chosen of charts) {
          const parts = [...new Set(chosen)].flatMap((at) => hours[at] ?? []);
          const asked = { plan, parts, groups };

          const again = await addUpSplits(book, asked, pacer);
          const anew = await addUpSplits(createBook(), asked, pacer);

          expect(again).toEqual(anew);
        }
        expect(book.bytes).toBe(book.keptSums?.bytes ?? 0);
      },
    ),
  );
});

test("hold more values later", async () => {
  const pacer = createPacer();
  const book = createBook();
  const first = part([{ split: 1, events: 2, sum: 5 }], true);
  const second = part([{ split: 9, events: 1, sum: 7 }], true);

  await addUpSplits(book, { plan, parts: [first], groups: 2 }, pacer);
  const sums = await addUpSplits(book, { plan, parts: [first, second], groups: 10 }, pacer);

  expect([sums.events[1], sums.events[9], sums.sources[0]?.sum?.[9]]).toEqual([2, 1, 7]);
});

test("leave out values of the split that another chart reads meanwhile", async () => {
  const book = createBook();
  for (const split of ["=a", "=b"]) numberOf(book, split);
  const parts = [
    part(
      [
        { split: 0, events: 2, sum: 5 },
        { split: 1, events: 1, sum: 7 },
      ],
      true,
    ),
  ];
  const rest = async (): Promise<void> => {
    numberOf(book, `=new ${book.splits.length}`);
  };
  const hold = { grow: () => undefined, giveBack: () => undefined, release: () => undefined };
  const question: ChartQuestion = {
    kind: "table",
    range: { fromMs: 0, toMs: 1 },
    timezone: "UTC",
    unit: undefined,
    bars: 0,
    measures: [{ id: "m", metric: "duration", aggregation: "sum", source: { kind: "duration" } }],
    split: { source: { kind: "column", name: "model" }, limit: 5, includeOther: true },
  };

  const cells = await toCells(
    question,
    { plan, parts, book, splits: book.splits, starts: [0] },
    { pacer: { due: () => true, rest }, hold },
  );

  expect(
    cells.map(({ split, values, splits, matched }) => [split, values, splits, matched]),
  ).toEqual([
    ["b", [7], 2, 3],
    ["a", [5], 2, 3],
  ]);
});
