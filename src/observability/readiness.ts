// Readiness of the service, with its missing parts: one answer for /readyz, health checks and
// health watches, kept for a second.

import type { Clusters } from "../postgres/clusters.ts";
import type { MigrationState } from "../postgres/migrate.ts";

export type Readiness = {
  readonly ready: boolean;
  readonly missing: readonly string[];
  /** Clusters that are away; only their projects are affected. */
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
  let kept: { readonly missing: Promise<readonly string[]>; readonly atMs: number } | undefined;
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
    // A later release migrates while servers of this one run.
    if (state.current >= state.wanted) return [];
    return [`migrations (at ${state.current}, want ${state.wanted})`];
  } catch {
    // The details are in the log, not in a public answer.
    return ["database"];
  } finally {
    clearTimeout(timer);
  }
}
