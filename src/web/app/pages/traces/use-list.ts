// A list that is read page by page from its top, and followed as it grows: the newest page is read
// again every two seconds while the window is seen.

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import {
  advanceTail,
  emptyTail,
  followedRowsMax,
  joinTail,
  showWaiting,
  type Tail,
} from "./live-tail.ts";
import type { toListInput } from "./question.ts";
import type { ListPage, PageRequest } from "./rows.ts";

const followMs = 2_000;
const pageSize = 100;

export type ListOptions<Row> = {
  /** Name of the list among the answers that are kept. */
  readonly name: string;
  readonly input: ReturnType<typeof toListInput>;
  readonly read: (request: PageRequest) => Promise<ListPage<Row>>;
  readonly idOf: (row: Row) => string;
  readonly isLive: boolean;
  /** Grows with each wish to read everything anew. */
  readonly round: number;
};

export type List<Row> = {
  readonly rows: readonly Row[];
  readonly error: ApiError | null;
  readonly isPending: boolean;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly readMore: () => void;
  readonly retry: () => void;
  /** Number of all rows that match, where the service counts them. */
  readonly total: number | undefined;
  /** Number of rows that came in below the reader's eyes. */
  readonly waiting: number;
  readonly showWaiting: () => void;
  /** Called when the reader comes to the top of the list, or leaves it. */
  readonly setAtTop: (isAtTop: boolean) => void;
  /** Cursors with which the pages were read. */
  readonly cursors: readonly (string | undefined)[];
  readonly freshIds: ReadonlySet<string>;
};

export function useList<Row>(options: ListOptions<Row>): List<Row> {
  const { name, input, read, idOf, isLive, round } = options;
  const projectId = useCurrentProjectId();
  const key = [name, projectId, input, round];
  const pages = useInfiniteQuery<
    ListPage<Row>,
    ApiError,
    { pages: ListPage<Row>[]; pageParams: (string | undefined)[] },
    readonly unknown[],
    string | undefined
  >({
    queryKey: key,
    queryFn: ({ signal, pageParam }) =>
      read({ projectId, input, cursor: pageParam, limit: pageSize, signal }),
    initialPageParam: undefined,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
  const newest = useQuery<ListPage<Row>, ApiError>({
    queryKey: [...key, "newest"],
    queryFn: ({ signal }) => read({ projectId, input, cursor: undefined, limit: pageSize, signal }),
    enabled: isLive,
    // Stops by itself while the window is hidden.
    refetchInterval: followMs,
    staleTime: 0,
    gcTime: 0,
  });
  const base = useMemo(() => pages.data?.pages.flatMap(({ rows }) => rows) ?? [], [pages.data]);
  const { tail, show, setAtTop } = useTail(options, {
    key: JSON.stringify(key),
    base,
    page: isLive ? newest.data?.rows : undefined,
  });
  const rows = useMemo(
    () => joinTail(tail, base, { idOf, isFollowed: isLive }),
    [tail, base, idOf, isLive],
  );
  const { fetchNextPage, refetch } = pages;
  return {
    rows,
    error: pages.error,
    isPending: pages.isPending,
    hasMore: pages.hasNextPage && !(isLive && rows.length >= followedRowsMax),
    isLoadingMore: pages.isFetchingNextPage,
    readMore: useCallback(() => void fetchNextPage(), [fetchNextPage]),
    retry: useCallback(() => void refetch(), [refetch]),
    total: (isLive ? newest.data : undefined)?.total ?? pages.data?.pages[0]?.total,
    waiting: tail.waiting.length + tail.waitingMore,
    showWaiting: show,
    setAtTop,
    cursors: pages.data?.pageParams ?? [],
    freshIds: useMemo(() => new Set(tail.fresh.map(idOf)), [tail.fresh, idOf]),
  };
}

type TailInput<Row> = {
  readonly key: string;
  readonly base: readonly Row[];
  readonly page: readonly Row[] | undefined;
};

function useTail<Row>({ idOf }: ListOptions<Row>, { key, base, page }: TailInput<Row>) {
  const [held, setHeld] = useState<{ key: string; tail: Tail<Row> }>({ key, tail: emptyTail });
  const isAtTop = useRef(true);
  // A tail belongs to one question; that of another one is as none.
  const tail = held.key === key ? held.tail : emptyTail;
  useEffect(() => {
    if (!page) return;
    const known = new Set(base.map(idOf));
    setHeld((before) => ({
      key,
      tail: advanceTail(before.key === key ? before.tail : emptyTail, {
        page,
        idOf,
        known,
        isAtTop: isAtTop.current,
      }),
    }));
  }, [page, base, key, idOf]);
  const show = useCallback(
    () => setHeld((before) => ({ ...before, tail: showWaiting(before.tail) })),
    [],
  );
  const setAtTop = useCallback(
    (next: boolean) => {
      isAtTop.current = next;
      if (next) show();
    },
    [show],
  );
  return { tail, show, setAtTop };
}
