// Whether the service can do its work now, and what is missing when not: one answer for /readyz,
// health checks and health watches, kept for a second.

import type { Clusters } from "../postgres/clusters.ts";
import type { Database } from "../postgres/database.ts";
import { getMigrationState } from "../postgres/migrate.ts";
import type { MigrationState } from "../postgres/migrate.ts";

export type Readiness = {
  readonly ready: boolean;
  readonly missing: readonly string[];
  /** Clusters that are away, whose projects alone cannot be served. */
  readonly degraded: readonly string[];
};

export type ReadinessOptions = {
  /** The control database. */
  readonly database: Database;
  readonly clusters: Pick<Clusters, "away">;
  /** Unix milliseconds; the clock of the process by default. */
  readonly now?: () => number;
};

/** Time to wait for the database. */
const timeoutMs = 2_000;

/** Age up to which an answer is kept: all callers, none with a key, cost one query a second. */
const ageMsMax = 1_000;

/**
 * Returns the reader of readiness. It asks the control database at most once a second for any
 * number of readers, and never while an earlier question is open; `missing` names in words the
 * parts that are absent. A cluster that is away is no reason to take the service from the others.
 */
export function createReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { database, clusters, now = Date.now } = options;
  let kept: { readonly missing: Promise<readonly string[]>; readonly atMs: number } | undefined;
  /** The question that the database has not answered yet, also when its time is over. */
  let open: Promise<MigrationState> | undefined;

  function ask(): Promise<MigrationState> {
    open ??= getMigrationState(database).finally(() => {
      open = undefined;
    });
    return open;
  }

  return async () => {
    const nowMs = now();
    if (!kept || nowMs - kept.atMs >= ageMsMax) kept = { missing: findMissing(ask()), atMs: nowMs };
    const missing = await kept.missing;
    const degraded = clusters.away().map((id) => `cluster ${id}`);
    return { ready: missing.length === 0, missing, degraded };
  };
}

async function findMissing(asked: Promise<MigrationState>): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((settle) => {
    timer = setTimeout(() => settle(undefined), timeoutMs);
  });
  try {
    const state = await Promise.race([asked, timeout]);
    if (!state) return ["database (no answer)"];
    if (state.current === state.wanted) return [];
    return [`migrations (at ${state.current}, want ${state.wanted})`];
  } catch {
    // The details stand in the log, not in a public answer.
    return ["database"];
  } finally {
    clearTimeout(timer);
  }
}
