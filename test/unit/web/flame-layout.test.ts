// The flame graph: rows and places of frames, zooming, and what their colours tell.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  colorStep,
  colorSteps,
  frameAt,
  layOutFlame,
  rowPx,
} from "../../../src/web/app/pages/session/flame-layout.ts";
import { buildTree, type SessionTree } from "../../../src/web/app/pages/session/session-tree.ts";
import { createTimeAxis } from "../../../src/web/app/pages/session/time-axis.ts";
import { anEvent, anyEvents, aSession } from "./session-events.ts";

const layOut = (tree: SessionTree, root = 0) =>
  layOutFlame(tree, root, createTimeAxis(tree.nodes.map(({ event }) => event)).placeOf);

const nested = buildTree(aSession(0, 1_000), [
  anEvent({ id: "chain", type: "chain", startMs: 0, endMs: 800 }),
  anEvent({
    id: "model",
    parentId: "chain",
    type: "model",
    startMs: 100,
    endMs: 500,
    totalTokens: 90,
    cost: 0.25,
  }),
  anEvent({ id: "beside", parentId: "chain", startMs: 300, endMs: 700 }),
  anEvent({ id: "last", startMs: 800, endMs: 1_000 }),
]);

describe("layOutFlame", () => {
  test("puts children below their parent, and what ran beside them one row deeper", () => {
    const { frames, rowCount } = layOut(nested);

    expect(frames.map(({ row }) => row)).toEqual([0, 1, 2, 3, 1]);
    expect(frames.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [0, 0.8],
      [0.1, 0.5],
      [0.3, 0.7],
      [0.8, 1],
    ]);
    expect(rowCount).toBe(4);
  });

  test("colours by the time in which no child ran, by tokens, and by cost", () => {
    const { frames, max } = layOut(nested);

    expect(frames.map(({ values }) => values.time)).toEqual([0, 200, 400, 400, 200]);
    expect(frames.map(({ values }) => values.tokens)).toEqual([0, 0, 90, 0, 0]);
    expect(max).toEqual({ time: 400, tokens: 90, cost: 0.25 });
  });

  test("fills the width with the branch that is zoomed in on", () => {
    const { frames } = layOut(nested, 1);

    expect(frames.map(({ at }) => at)).toEqual([1, 2, 3]);
    expect(frames[0]).toMatchObject({ row: 0, from: 0, to: 1 });
    expect(frames[1]?.from).toBeCloseTo(0.125);
  });

  test("finds the frame at a place by row and width", () => {
    const layout = layOut(nested);

    expect(frameAt(layout, 0.4, 2.5 * rowPx)).toBe(2);
    expect(frameAt(layout, 0.6, 3.5 * rowPx)).toBe(3);
    expect(frameAt(layout, 0.6, 2.5 * rowPx)).toBeUndefined();
    expect(frameAt(layout, 0.9, 1.5 * rowPx)).toBe(4);
  });

  test("holds for any events: below the parent, within the width, none over another", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const tree = buildTree(aSession(), events);

        const { frames, max } = layOut(tree);

        expect(frames.map(({ at }) => at)).toEqual([...tree.nodes.keys()]);
        const rows = new Map<number, (readonly [number, number])[]>();
        for (const { at, row, from, to, values } of frames) {
          const parent = tree.nodes[at]?.parent ?? -1;
          expect(row).toBeGreaterThan(frames[parent]?.row ?? -1);
          expect(from).toBeGreaterThanOrEqual(0);
          expect(to).toBeGreaterThanOrEqual(from);
          expect(to).toBeLessThanOrEqual(1);
          expect(values.time).toBeGreaterThanOrEqual(0);
          expect(values.time).toBeLessThanOrEqual(max.time);
          const others = rows.get(row) ?? [];
          expect(others.some((one) => from < one[1] - 1e-9 && one[0] < to - 1e-9)).toBe(false);
          rows.set(row, [...others, [from, to]]);
        }
      }),
    );
  });

  test("lays out 100,000 frames of which many ran at once", () => {
    const events = Array.from({ length: 100_000 }, (_, index) =>
      anEvent({ id: `e${index}`, startMs: index, endMs: index + 500 }),
    );

    const { frames, rowCount } = layOut(buildTree(aSession(0, 100_500), events));

    expect(frames).toHaveLength(100_001);
    // More events at once than rows are tried overlap, so that the graph stays as high as a screen.
    expect(rowCount).toBeLessThan(100);
  });
});

describe("colorStep", () => {
  test("grows with the value from the first colour to the last", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.integer({ min: 1 }), (a, b, max) => {
        const [low, high] = [Math.min(a, b, max), Math.min(Math.max(a, b), max)];

        expect(colorStep(low, max)).toBeLessThanOrEqual(colorStep(high, max));
        expect(colorStep(max, max)).toBe(colorSteps - 1);
      }),
    );
    expect(colorStep(0, 0)).toBe(0);
  });
});
