// Search within a session: the service looks through all events and payloads; the hits are stepped
// through in the order of the tree.

import { useMemo } from "react";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { useRpc } from "../../api/query.ts";
import { toMessage } from "../../design/filters.ts";
import { useSettled } from "../../design/use-settled.ts";
import type { SessionTree } from "./session-tree.ts";

const textLengthMax = 200;
const hitsMax = 1_000;
/** Time without a key after which the service is asked. */
const settleMs = 250;

export type SessionHits = {
  readonly ids: ReadonlySet<string>;
  /** Positions of the hits in the tree, ascending. */
  readonly places: readonly number[];
  readonly hasMore: boolean;
  readonly isSearching: boolean;
  readonly error: Error | null;
};

export function useSessionSearch(
  sessionId: string,
  text: string,
  tree: SessionTree | undefined,
): SessionHits {
  const typed = text.trim().slice(0, textLengthMax);
  const wanted = useSettled(typed, settleMs);
  const isEnabled = typed !== "" && wanted !== "";
  const isTyping = typed !== "" && typed !== wanted;
  const input = {
    filters: [
      toMessage({ field: "session_id", operator: "is", value: sessionId }),
      toMessage({ field: "any_text", operator: "contains", value: wanted }),
    ],
    projections: ["event_id"],
    limit: hitsMax,
  };
  const { data, error, isFetching } = useRpc(ExportService.method.searchEvents, input, {
    isEnabled,
    keepsPrevious: true,
  });
  return useMemo(() => {
    const events = isEnabled ? (data?.events ?? []) : [];
    const eventIds = events.flatMap(({ eventId }) => eventId ?? []);
    const places = eventIds.flatMap((id) => tree?.indexOf.get(id) ?? []);
    return {
      ids: new Set(eventIds),
      places: places.toSorted((a, b) => a - b),
      hasMore: isEnabled && data?.nextCursor !== undefined,
      isSearching: isTyping || (isEnabled && isFetching),
      error,
    };
  }, [isEnabled, isTyping, data, tree, isFetching, error]);
}

/** Returns the hit after (or before) a node; from the last one on to the first. */
export function nextHit(places: readonly number[], at: number, step: 1 | -1): number | undefined {
  if (step === 1) return places.find((place) => place > at) ?? places[0];
  return places.findLast((place) => place < at) ?? places.at(-1);
}
