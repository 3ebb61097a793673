// Builds the tree of a session from its flat events. Called by sessions.ts.
// Source: docs/decisions.md, 19.

import { treeDepthMax } from "../../base/limits.ts";

/** What a tree needs to know of an event. */
export type Branch = {
  readonly event_id: string;
  readonly parent_id: string | null;
  readonly children_ids: readonly string[];
};

/** An event with those below it; `parentId` is the resolved parent. */
export type TreeNode<T extends Branch> = {
  readonly event: T;
  readonly parentId: string;
  readonly children: TreeNode<T>[];
};

/**
 * Arranges events under a session. A parent is the event's own `parent_id`, else the event that
 * lists it in `children_ids`, else the session; a parent that is not in the session, or that would
 * close a circle, counts as the session. Siblings keep the order of `events`. A branch deeper than
 * the limit is laid flat under its deepest allowed ancestor, so that nothing is lost.
 */
export function toTree<T extends Branch>(sessionId: string, events: readonly T[]): TreeNode<T>[] {
  const parents = resolveParents(sessionId, events);
  const roots: TreeNode<T>[] = [];
  const nodes = new Map<string, TreeNode<T>>();
  for (const event of events) {
    const parentId = parents.get(event.event_id) ?? sessionId;
    nodes.set(event.event_id, { event, parentId, children: [] });
  }
  const holders = holdersOf(sessionId, parents);
  for (const node of nodes.values()) {
    const holder = nodes.get(holders.get(node.parentId) ?? sessionId);
    (holder?.children ?? roots).push(node);
  }
  return roots;
}

function resolveParents(sessionId: string, events: readonly Branch[]): Map<string, string> {
  const known = new Set(events.map((event) => event.event_id));
  const listedBy = new Map<string, string>();
  for (const event of events) {
    for (const child of event.children_ids) {
      if (!listedBy.has(child)) listedBy.set(child, event.event_id);
    }
  }
  const parents = new Map<string, string>();
  for (const { event_id, parent_id } of events) {
    const parent = parent_id ?? listedBy.get(event_id) ?? sessionId;
    parents.set(event_id, known.has(parent) && parent !== event_id ? parent : sessionId);
  }
  openCircles(sessionId, parents);
  return parents;
}

// Follows each chain upwards once; one that meets itself is cut where it was entered.
function openCircles(sessionId: string, parents: Map<string, string>): void {
  const safe = new Set([sessionId]);
  for (const start of parents.keys()) {
    const path = new Set<string>();
    let id = start;
    while (!safe.has(id)) {
      path.add(id);
      const parent = parents.get(id) ?? sessionId;
      if (path.has(parent)) parents.set(id, sessionId);
      id = parents.get(id) ?? sessionId;
    }
    for (const passed of path) safe.add(passed);
  }
}

// Who holds the children of each event: itself, or where it is too deep its deepest allowed
// ancestor. Walks up to what is known, then back down: no recursion, since a chain may be as long
// as the session.
function holdersOf(sessionId: string, parents: ReadonlyMap<string, string>): Map<string, string> {
  const depths = new Map<string, number>([[sessionId, 0]]);
  const holders = new Map<string, string>([[sessionId, sessionId]]);
  for (const start of parents.keys()) {
    const path: string[] = [];
    let id = start;
    while (!depths.has(id)) {
      path.push(id);
      id = parents.get(id) ?? sessionId;
    }
    let depth = depths.get(id) ?? 0;
    let holder = holders.get(id) ?? sessionId;
    for (const passed of path.toReversed()) {
      depth += 1;
      if (depth < treeDepthMax) holder = passed;
      depths.set(passed, depth);
      holders.set(passed, holder);
    }
  }
  return holders;
}
