// The sessions before and after one in the list that led to it: newest first, with the same filters
// and time range.

import { useQuery } from "@tanstack/react-query";
import { SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import { serviceNow } from "../../api/clock.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { rpcKey } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
import { type FilterRow, toMessage } from "../../design/filters.ts";
import { boundsOf, rangeDefault, type TimeRange } from "../../design/time-range.ts";

export type Neighbours = {
  /** Id of the session above in the list, which is newer. */
  readonly previous: string | undefined;
  readonly next: string | undefined;
};

export type ListPlace = {
  readonly sessionId: string;
  readonly startMs: number;
  readonly range: TimeRange | undefined;
  readonly filters: readonly FilterRow[];
};

const method = SessionService.method.listSessions;
const pageSize = 100;
const hourMs = 3_600_000;

/** Reads the neighbours once the session's start is known. */
export function useNeighbours(place: ListPlace | undefined): Neighbours {
  const projectId = useCurrentProjectId();
  const { data } = useQuery({
    queryKey: [...rpcKey(method, projectId, place), "neighbours"],
    queryFn: async ({ signal }) => {
      if (!place) return { previous: undefined, next: undefined };
      const list = listOf(place, projectId, signal);
      const [previous, next] = await Promise.all([findNewer(list, place), findOlder(list, place)]);
      return { previous, next };
    },
    enabled: place !== undefined,
    staleTime: 60_000,
  });
  return data ?? { previous: undefined, next: undefined };
}

type Bounds = { readonly gte?: number; readonly lte?: number };
type List = {
  readonly from: number;
  readonly to: number;
  readonly read: (bounds: Bounds) => Promise<{ readonly ids: string[]; readonly isWhole: boolean }>;
};

function listOf({ range, filters, startMs }: ListPlace, projectId: string, signal: AbortSignal) {
  const { from, to = serviceNow() } = boundsOf(range ?? rangeDefault, serviceNow());
  return {
    // A link may lead to a session outside of the list's range.
    from: Math.min(from, startMs),
    to: Math.max(to, startMs),
    async read(dateRange: Bounds) {
      const input = { filters: filters.map(toMessage), dateRange, limit: pageSize };
      const { sessions, nextCursor } = await callRpc(method, input, { projectId, signal });
      return { ids: sessions.map(({ sessionId }) => sessionId), isWhole: nextCursor === undefined };
    },
  };
}

async function findOlder({ read, from }: List, { sessionId, startMs }: ListPlace) {
  const { ids } = await read({ gte: from, lte: startMs });
  return ids[ids.indexOf(sessionId) + 1];
}

/**
 * Finds the oldest of the newer sessions. Lists come newest first, so the time above the session is
 * widened until something is in it, and narrowed while a page does not hold all of it.
 */
async function findNewer({ read, to }: List, { sessionId, startMs }: ListPlace) {
  let [empty, full, widthMs] = [0, Infinity, hourMs];
  for (;;) {
    const { ids, isWhole } = await read({ gte: startMs, lte: Math.min(to, startMs + widthMs) });
    const newer = ids.slice(0, Math.max(0, ids.indexOf(sessionId)));
    if (isWhole && newer.length > 0) return newer.at(-1);
    if (isWhole && startMs + widthMs >= to) return undefined;
    if (isWhole) empty = widthMs;
    else full = widthMs;
    widthMs = full === Infinity ? widthMs * 10 : (empty + full) / 2;
    // More sessions than a page hold one instant: none of them is known to be the next one.
    if (widthMs < 1 || full - empty < 1) return newer.at(-1);
  }
}
