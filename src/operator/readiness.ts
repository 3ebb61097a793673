// Whether the service can do its work now, and what is missing when not. Called by the transport
// for `/readyz`.

import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { getMigrationState } from "../postgres/migrate.ts";

export type Readiness = {
  readonly ready: boolean;
  readonly missing: readonly string[];
  /** Clusters that are away, whose projects alone cannot be served. */
  readonly degraded: readonly string[];
};

const timeoutMs = 2_000;

/**
 * Asks the control database, for at most two seconds; `missing` names what is not there in words.
 * A cluster that is away is no reason to take the service from the others.
 */
export async function getReadiness(
  database: Database,
  clusters: Pick<Clusters, "away">,
): Promise<Readiness> {
  const missing = await findMissing(database);
  const degraded = clusters.away().map((id) => `cluster ${id}`);
  return { ready: missing.length === 0, missing, degraded };
}

async function findMissing(database: Database): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((settle) => {
    timer = setTimeout(() => settle(undefined), timeoutMs);
  });
  try {
    const state = await Promise.race([getMigrationState(database), timeout]);
    if (!state) return ["database (no answer)"];
    if (state.current === state.wanted) return [];
    return [`migrations (at ${state.current}, want ${state.wanted})`];
  } catch {
    // What exactly is wrong with it stands in the log, not in a public answer.
    return ["database"];
  } finally {
    clearTimeout(timer);
  }
}
