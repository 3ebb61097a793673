// A list that grows while it is followed: rows that come in stand at its top, or wait while the
// person reads further down. Pure, and bounded.

export type Tail<Row> = {
  /** Rows above those of the first read, newest first. */
  readonly fresh: readonly Row[];
  /** Rows that came while the person read further down, newest first. */
  readonly waiting: readonly Row[];
  /** Rows that waited beyond the bound, and are only counted. */
  readonly waitingMore: number;
  /** Newest form of rows that were there before, by id. */
  readonly changed: ReadonlyMap<string, Row>;
  /** Whether more rows came at once than a page has, so that some of them were not read. */
  readonly hasGap: boolean;
};

/** Maximum number of rows of a list that is followed. */
export const followedRowsMax = 1_000;

export const emptyTail: Tail<never> = {
  fresh: [],
  waiting: [],
  waitingMore: 0,
  changed: new Map<string, never>(),
  hasGap: false,
};

type Arrival<Row> = {
  /** The newest page as it is now, newest first. */
  readonly page: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** Ids of the rows of the first read. */
  readonly known: ReadonlySet<string>;
  /** Whether the person looks at the top of the list. */
  readonly isAtTop: boolean;
  /** Whether the list goes on after the page. */
  readonly hasMore: boolean;
};

/** Returns the tail after the newest page was read again. */
export function advanceTail<Row>(tail: Tail<Row>, arrival: Arrival<Row>): Tail<Row> {
  const { page, idOf, known, isAtTop, hasMore } = arrival;
  const byId = new Map(page.map((row) => [idOf(row), row]));
  const renew = (row: Row): Row => byId.get(idOf(row)) ?? row;
  const held = new Set([...tail.fresh, ...tail.waiting].map(idOf));
  const news = page.filter((row) => !known.has(idOf(row)) && !held.has(idOf(row)));
  const waiting = [...news, ...tail.waiting.map(renew)];
  const changed = new Map(
    page.filter((row) => known.has(idOf(row))).map((row) => [idOf(row), row]),
  );
  const isApart = hasMore && news.length === page.length && known.size + held.size > 0;
  const next = {
    fresh: tail.fresh.map(renew),
    waiting: waiting.slice(0, followedRowsMax),
    waitingMore: tail.waitingMore + Math.max(0, waiting.length - followedRowsMax),
    changed,
    hasGap: tail.hasGap || isApart,
  };
  return isAtTop ? showWaiting(next) : next;
}

/** Returns the tail with the waiting rows at the top of the list. */
export function showWaiting<Row>(tail: Tail<Row>): Tail<Row> {
  const fresh = [...tail.waiting, ...tail.fresh].slice(0, followedRowsMax);
  return { ...tail, fresh, waiting: [], waitingMore: 0 };
}

/** Returns the rows to show: the tail above the first read, cut at the bound while following. */
export function joinTail<Row>(
  tail: Tail<Row>,
  rows: readonly Row[],
  { idOf, isFollowed }: { readonly idOf: (row: Row) => string; readonly isFollowed: boolean },
): readonly Row[] {
  if (tail.fresh.length === 0 && tail.changed.size === 0) return rows;
  const ids = new Set(tail.fresh.map(idOf));
  const renewed = rows
    .filter((row) => !ids.has(idOf(row)))
    .map((row) => tail.changed.get(idOf(row)) ?? row);
  const joined = [...tail.fresh, ...renewed];
  return isFollowed ? joined.slice(0, followedRowsMax) : joined;
}
