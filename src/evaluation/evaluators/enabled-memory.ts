// What a server remembers of the evaluators that run by themselves, by project, so that ingestion
// asks no database. Changes (access/changes) say what to forget.

import { everything } from "../../access/caller-memory.ts";
import { createByteCache } from "../../base/byte-cache.ts";
import type { ProjectId } from "../../base/ids.ts";
import { memoryOf } from "../../base/json-memory.ts";
import type { RoutedEvaluator } from "./definition.ts";

export type EnabledMemory = {
  /** Returns a project's evaluators, from memory or by asking, once for many callers at a time. */
  get(projectId: ProjectId): Promise<readonly RoutedEvaluator[]>;
  /**
   * False only where a project is known to have none. Asks nobody: where nothing is known it is
   * true, and looked up in the background.
   */
  mayHaveAny(projectId: ProjectId): boolean;
  /** Forgets what a change is about; lookups under way are not believed. */
  forget(subject: string): void;
};

/** The evaluators of a project, and its organization. */
export type EnabledOfProject = {
  readonly orgId: string;
  readonly evaluators: readonly RoutedEvaluator[];
};

export type EnabledMemoryOptions = {
  /** Asks the database. */
  readonly list: (projectId: ProjectId) => Promise<EnabledOfProject>;
  readonly ageMsMax?: number;
  /** Of what is remembered of all evaluators together, roughly. */
  readonly bytesMax?: number;
  readonly now?: () => number;
};

const ageMsMaxDefault = 60_000;
const bytesMaxDefault = 50_000_000;
/** Lookups in the background; more projects than these wait for their next event. */
const lookupsMax = 100;

const subjectPrefix = "evaluators:";

/** What servers forget when a project's evaluators change (access/changes/changes.ts). */
export function subjectOf(projectId: string): string {
  return subjectPrefix + projectId;
}

export function createEnabledMemory(options: EnabledMemoryOptions): EnabledMemory {
  const { list, ageMsMax = ageMsMaxDefault, now = Date.now } = options;
  const { bytesMax = bytesMaxDefault } = options;
  const entries = createByteCache<readonly RoutedEvaluator[]>({ bytesMax, now });
  const lookups = new Map<ProjectId, Promise<readonly RoutedEvaluator[]>>();
  let generation = 0;

  async function lookUp(projectId: ProjectId): Promise<readonly RoutedEvaluator[]> {
    const generationAtStart = generation;
    // The database may answer late, with what it saw at once: age counts from the question.
    const goodUntil = now() + ageMsMax;
    const { orgId, evaluators } = await list(projectId);
    // Something changed while this was being looked up: the answer may be the old one.
    if (generationAtStart !== generation) return evaluators;
    entries.set(projectId, evaluators, { ownerId: orgId, bytes: memoryOf(evaluators), goodUntil });
    return evaluators;
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
      // Whoever has to know asks again, and hears of a failure then.
      if (lookups.size < lookupsMax) lookUpOnce(projectId).catch(() => undefined);
      return true;
    },

    forget(subject) {
      const isAll = subject === everything;
      if (!isAll && !subject.startsWith(subjectPrefix)) return;
      generation += 1;
      // A lookup that began before the change must not answer those who ask after it.
      lookups.clear();
      if (isAll) entries.clear();
      else entries.delete(subject.slice(subjectPrefix.length));
    },
  };
}
