// Places of events in a flame graph: time from left to right, depth from top to bottom. Events that
// ran beside one another stand in rows of their own. Pure functions.

import type { SessionTree, TreeNode } from "./session-tree.ts";

/** Quantity that the colour of a frame shows. */
export type FlameColor = "time" | "tokens" | "cost";

export type Frame = {
  /** Position of the node in the tree. */
  readonly at: number;
  readonly row: number;
  /** 0 to 1, of the whole width. */
  readonly from: number;
  readonly to: number;
  /** Quantities of the event without its children: time in ms, tokens, US dollars. */
  readonly values: Readonly<Record<FlameColor, number>>;
};

export type FlameLayout = {
  readonly frames: readonly Frame[];
  readonly rowCount: number;
  readonly max: Readonly<Record<FlameColor, number>>;
};

/** Height of a row. */
export const rowPx = 24;

/** Rows that are tried for an event that ran beside others; more of them overlap. */
const rowsTried = 60;

/** Lays out the branch of a node, which fills the whole width. */
export function layOutFlame(
  { nodes }: SessionTree,
  root: number,
  placeOf: (timeMs: number) => number,
): FlameLayout {
  const end = root + (nodes[root]?.size ?? 1);
  const selfMs = selfTimes(nodes, root, end);
  const branch = spanOf(nodes, root, end);
  const [left, right] = [placeOf(branch.startMs), placeOf(branch.endMs)];
  const scale = 1 / Math.max(1e-12, right - left);
  const toShare = (timeMs: number) => clamp((placeOf(timeMs) - left) * scale);
  const rowEnds: number[] = [];
  const rows = new Int32Array(end - root);
  const max = { time: 0, tokens: 0, cost: 0 };
  const frames: Frame[] = [];
  for (let at = root; at < end; at += 1) {
    const { event, parent } = nodes[at] as TreeNode;
    const isRoot = at === root;
    const from = isRoot ? 0 : toShare(event.startMs);
    const to = isRoot ? 1 : Math.max(from, toShare(event.endMs));
    const row = freeRow(rowEnds, isRoot ? 0 : (rows[parent - root] ?? 0) + 1, from);
    rowEnds[row] = Math.max(rowEnds[row] ?? 0, to);
    rows[at - root] = row;
    const values = {
      time: selfMs[at - root] ?? 0,
      tokens: event.type === "session" ? 0 : event.totalTokens,
      cost: event.type === "session" ? 0 : (event.cost ?? 0),
    };
    max.time = Math.max(max.time, values.time);
    max.tokens = Math.max(max.tokens, values.tokens);
    max.cost = Math.max(max.cost, values.cost);
    frames.push({ at, row, from, to, values });
  }
  return { frames, rowCount: rowEnds.length, max };
}

function freeRow(rowEnds: readonly number[], from: number, start: number): number {
  for (let row = from; row < from + rowsTried; row += 1) {
    if ((rowEnds[row] ?? 0) <= start + 1e-9) return row;
  }
  return from;
}

function spanOf(nodes: readonly TreeNode[], root: number, end: number) {
  const event = nodes[root]?.event;
  let [startMs, endMs] = [event?.startMs ?? 0, event?.endMs ?? 0];
  for (let at = root; at < end; at += 1) {
    const { event: inside } = nodes[at] as TreeNode;
    startMs = Math.min(startMs, inside.startMs);
    endMs = Math.max(endMs, inside.endMs);
  }
  return { startMs, endMs };
}

/**
 * Time of each event in which none of its children ran, in ms. Children come by their start, so
 * that one moving edge tells how much of the parent is covered.
 */
function selfTimes(nodes: readonly TreeNode[], root: number, end: number): Float64Array {
  const selfMs = new Float64Array(end - root);
  const covered = new Float64Array(end - root);
  for (let at = root; at < end; at += 1) {
    const { event, parent } = nodes[at] as TreeNode;
    selfMs[at - root] = event.endMs - event.startMs;
    covered[at - root] = event.startMs;
    const up = nodes[parent];
    if (at === root || !up) continue;
    const from = Math.max(event.startMs, covered[parent - root] ?? 0);
    const to = Math.min(event.endMs, up.event.endMs);
    if (to <= from) continue;
    selfMs[parent - root] = Math.max(0, (selfMs[parent - root] ?? 0) - (to - from));
    covered[parent - root] = to;
  }
  return selfMs;
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}

/** Number of colours from the least to the most. */
export const colorSteps = 6;

/** Returns which of the colours a value has, 0 to `colorSteps - 1`. */
export function colorStep(value: number, max: number): number {
  if (max <= 0 || value <= 0) return 0;
  return Math.min(colorSteps - 1, Math.floor(Math.sqrt(value / max) * colorSteps));
}

/** Returns the node whose frame is at a place: a share of the width, and pixels from the top. */
export function frameAt(layout: FlameLayout, share: number, yPx: number): number | undefined {
  const row = Math.floor(yPx / rowPx);
  // A frame is drawn at least two pixels wide; the nearest one within that is meant.
  const slack = 0.002;
  const inRow = layout.frames.filter((frame) => frame.row === row);
  const hit = inRow.findLast(({ from, to }) => from <= share && share <= to);
  return (hit ?? inRow.find(({ from, to }) => from - slack <= share && share <= to + slack))?.at;
}
