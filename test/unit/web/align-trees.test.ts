// Two sessions side by side: which steps stand in one row, and in which order.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alignTrees } from "../../../src/web/app/pages/compare/align-trees.ts";
import type { SessionEvent } from "../../../src/web/app/pages/session/session-event.ts";
import { buildTree, type SessionTree } from "../../../src/web/app/pages/session/session-tree.ts";
import { anEvent, anyEvents, aSession } from "./session-events.ts";

/** Builds a tree of steps by name; a step with `>` stands below the step before the sign. */
function treeOf(...steps: readonly string[]): SessionTree {
  const events = steps.map((step, index) => {
    const [name = "", parent] = step.split(">").toReversed();
    const parentId = parent === undefined ? "session" : String(steps.indexOf(parent));
    return anEvent({ id: String(index), name, parentId, startMs: index });
  });
  return buildTree(aSession(), events);
}

const shapeOf = (a: SessionTree, b: SessionTree): readonly string[] =>
  alignTrees(a, b).map(
    (row) => `${"  ".repeat(row.depth)}${row.a?.name ?? "-"} | ${row.b?.name ?? "-"}`,
  );

describe("alignTrees", () => {
  test("pairs steps of one name, the first with the first", () => {
    const got = shapeOf(treeOf("plan", "search", "answer"), treeOf("plan", "search", "answer"));

    expect(got).toEqual([
      "session | session",
      "  plan | plan",
      "  search | search",
      "  answer | answer",
    ]);
  });

  test("puts a step of the second alone after the step that it follows there", () => {
    const got = shapeOf(
      treeOf("plan", "answer"),
      treeOf("warm up", "plan", "search", "search", "answer", "thank"),
    );

    expect(got).toEqual([
      "session | session",
      "  - | warm up",
      "  plan | plan",
      "  - | search",
      "  - | search",
      "  answer | answer",
      "  - | thank",
    ]);
  });

  test("pairs below paired steps, and shows what is below an unpaired one", () => {
    const got = shapeOf(
      treeOf("plan", "plan>search", "old", "old>inner"),
      treeOf("plan", "plan>search", "plan>read"),
    );

    expect(got).toEqual([
      "session | session",
      "  plan | plan",
      "    search | search",
      "    - | read",
      "  old | -",
      "    inner | -",
    ]);
  });

  test("has each event of both once, and pairs none of another name, for any events", () => {
    fc.assert(
      fc.property(anyEvents, anyEvents, (left, right) => {
        const [a, b] = [buildTree(aSession(), left), buildTree(aSession(), right)];

        const rows = alignTrees(a, b);

        const idsOf = (side: (row: (typeof rows)[number]) => SessionEvent | undefined) =>
          rows.flatMap((row) => side(row)?.id ?? []);
        expect(idsOf((row) => row.a)).toEqual(a.nodes.map(({ event }) => event.id));
        expect(idsOf((row) => row.b).toSorted()).toEqual(
          b.nodes.map(({ event }) => event.id).toSorted(),
        );
        expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
        const pairs = rows.filter((row) => row.a && row.b);
        for (const row of pairs) {
          expect([row.a?.type, row.a?.name]).toEqual([row.b?.type, row.b?.name]);
        }
      }),
    );
  });

  test("pairs every step of a session with itself, for any events", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const tree = buildTree(aSession(), events);

        const rows = alignTrees(tree, tree);

        expect(rows.map(({ a }) => a?.id)).toEqual(rows.map(({ b }) => b?.id));
      }),
    );
  });

  test("aligns 100,000 steps of one name", () => {
    const events = Array.from({ length: 100_000 }, (_, index) =>
      anEvent({ id: `e${index}`, name: "step" }),
    );
    const tree = buildTree(aSession(), events);

    expect(alignTrees(tree, buildTree(aSession(), events.slice(1)))).toHaveLength(100_001);
  });
});
