// Builds the tree of a session from its flat events. Source: docs/decisions.md, 19.

import { treeDepthMax } from "../../base/limits.ts";

/** Fields of an event that determine its place in a tree. */
export type Branch = {
  readonly event_id: string;
  readonly parent_id: string | null;
  readonly children_ids: readonly string[];
};

/** An event with its descendants; `parentId` is the resolved parent. */
export type TreeNode<T extends Branch> = {
  readonly event: T;
  readonly parentId: string;
  readonly children: TreeNode<T>[];
};

/**
 * Arranges events under a session. A parent is the event's own `parent_id`, else the event that
 * lists it in `children_ids`, else the session. A parent that is not in the session, or that closes
 * a cycle, is replaced by the session. Siblings keep the order of `events`. Events below the
 * maximum depth go under their deepest allowed ancestor, so that nothing is lost.
 */
export function toTree<T extends Branch>(sessionId: string, events: readonly T[]): TreeNode<T>[] {
  const parents = resolveParents(events);
  const holders = holdersOf(parents);
  const nodes = events.map((event, place): TreeNode<T> => {
    const parent = events[parents[place] ?? session];
    return { event, parentId: parent?.event_id ?? sessionId, children: [] };
  });
  const roots: TreeNode<T>[] = [];
  nodes.forEach((node, place) => {
    const holder = nodes[holders[parents[place] ?? session] ?? session];
    (holder?.children ?? roots).push(node);
  });
  return roots;
}

// From here on events are indexes of the list: a session may have 100,000, and repeated look-ups of
// their ids took longer than reading them.
type Places = Int32Array;

/** Index of the session, which is not in the list. */
const session = -1;

function resolveParents(events: readonly Branch[]): Places {
  const places = new Map<string, number>();
  events.forEach(({ event_id }, place) => places.set(event_id, place));
  const listedBy = new Map<string, number>();
  events.forEach(({ children_ids }, place) => {
    for (const child of children_ids) if (!listedBy.has(child)) listedBy.set(child, place);
  });
  const parents = new Int32Array(events.length);
  events.forEach(({ event_id, parent_id }, place) => {
    const parent = parent_id === null ? listedBy.get(event_id) : places.get(parent_id);
    parents[place] = parent === undefined || parent === place ? session : parent;
  });
  openCircles(parents);
  return parents;
}

// Follows each chain upwards once; a chain that meets itself is cut where it was entered.
function openCircles(parents: Places): void {
  // Number of the chain that passed each index, counted from 1.
  const passedBy = new Int32Array(parents.length);
  for (let start = 0; start < parents.length; start += 1) {
    let place = start;
    while (place !== session && passedBy[place] === 0) {
      passedBy[place] = start + 1;
      const parent = parents[place] ?? session;
      if (passedBy[parent] === start + 1) parents[place] = session;
      place = parents[place] ?? session;
    }
  }
}

// Returns the holder of each event's children: the event, or its deepest allowed ancestor if it is
// too deep. Walks up to a known event, then back down, without recursion, because a chain may be as
// long as the session.
function holdersOf(parents: Places): Places {
  const depths = new Int32Array(parents.length);
  const holders = new Int32Array(parents.length);
  const path: number[] = [];
  for (let start = 0; start < parents.length; start += 1) {
    let place = start;
    while (place !== session && depths[place] === 0) {
      path.push(place);
      place = parents[place] ?? session;
    }
    let depth = depths[place] ?? 0;
    let holder = holders[place] ?? session;
    for (let passed = path.pop(); passed !== undefined; passed = path.pop()) {
      depth += 1;
      if (depth < treeDepthMax) holder = passed;
      depths[passed] = depth;
      holders[passed] = holder;
    }
  }
  return holders;
}
