// The tree of a session: order, sizes, events without a parent, cycles, and any number of events.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../../src/web/app/pages/session/session-event.ts";
import {
  ancestorsOf,
  branchIds,
  buildTree,
  childrenOf,
  type SessionTree,
  visibleNodes,
} from "../../../src/web/app/pages/session/session-tree.ts";
import { anEvent, anyEvents, aSession } from "./session-events.ts";

const build = (...events: readonly SessionEvent[]): SessionTree => buildTree(aSession(), events);

/** Returns each node as its id, indented by its depth. */
const shapeOf = ({ nodes }: SessionTree): readonly string[] =>
  nodes.map(({ event, depth }) => `${"  ".repeat(depth)}${event.id}`);

describe("buildTree", () => {
  test("puts each event under its parent, children by their start", () => {
    const tree = build(
      anEvent({ id: "late", parentId: "chain", startMs: 30 }),
      anEvent({ id: "chain", startMs: 10 }),
      anEvent({ id: "early", parentId: "chain", startMs: 20 }),
      anEvent({ id: "first", startMs: 5 }),
    );

    expect(shapeOf(tree)).toEqual(["session", "  first", "  chain", "    early", "    late"]);
    expect(tree.nodes.map(({ size }) => size)).toEqual([5, 1, 3, 1, 1]);
    expect(tree.nodes.map(({ childCount }) => childCount)).toEqual([2, 0, 2, 0, 0]);
  });

  test("hangs events without a known parent under the session", () => {
    const tree = build(
      anEvent({ id: "orphan", parentId: "not-here" }),
      anEvent({ id: "none", parentId: undefined }),
      anEvent({ id: "self", parentId: "self" }),
    );

    expect(shapeOf(tree)).toEqual(["session", "  orphan", "  none", "  self"]);
  });

  test("cuts a cycle and keeps all of its events", () => {
    const tree = build(
      anEvent({ id: "a", parentId: "b", startMs: 1 }),
      anEvent({ id: "b", parentId: "a", startMs: 2 }),
      anEvent({ id: "below", parentId: "b", startMs: 3 }),
      anEvent({ id: "plain", startMs: 4 }),
    );

    expect(shapeOf(tree)).toEqual(["session", "  plain", "  a", "    b", "      below"]);
  });

  test("keeps the first of two events with one id", () => {
    const tree = build(
      anEvent({ id: "twice", name: "one" }),
      anEvent({ id: "twice", name: "two" }),
    );

    expect(tree.nodes.map(({ event }) => event.name)).toEqual(["session", "one"]);
  });

  test("holds for any events: each once, below its parent, in one branch, by start", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const { nodes, indexOf } = build(...events);

        const wanted = new Set(["session", ...events.map(({ id }) => id)]);
        expect(new Set(nodes.map(({ event }) => event.id))).toEqual(wanted);
        expect(nodes).toHaveLength(wanted.size);
        for (const [at, { event, parent, depth, size, childCount }] of nodes.entries()) {
          expect(indexOf.get(event.id)).toBe(at);
          const up = nodes[parent];
          expect(depth).toBe(up ? up.depth + 1 : 0);
          if (up) expect(at + size).toBeLessThanOrEqual(parent + up.size);
          const below = nodes.filter((one) => one.parent === at);
          expect(childCount).toBe(below.length);
          expect(size).toBe(1 + below.reduce((sum, one) => sum + one.size, 0));
          // Under the session the events of cut cycles follow those with a place.
          const starts = below.map((one) => one.event.startMs);
          if (at > 0) expect(starts).toEqual(starts.toSorted((a, b) => a - b));
        }
      }),
    );
  });

  test("does not depend on the order in which events with different starts come", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const byId = new Map(events.map((event) => [event.id, event]));
        const distinct = [...byId.values()].map((event, index) => ({ ...event, startMs: index }));

        expect(shapeOf(build(...distinct.toReversed()))).toEqual(shapeOf(build(...distinct)));
      }),
    );
  });

  test("builds a branch of 100,000 levels and a parent of 100,000 children", () => {
    const chain = Array.from({ length: 100_000 }, (_, index) =>
      anEvent({ id: `e${index}`, parentId: index === 0 ? "session" : `e${index - 1}` }),
    );
    const flat = chain.map((event) => ({ ...event, parentId: "session" }));

    expect(build(...chain.toReversed()).nodes.at(-1)?.depth).toBe(100_000);
    expect(build(...flat).nodes[0]?.childCount).toBe(100_000);
  });
});

describe("visibleNodes", () => {
  test("leaves out what is below folded nodes, for any events", () => {
    fc.assert(
      fc.property(anyEvents, fc.array(fc.integer({ min: 0, max: 11 })), (events, numbers) => {
        const tree = build(...events);
        const folded = new Set(numbers.map((n) => `e${n}`));

        const visible = visibleNodes(tree, folded);

        const wanted = tree.nodes.flatMap((_, at) => {
          const above = ancestorsOf(tree, at).map((up) => tree.nodes[up]?.event.id ?? "");
          return above.some((id) => folded.has(id)) ? [] : [at];
        });
        expect(visible).toEqual(wanted);
      }),
    );
  });

  test("shows the session's own children alone when all branches are folded", () => {
    const tree = build(
      anEvent({ id: "chain" }),
      anEvent({ id: "below", parentId: "chain" }),
      anEvent({ id: "last" }),
    );

    const visible = visibleNodes(tree, branchIds(tree));

    expect(visible.map((at) => tree.nodes[at]?.event.id)).toEqual(["session", "chain", "last"]);
  });
});

describe("childrenOf", () => {
  test("returns the nodes that have a node as parent, for any events", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const tree = build(...events);

        for (const at of tree.nodes.keys()) {
          const wanted = tree.nodes.flatMap(({ parent }, child) => (parent === at ? [child] : []));
          expect(childrenOf(tree, at)).toEqual(wanted);
        }
      }),
    );
  });
});
