// Two trees of sessions beside one another: children of aligned events are paired by type and name,
// the first with the first, in one walk without recursion. Pure functions.

import type { SessionEvent } from "../session/session-event.ts";
import { childrenOf, type SessionTree } from "../session/session-tree.ts";

export type AlignedRow = {
  /** Stable while the sessions are; stands in the address. */
  readonly key: string;
  readonly depth: number;
  readonly a: SessionEvent | undefined;
  readonly b: SessionEvent | undefined;
};

type Pair = { readonly a: number | undefined; readonly b: number | undefined };

/** Returns the rows of both trees in the order of the first, the second beside it. */
export function alignTrees(a: SessionTree, b: SessionTree): readonly AlignedRow[] {
  const rows: AlignedRow[] = [];
  const waiting: (Pair & { readonly depth: number })[] = [{ a: 0, b: 0, depth: 0 }];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [eventA, eventB] = [eventOf(a, pair.a), eventOf(b, pair.b)];
    const key = eventA ? `a.${eventA.id}` : `b.${eventB?.id ?? ""}`;
    rows.push({ key, depth: pair.depth, a: eventA, b: eventB });
    const { depth } = pair;
    for (const below of pairsBelow(a, b, pair).toReversed()) {
      waiting.push({ ...below, depth: depth + 1 });
    }
  }
  return rows;
}

function eventOf({ nodes }: SessionTree, at: number | undefined): SessionEvent | undefined {
  return at === undefined ? undefined : nodes[at]?.event;
}

function pairsBelow(a: SessionTree, b: SessionTree, pair: Pair): readonly Pair[] {
  const inA = pair.a === undefined ? [] : childrenOf(a, pair.a);
  const inB = pair.b === undefined ? [] : childrenOf(b, pair.b);
  const free = new Map<string, number[]>();
  // Backwards, so that the first one is taken first from the end.
  for (const at of inB.toReversed()) {
    const name = nameOf(b, at);
    const list = free.get(name);
    if (list) list.push(at);
    else free.set(name, [at]);
  }
  const pairs: Pair[] = inA.map((at) => ({ a: at, b: free.get(nameOf(a, at))?.pop() }));
  const taken = new Set(pairs.map((one) => one.b));
  return [...pairs, ...inB.filter((at) => !taken.has(at)).map((at) => ({ a: undefined, b: at }))];
}

function nameOf({ nodes }: SessionTree, at: number): string {
  const event = nodes[at]?.event;
  return `${event?.type ?? ""}\n${event?.name ?? ""}`;
}
