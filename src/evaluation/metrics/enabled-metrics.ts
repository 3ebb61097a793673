// Cache of the online evaluators by project, so that ingestion does not query the database. Changes
// (access/changes) invalidate it.

import { everything } from "../../access/caller-memory.ts";
import { createByteCache } from "../../base/byte-cache.ts";
import type { ProjectId } from "../../base/ids.ts";
import { memoryOf } from "../../base/json-memory.ts";
import type { RoutedEvaluator } from "./definition.ts";

export type EnabledMetrics = {
  /** Returns a project's evaluators, cached or by a lookup that concurrent callers share. */
  get(projectId: ProjectId): Promise<readonly RoutedEvaluator[]>;
  /**
   * Returns false only if a project is known to have none. Never waits: for an unknown project it
   * returns true and looks it up in the background.
   */
  mayHaveAny(projectId: ProjectId): boolean;
  /** Forgets the subject of a change and discards lookups in flight. */
  forget(subject: string): void;
};

/** Metrics of a project, and its organization. */
export type EnabledOfProject = {
  readonly orgId: string;
  readonly metrics: readonly RoutedEvaluator[];
};

export type EnabledMetricsOptions = {
  /** Queries the database. */
  readonly list: (projectId: ProjectId) => Promise<EnabledOfProject>;
  readonly ageMsMax?: number;
  /** Approximate maximum bytes of the cache. */
  readonly bytesMax?: number;
  readonly now?: () => number;
};

const ageMsMaxDefault = 60_000;
const bytesMaxDefault = 50_000_000;
/** Maximum lookups in the background; further projects wait for their next event. */
const lookupsMax = 100;

const subjectPrefix = "evaluators:";

/**
 * Returns the cache key of a project's evaluators, for invalidation (access/changes/changes.ts).
 */
export function subjectOf(projectId: string): string {
  return subjectPrefix + projectId;
}

export function createEnabledMetrics(options: EnabledMetricsOptions): EnabledMetrics {
  const { list, ageMsMax = ageMsMaxDefault, now = Date.now } = options;
  const { bytesMax = bytesMaxDefault } = options;
  const entries = createByteCache<readonly RoutedEvaluator[]>({ bytesMax, now });
  const lookups = new Map<ProjectId, Promise<readonly RoutedEvaluator[]>>();
  let generation = 0;

  async function lookUp(projectId: ProjectId): Promise<readonly RoutedEvaluator[]> {
    const generationAtStart = generation;
    // Age counts from the query, because the database may answer late with an early state.
    const goodUntil = now() + ageMsMax;
    const { orgId, metrics } = await list(projectId);
    // Something changed during the lookup, so the result may be outdated.
    if (generationAtStart !== generation) return metrics;
    entries.set(projectId, metrics, { ownerId: orgId, bytes: memoryOf(metrics), goodUntil });
    return metrics;
  }

  function lookUpOnce(projectId: ProjectId): Promise<readonly RoutedEvaluator[]> {
    const running = lookups.get(projectId);
    if (running) return running;
    const lookup = lookUp(projectId).finally(() => {
      if (lookups.get(projectId) === lookup) lookups.delete(projectId);
    });
    lookups.set(projectId, lookup);
    return lookup;
  }

  return {
    get: async (projectId) => entries.find(projectId) ?? lookUpOnce(projectId),

    mayHaveAny(projectId) {
      const known = entries.find(projectId);
      if (known) return known.length > 0;
      // A caller that needs the result asks again and then gets the error.
      if (lookups.size < lookupsMax) lookUpOnce(projectId).catch(() => undefined);
      return true;
    },

    forget(subject) {
      const isAll = subject === everything;
      if (!isAll && !subject.startsWith(subjectPrefix)) return;
      generation += 1;
      // Later callers must not share a lookup that began before the change.
      lookups.clear();
      if (isAll) entries.clear();
      else entries.delete(subject.slice(subjectPrefix.length));
    },
  };
}
