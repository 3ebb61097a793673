// A list that is read page by page from its top, and followed as it grows: the newest page is read
// again every two seconds while the window is seen. When more came than a page has, the list begins
// anew at that page, so that no row is missing in it.

import {
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
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
  /** Grows with each request to read everything again. */
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
  readonly freshIds: ReadonlySet<string>;
  /** Whether more rows wait than are counted. */
  readonly hasGap: boolean;
  /** Whether the list is followed. */
  readonly isLive: boolean;
  /** Why the newest rows could not be read the last time. */
  readonly liveError: ApiError | null;
};

type Pages<Row> = { pages: ListPage<Row>[]; pageParams: (string | undefined)[] };

export function useList<Row>(options: ListOptions<Row>): List<Row> {
  const { name, input, read, idOf, isLive, round } = options;
  const projectId = useCurrentProjectId();
  const client = useQueryClient();
  const key = useMemo(() => [name, projectId, input, round], [name, projectId, input, round]);
  const pages = useInfiniteQuery<
    ListPage<Row>,
    ApiError,
    Pages<Row>,
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
    page: isLive ? newest.data : undefined,
    restart: useCallback(
      (page) => client.setQueryData<Pages<Row>>(key, { pages: [page], pageParams: [undefined] }),
      [client, key],
    ),
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
    hasMore: pages.hasNextPage && !pages.error && !(isLive && rows.length >= followedRowsMax),
    isLoadingMore: pages.isFetchingNextPage,
    readMore: useCallback(() => void fetchNextPage(), [fetchNextPage]),
    retry: useCallback(() => void refetch(), [refetch]),
    total: (isLive ? newest.data : undefined)?.total ?? pages.data?.pages[0]?.total,
    waiting: tail.waiting.length + tail.waitingMore,
    showWaiting: show,
    setAtTop,
    freshIds: useMemo(() => new Set(tail.fresh.map(idOf)), [tail.fresh, idOf]),
    hasGap: tail.hasGap,
    isLive,
    liveError: isLive ? newest.error : null,
  };
}

type TailInput<Row> = {
  readonly key: string;
  readonly base: readonly Row[];
  readonly page: ListPage<Row> | undefined;
  /** Lets the list begin anew at a page. */
  readonly restart: (page: ListPage<Row>) => void;
};

function useTail<Row>({ idOf }: ListOptions<Row>, { key, base, page, restart }: TailInput<Row>) {
  const [held, setHeld] = useState<{ key: string; tail: Tail<Row> }>({ key, tail: emptyTail });
  const isAtTop = useRef(true);
  // The newest tail, for what happens between two renders.
  const newest = useRef(held);
  // A tail belongs to one question; that of another one is as none.
  const tail = held.key === key ? held.tail : emptyTail;
  const put = useCallback(
    (next: Tail<Row>) => {
      newest.current = { key, tail: next };
      setHeld(newest.current);
    },
    [key],
  );
  const show = useCallback(() => {
    const before = newest.current;
    if (before.key !== key) return;
    if (before.tail.hasGap && page) {
      restart(page);
      put(emptyTail);
    } else {
      put(showWaiting(before.tail));
    }
  }, [key, page, put, restart]);
  useEffect(() => {
    if (!page) return;
    const before = newest.current.key === key ? newest.current.tail : emptyTail;
    const next = advanceTail(before, {
      page: page.rows,
      idOf,
      known: new Set(base.map(idOf)),
      isAtTop: isAtTop.current,
      hasMore: page.nextCursor !== undefined,
    });
    put(next);
    if (next.hasGap && isAtTop.current) show();
    // `show` is made of the same values.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [page, base, key, idOf, put]);
  const setAtTop = useCallback(
    (next: boolean) => {
      isAtTop.current = next;
      if (next) show();
    },
    [show],
  );
  return { tail, show, setAtTop };
}
