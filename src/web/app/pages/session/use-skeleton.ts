// Reads a session without its payloads: the first thousand events at once, the rest in large pages
// behind them, so that the first rows stand while the others come.

import { replaceEqualDeep, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { SessionService, type SessionTotals } from "../../../../../gen/waggle/v1/session_pb.js";
import { serviceNow } from "../../api/clock.ts";
import type { ApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { rpcKey } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
import { type SessionEvent, toSessionEvent, type TotalCost, totalCostOf } from "./session-event.ts";
import { buildTree, type SessionTree } from "./session-tree.ts";

const firstEvents = 1_000;
const moreEvents = 10_000;
const method = SessionService.method.listSessionSkeleton;

type SkeletonPage = {
  readonly session: SessionEvent | undefined;
  readonly totals: SessionTotals | undefined;
  readonly events: readonly SessionEvent[];
  readonly nextCursor: string | undefined;
};

export type Skeleton = {
  /** Undefined until the first page is there. */
  readonly tree: SessionTree | undefined;
  readonly totals: SessionTotals | undefined;
  /** Cost with estimates; undefined until all pages have been read. */
  readonly estimate: TotalCost | undefined;
  readonly error: ApiError | null;
  /** True while pages are read for the first time, not when they are read again. */
  readonly isReading: boolean;
  /** Whether all pages have been read. */
  readonly isWhole: boolean;
  readonly refresh: () => void;
};

/** Reads the skeleton of a session, page by page, until it is whole. */
export function useSkeleton(sessionId: string | undefined): Skeleton {
  const projectId = useCurrentProjectId();
  const pages = useInfiniteQuery<
    SkeletonPage,
    ApiError,
    { readonly pages: readonly SkeletonPage[] },
    readonly unknown[],
    string | undefined
  >({
    queryKey: rpcKey(method, projectId, { sessionId }),
    queryFn: ({ signal, pageParam }) => readPage({ projectId, sessionId, signal, pageParam }),
    initialPageParam: undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    enabled: sessionId !== undefined,
    staleTime: 60_000,
    refetchInterval: ({ state }) => pauseOf(state.data?.pages ?? noPages),
    // Comparing 100,000 events with those before would take longer than drawing them.
    structuralSharing: (before, after) =>
      (after as Pages).pages.length === 1 ? replaceEqualDeep(before, after) : after,
  });
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = pages;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && error === null) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, error]);
  const read = data?.pages ?? noPages;
  const count = hasNextPage ? shownPages(read.length) : read.length;
  const [first, last] = [read[0], read[count - 1]];
  const tree = useMemo(
    () => first?.session && buildTree(first.session, read.slice(0, count).flatMap(eventsOf)),
    // oxlint-disable-next-line react/exhaustive-deps -- pages come at the end, or all anew
    [first, last],
  );
  const isWhole = first !== undefined && !hasNextPage;
  const estimate = useMemo(
    () => (isWhole && tree ? totalCostOf(tree.nodes.map(({ event }) => event)) : undefined),
    [isWhole, tree],
  );
  return {
    tree,
    totals: first?.totals,
    estimate,
    error,
    isReading: error === null && (hasNextPage || first === undefined),
    isWhole,
    refresh: () => void refetch(),
  };
}

const noPages: readonly SkeletonPage[] = [];

type Pages = { readonly pages: readonly SkeletonPage[] };

/** Time since its newest event after which a session counts as ended. */
const endedMs = 600_000;
/** Pauses between two reads of a session that may still run, by the number of its pages. */
const pausesMs = [3_000, 15_000];

/** Returns the pause before a session is read again; false if it ended, or is long. */
function pauseOf(pages: readonly SkeletonPage[]): number | false {
  const last = pages.at(-1);
  if (last === undefined || last.nextCursor !== undefined) return false;
  const newestMs = pages.reduce((newest, page) => Math.max(newest, newestOf(page)), 0);
  return serviceNow() - newestMs < endedMs && (pausesMs[pages.length - 1] ?? false);
}

function newestOf({ session, events }: SkeletonPage): number {
  return events.reduce((newest, { endMs }) => Math.max(newest, endMs), session?.endMs ?? 0);
}

const eventsOf = ({ events }: SkeletonPage): readonly SessionEvent[] => events;

/**
 * Returns of how many pages the tree is made while more are to come: 1, 2, 4, 8, … of them, so that
 * a long session is not built anew with each page.
 */
function shownPages(count: number): number {
  return count === 0 ? 0 : 2 ** Math.floor(Math.log2(count));
}

type PageRequest = {
  readonly projectId: string;
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal;
  readonly pageParam: string | undefined;
};

async function readPage({ projectId, sessionId = "", signal, pageParam: cursor }: PageRequest) {
  const input = {
    sessionId,
    limit: cursor === undefined ? firstEvents : moreEvents,
    ...(cursor !== undefined && { cursor }),
  };
  const page = await callRpc(method, input, { projectId, signal });
  return {
    session: page.session && toSessionEvent(page.session),
    totals: page.totals,
    events: page.events.map(toSessionEvent),
    nextCursor: page.nextCursor,
  };
}
