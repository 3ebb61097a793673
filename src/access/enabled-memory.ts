// Cache of the enabled evaluators, queues, budgets, masking rules or prices of a project. It spares
// ingestion and model calls a query. Changes (access/changes) invalidate it.

import { everything } from "./caller-memory.ts";
import { createByteCache } from "../base/byte-cache.ts";
import type { ProjectId } from "../base/ids.ts";
import { memoryOf } from "../base/json-memory.ts";

export type EnabledMemory<T> = {
  /** Returns what a project has, cached or by a lookup that concurrent callers share. */
  get(projectId: ProjectId): Promise<readonly T[]>;
  /**
   * Returns false only if a project is known to have none. Never waits: for an unknown project it
   * returns true and looks it up in the background.
   */
  mayHaveAny(projectId: ProjectId): boolean;
  /** Forgets the subject of a change and discards lookups in flight. */
  forget(subject: string): void;
};

/** Enabled evaluators, queues or budgets of a project, and its organization. */
export type EnabledOfProject<T> = {
  readonly orgId: string;
  readonly enabled: readonly T[];
};

export type EnabledMemoryOptions<T> = {
  /** Its changes alone are about this memory. */
  readonly kind: EnabledKind;
  /** Queries the database. */
  readonly list: (projectId: ProjectId) => Promise<EnabledOfProject<T>>;
  readonly ageMsMax?: number;
  /** Approximate maximum bytes of the cache. */
  readonly bytesMax?: number;
  readonly now?: () => number;
};

const ageMsMaxDefault = 60_000;
const bytesMaxDefault = 50_000_000;
/** Maximum lookups in the background; further projects wait for their next event. */
const lookupsMax = 100;

/** Kind of resource that may be enabled; prefix of the cache key. */
export type EnabledKind = "evaluators" | "queues" | "budgets" | "masking" | "model_prices";

/** Returns the cache key of a kind in a project, for invalidation (access/changes/changes.ts). */
export function subjectOf(kind: EnabledKind, projectId: string): string {
  return `${kind}:${projectId}`;
}

export function createEnabledMemory<T extends object>(
  options: EnabledMemoryOptions<T>,
): EnabledMemory<T> {
  const { kind, list, ageMsMax = ageMsMaxDefault, now = Date.now } = options;
  const { bytesMax = bytesMaxDefault } = options;
  const entries = createByteCache<readonly T[]>({ bytesMax, now });
  const lookups = new Map<ProjectId, Promise<readonly T[]>>();
  let generation = 0;

  async function lookUp(projectId: ProjectId): Promise<readonly T[]> {
    const generationAtStart = generation;
    // Age counts from the query, because the database may answer late with an early state.
    const goodUntil = now() + ageMsMax;
    const { orgId, enabled } = await list(projectId);
    // Something changed during the lookup, so the result may be outdated.
    if (generationAtStart !== generation) return enabled;
    entries.set(projectId, enabled, { ownerId: orgId, bytes: memoryOf(enabled), goodUntil });
    return enabled;
  }

  function lookUpOnce(projectId: ProjectId): Promise<readonly T[]> {
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
      const prefix = subjectOf(kind, "");
      if (!isAll && !subject.startsWith(prefix)) return;
      generation += 1;
      // Later callers must not share a lookup that began before the change.
      lookups.clear();
      if (isAll) entries.clear();
      else entries.delete(subject.slice(prefix.length));
    },
  };
}
