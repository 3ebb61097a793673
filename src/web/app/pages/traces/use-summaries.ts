// Reads the summaries that the rows of a list want, and shows them as they come.

import { useCallback, useEffect, useSyncExternalStore } from "react";
import { useCurrentProjectId } from "../../api/project.ts";
import { queryClient } from "../../api/query.ts";
import type { SummariesRequest } from "./rows.ts";
import { Summaries, type WantedSummary } from "./summaries.ts";

export type SummariesOptions<Summary> = {
  /** Names the calls of the store among all queries. */
  readonly name: string;
  /** Maximum number of ids that `read` is given. */
  readonly chunkSize: number;
  readonly read: (request: SummariesRequest) => Promise<ReadonlyMap<string, Summary | null>>;
};

/** Returns a store whose calls are made by the client of all queries, which tries again. */
export function createSummaries<Summary>(options: SummariesOptions<Summary>): Summaries<Summary> {
  const { name, chunkSize, read } = options;
  return new Summaries(
    (projectId, ids) =>
      queryClient.query({
        queryKey: [name, projectId, ids],
        queryFn: ({ signal }) => read({ projectId, ids, signal }),
        gcTime: 0,
        staleTime: 0,
      }),
    chunkSize,
  );
}

/**
 * Reads the wanted summaries; `wanted` must be the same array until its content changes. Returns a
 * function that finds a summary by its id, and a new function once more summaries are there.
 */
export function useSummaries<Summary>(
  store: Summaries<Summary>,
  wanted: readonly WantedSummary[],
): (id: string) => Summary | null | undefined {
  const projectId = useCurrentProjectId();
  const revision = useSyncExternalStore(store.subscribe, store.getRevision);
  useEffect(() => {
    const leaving = new AbortController();
    void store.want(projectId, wanted, leaving.signal);
    return () => leaving.abort();
  }, [store, projectId, wanted]);
  return useCallback(
    (id: string) => store.get(projectId, id),
    // oxlint-disable-next-line react/exhaustive-deps -- `store` grows with `revision`
    [store, projectId, revision],
  );
}
