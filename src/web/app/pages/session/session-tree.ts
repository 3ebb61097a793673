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
  /** Position of the node that stands for the session: the session itself if it has a name. */
  readonly standIn: number;
};

/**
 * Builds the tree. An event whose parent is not (yet) there hangs under the session; a cycle is cut
 * where a walk upwards closes it, and its first event hangs under the session. Of two events with
 * one id the first stays. Time and memory grow with the number of events alone.
 */
export function buildTree(session: SessionEvent, events: readonly SessionEvent[]): SessionTree {
  const { all, at } = uniqueByTime(session, events);
  const parents = new Int32Array(all.length);
  for (let index = 0; index < all.length; index += 1) parents[index] = parentOf(all, index, at);
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
  const listed = toNodes(all, order, parents, depths);
  const standIn = findStandIn(listed);
  const nodes = nameSession(listed, standIn);
  // The one map of ids serves twice: filling another one would be half of the work.
  for (const [position, { event }] of nodes.entries()) at.set(event.id, position);
  return { nodes, indexOf: at, standIn };
}

/** Returns the session and the events by start time, each id once, with the place of each id. */
function uniqueByTime(session: SessionEvent, events: readonly SessionEvent[]) {
  const steps: SessionEvent[] = [];
  const at = new Map([[session.id, 0]]);
  let isSorted = true;
  let lastMs = -Infinity;
  for (const event of events) {
    if (at.has(event.id)) continue;
    steps.push(event);
    at.set(event.id, steps.length);
    if (event.startMs < lastMs) isSorted = false;
    lastMs = event.startMs;
  }
  if (isSorted) return { all: [session, ...steps], at };
  const sorted = steps.toSorted((a, b) => a.startMs - b.startMs);
  for (const [index, { id }] of sorted.entries()) at.set(id, index + 1);
  return { all: [session, ...sorted], at };
}

function parentOf(all: readonly SessionEvent[], index: number, at: ReadonlyMap<string, number>) {
  if (index === 0) return -1;
  const parentId = all[index]?.parentId;
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
): readonly TreeNode[] {
  const position = new Int32Array(all.length);
  for (const [at, index] of order.entries()) position[index] = at;
  const sizes = new Int32Array(all.length).fill(1);
  const counts = new Int32Array(all.length);
  // Backwards, so that each node is counted before its parent.
  for (let place = order.length - 1; place > 0; place -= 1) {
    const index = order[place] ?? 0;
    const parent = parents[index] ?? -1;
    if (parent < 0) continue;
    sizes[parent] = (sizes[parent] ?? 0) + (sizes[index] ?? 0);
    counts[parent] = (counts[parent] ?? 0) + 1;
  }
  return order.map((index) => {
    const parent = parents[index] ?? -1;
    return {
      event: all[index] as SessionEvent,
      depth: depths[index] ?? 0,
      parent: parent < 0 ? -1 : (position[parent] ?? 0),
      childCount: counts[index] ?? 0,
      size: sizes[index] ?? 1,
    };
  });
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

/** Name of a session that was made for events which named none. */
export const unnamed = "unknown";

/**
 * Returns the node that stands for a session: the session itself, or in one that was made for its
 * events, which has neither name nor payload, the newest call of a model, else the first event.
 */
function findStandIn(nodes: readonly TreeNode[]): number {
  if (nodes[0]?.event.name !== unnamed || nodes.length === 1) return 0;
  let found = 1;
  let newestMs = -Infinity;
  for (const [at, { event }] of nodes.entries()) {
    if (event.type !== "model" || event.startMs < newestMs) continue;
    found = at;
    newestMs = event.startMs;
  }
  return found;
}

/** Returns the nodes, the session with the name of the node that stands for it. */
function nameSession(nodes: readonly TreeNode[], standIn: number): readonly TreeNode[] {
  const [session, named] = [nodes[0], nodes[standIn]];
  if (!session || !named || session === named) return nodes;
  const root = { ...session, event: { ...session.event, name: named.event.name } };
  return nodes.with(0, root);
}
