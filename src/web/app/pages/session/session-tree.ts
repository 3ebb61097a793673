// The tree of a session's events: built in one pass over any number of them, without recursion, so
// that 100,000 events or a branch 10,000 deep are as any other. Pure functions.

import type { SessionEvent } from "./session-event.ts";

export type TreeNode = {
  readonly event: SessionEvent;
  /** 0 for the session. */
  readonly depth: number;
  /** Position of the parent among the nodes; -1 for the session. */
  readonly parent: number;
  readonly childCount: number;
  /** Number of nodes in the branch, this one included. */
  readonly size: number;
};

export type SessionTree = {
  /** In the order in which one reads the tree: each node before its children, by start time. */
  readonly nodes: readonly TreeNode[];
  readonly indexOf: ReadonlyMap<string, number>;
};

/**
 * Builds the tree. An event whose parent is not (yet) there hangs under the session; a cycle is cut
 * where a walk upwards closes it, and its first event hangs under the session. Of two events with
 * one id the first stays. Time and memory grow with the number of events alone.
 */
export function buildTree(session: SessionEvent, events: readonly SessionEvent[]): SessionTree {
  const all = [session, ...uniqueByTime(session, events)];
  const at = new Map(all.map(({ id }, index) => [id, index]));
  const parents = Int32Array.from(all, (event, index) => parentOf(event, index, at));
  const { first, next } = linkChildren(parents);
  const order: number[] = [];
  const depths = new Int32Array(all.length);
  const isPlaced = new Uint8Array(all.length);
  const place = (root: number): void => {
    const waiting = [root];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (isPlaced[node] === 1) continue;
      isPlaced[node] = 1;
      depths[node] = node === 0 ? 0 : (depths[parents[node] ?? 0] ?? 0) + 1;
      order.push(node);
      // The list of children runs backwards, so the first one is taken first.
      for (let child = first[node] ?? -1; child >= 0; child = next[child] ?? -1) {
        if (isPlaced[child] === 0) waiting.push(child);
      }
    }
  };
  place(0);
  for (let index = 1; index < all.length; index += 1) {
    if (isPlaced[index] === 1) continue;
    const root = findCycle(index, parents);
    parents[root] = 0;
    place(root);
  }
  return toNodes(all, order, parents, depths);
}

function uniqueByTime(
  session: SessionEvent,
  events: readonly SessionEvent[],
): readonly SessionEvent[] {
  const seen = new Set([session.id]);
  let isSorted = true;
  let lastMs = -Infinity;
  const unique = events.filter(({ id, startMs }) => {
    if (seen.has(id)) return false;
    seen.add(id);
    if (startMs < lastMs) isSorted = false;
    lastMs = startMs;
    return true;
  });
  return isSorted ? unique : unique.toSorted((a, b) => a.startMs - b.startMs);
}

function parentOf({ parentId }: SessionEvent, index: number, at: ReadonlyMap<string, number>) {
  if (index === 0) return -1;
  const parent = parentId === undefined ? 0 : (at.get(parentId) ?? 0);
  return parent === index ? 0 : parent;
}

/** Children of each node as a linked list, the last child first. */
function linkChildren(parents: Int32Array) {
  const first = new Int32Array(parents.length).fill(-1);
  const next = new Int32Array(parents.length).fill(-1);
  for (let index = 1; index < parents.length; index += 1) {
    const parent = parents[index] ?? 0;
    next[index] = first[parent] ?? -1;
    first[parent] = index;
  }
  return { first, next };
}

/** Walks upwards from a node that no walk from the session reaches; returns where it closes. */
function findCycle(from: number, parents: Int32Array): number {
  const seen = new Set<number>();
  let node = from;
  while (!seen.has(node)) {
    seen.add(node);
    node = parents[node] ?? 0;
  }
  return node;
}

function toNodes(
  all: readonly SessionEvent[],
  order: readonly number[],
  parents: Int32Array,
  depths: Int32Array,
): SessionTree {
  const position = new Int32Array(all.length);
  for (const [at, index] of order.entries()) position[index] = at;
  const sizes = new Int32Array(all.length).fill(1);
  const counts = new Int32Array(all.length);
  for (const index of order.toReversed()) {
    const parent = parents[index] ?? -1;
    if (parent < 0) continue;
    sizes[parent] = (sizes[parent] ?? 0) + (sizes[index] ?? 0);
    counts[parent] = (counts[parent] ?? 0) + 1;
  }
  const nodes = order.map((index) => {
    const parent = parents[index] ?? -1;
    return {
      event: all[index] as SessionEvent,
      depth: depths[index] ?? 0,
      parent: parent < 0 ? -1 : (position[parent] ?? 0),
      childCount: counts[index] ?? 0,
      size: sizes[index] ?? 1,
    };
  });
  return { nodes, indexOf: new Map(nodes.map(({ event }, at) => [event.id, at])) };
}

/** Returns the positions of the nodes that are seen when the branches of some are folded. */
export function visibleNodes(
  { nodes }: SessionTree,
  folded: ReadonlySet<string>,
): readonly number[] {
  const visible: number[] = [];
  for (let at = 0; at < nodes.length;) {
    const node = nodes[at] as TreeNode;
    visible.push(at);
    at += folded.has(node.event.id) ? node.size : 1;
  }
  return visible;
}

/** Returns the nodes above a node, the session first. */
export function ancestorsOf({ nodes }: SessionTree, at: number): readonly number[] {
  const above: number[] = [];
  for (let up = nodes[at]?.parent ?? -1; up >= 0; up = nodes[up]?.parent ?? -1) above.push(up);
  return above.toReversed();
}

/** Returns the children of a node, by start time. */
export function childrenOf({ nodes }: SessionTree, at: number): readonly number[] {
  const children: number[] = [];
  const end = at + (nodes[at]?.size ?? 1);
  for (let child = at + 1; child < end; child += nodes[child]?.size ?? 1) children.push(child);
  return children;
}

/** Returns the ids of the nodes that have children, without the session. */
export function branchIds({ nodes }: SessionTree): ReadonlySet<string> {
  const branches = nodes.filter(({ childCount, parent }) => childCount > 0 && parent >= 0);
  return new Set(branches.map(({ event }) => event.id));
}
