// Session trees: who is under whom. Source: docs/decisions.md, 19.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { treeDepthMax } from "../../../src/base/limits.ts";
import { type Branch, toTree, type TreeNode } from "../../../src/tracing/sessions/tree.ts";

function branch(event_id: string, parent_id: string | null, children_ids: string[] = []): Branch {
  return { event_id, parent_id, children_ids };
}

/** `a(b c)` for a node `a` with the children `b` and `c`. */
function show(nodes: readonly TreeNode<Branch>[]): string {
  return nodes
    .map(({ event, children }) =>
      children.length === 0 ? event.event_id : `${event.event_id}(${show(children)})`,
    )
    .join(" ");
}

describe("toTree", () => {
  test.each([
    { name: "roots keep their order", events: [branch("a", null), branch("b", "s")], want: "a b" },
    {
      name: "a child may come before its parent",
      events: [branch("b", "a"), branch("a", null)],
      want: "a(b)",
    },
    {
      name: "children_ids place what names no parent",
      events: [branch("a", null, ["b"]), branch("b", null)],
      want: "a(b)",
    },
    {
      name: "an event's own parent wins over children_ids",
      events: [branch("a", null, ["c"]), branch("b", null), branch("c", "b")],
      want: "a b(c)",
    },
    { name: "an unknown parent is the session", events: [branch("a", "gone")], want: "a" },
    { name: "its own parent is none", events: [branch("a", "a")], want: "a" },
    {
      name: "a circle opens, and what hangs on it stays",
      events: [branch("a", "b"), branch("b", "a"), branch("c", "a")],
      want: "b(a(c))",
    },
  ])("$name", ({ events, want }) => {
    expect(show(toTree("s", events))).toBe(want);
  });

  test("holds every event exactly once, whatever the parents are", () => {
    const ids = ["a", "b", "c", "d", "e", "f"];
    const parents = fc.array(fc.constantFrom(null, "s", "gone", ...ids), {
      minLength: 6,
      maxLength: 6,
    });
    const lists = fc.array(fc.subarray(ids), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(parents, lists, (parentIds, childLists) => {
        const events = ids.map((id, index) =>
          branch(id, parentIds[index] ?? null, childLists[index] ?? []),
        );
        const got = show(toTree("s", events)).match(/[a-f]/g) ?? [];
        expect(got.toSorted()).toEqual(ids);
      }),
    );
  });

  test("lays what is too deep flat, with its true parent named", () => {
    const length = treeDepthMax + 10;
    const events = Array.from({ length }, (_, index) =>
      branch(`e${index}`, index === 0 ? null : `e${index - 1}`),
    );

    let level = toTree("s", events);
    let depth = 0;
    while (level[0]?.children.length) {
      level = level[0].children;
      depth += 1;
    }

    expect(depth + 1).toBe(treeDepthMax);
    expect(level.map(({ event }) => event.event_id)).toHaveLength(length - treeDepthMax + 1);
    expect(level.at(-1)?.parentId).toBe(`e${length - 2}`);
  });
});
