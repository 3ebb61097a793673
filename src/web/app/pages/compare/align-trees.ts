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

/**
 * Returns the rows of both trees in the order of the first. A step of the second alone stands after
 * the step that it follows there.
 */
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
  // In reverse order, so that `pop` takes the first step of a name first.
  for (const at of inB.toReversed()) {
    const name = nameOf(b, at);
    const list = free.get(name);
    if (list) list.push(at);
    else free.set(name, [at]);
  }
  const pairs: Pair[] = inA.map((at) => ({ a: at, b: free.get(nameOf(a, at))?.pop() }));
  return withRest(pairs, inB);
}

/** Puts the steps that only the second tree has after the pair of the step before them. */
function withRest(pairs: readonly Pair[], inB: readonly number[]): readonly Pair[] {
  const places = new Map(pairs.map(({ b }, place) => [b, place]));
  /** By the place of the pair, counted from 1; at 0 those before any pair. */
  const rest = Array.from({ length: pairs.length + 1 }, (): Pair[] => []);
  let place = 0;
  for (const at of inB) {
    const paired = places.get(at);
    if (paired === undefined) rest[place]?.push({ a: undefined, b: at });
    else place = paired + 1;
  }
  const before = rest[0] ?? [];
  return [...before, ...pairs.flatMap((pair, index) => [pair, ...(rest[index + 1] ?? [])])];
}

function nameOf({ nodes }: SessionTree, at: number): string {
  const event = nodes[at]?.event;
  return `${event?.type ?? ""}\n${event?.name ?? ""}`;
}
