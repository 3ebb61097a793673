// Readiness of the service, with its missing parts: one answer for /readyz, health checks and
// health watches, kept for a second.

import type { Clusters } from "../postgres/clusters.ts";
import type { MigrationState } from "../postgres/migrate.ts";

export type Readiness = {
  readonly ready: boolean;
  readonly missing: readonly string[];
  /**
   * Clusters that are away, since only their projects are affected, and the database if it takes no
   * writes, since reads go on.
   */
  readonly degraded: readonly string[];
};

/** Returns the body of `/readyz`. */
export function formatReadiness({ ready, missing, degraded }: Readiness): object {
  return {
    status: ready ? "ok" : "unavailable",
    ...(ready ? {} : { missing }),
    ...(degraded.length === 0 ? {} : { degraded }),
  };
}

export type ReadinessOptions = {
  /** Reads which migrations the control database has. */
  readonly readMigrations: () => Promise<MigrationState>;
  readonly clusters: Pick<Clusters, "away">;
  /** Returns Unix milliseconds; default: the clock of the process. */
  readonly now?: () => number;
};

/** Maximum time to wait for the database. */
const timeoutMs = 2_000;

/** Maximum age of a kept answer: all callers, which need no key, cost one query per second. */
const ageMsMax = 1_000;

/**
 * Returns the reader of readiness. It queries the control database at most once a second, however
 * many readers there are, and never while a query is open. `missing` names the absent parts in
 * words. A cluster that is away does not make the service unready for the other clusters.
 */
export function createReadiness(options: ReadinessOptions): () => Promise<Readiness> {
  const { readMigrations, clusters, now = Date.now } = options;
  let kept: { readonly found: Promise<Found>; readonly atMs: number } | undefined;
  /** The unanswered query, kept even after its timeout. */
  let open: Promise<MigrationState> | undefined;

  function ask(): Promise<MigrationState> {
    open ??= readMigrations().finally(() => {
      open = undefined;
    });
    return open;
  }

  return async () => {
    const nowMs = now();
    if (!kept || nowMs - kept.atMs >= ageMsMax) kept = { found: find(ask()), atMs: nowMs };
    const { missing, degraded } = await kept.found;
    const away = clusters.away().map((id) => `cluster ${id}`);
    return { ready: missing.length === 0, missing, degraded: [...degraded, ...away] };
  };
}

type Found = Pick<Readiness, "missing" | "degraded">;

async function find(asked: Promise<MigrationState>): Promise<Found> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((settle) => {
    timer = setTimeout(() => settle(undefined), timeoutMs);
  });
  try {
    const state = await Promise.race([asked, timeout]);
    if (!state) return lacking("database (no answer)");
    const degraded = state.isReadOnly ? ["database (takes no writes)"] : [];
    // A later release migrates while servers of this one run.
    if (state.current >= state.wanted) return { missing: [], degraded };
    return lacking(`migrations (at ${state.current}, want ${state.wanted})`);
  } catch {
    // The details are in the log, not in a public answer.
    return lacking("database");
  } finally {
    clearTimeout(timer);
  }
}

function lacking(part: string): Found {
  return { missing: [part], degraded: [] };
}
