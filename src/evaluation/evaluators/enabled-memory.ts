// What a server remembers of the evaluators that run by themselves, by project, so that ingestion
// asks nobody. Called by evaluators.ts; told by access/changes what to forget.

import { everything } from "../../access/caller-memory.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { RunnableEvaluator } from "./definition.ts";

export type EnabledMemory = {
  /** Returns a project's evaluators, from memory or by asking, once for many callers at a time. */
  get(projectId: ProjectId): Promise<readonly RunnableEvaluator[]>;
  /**
   * False only where a project is known to have none. Asks nobody: where nothing is known it is
   * true, and looked up in the background.
   */
  mayHaveAny(projectId: ProjectId): boolean;
  /** Forgets what a change is about; lookups under way are not believed. */
  forget(subject: string): void;
};

export type EnabledMemoryOptions = {
  /** Asks the database. */
  readonly list: (projectId: ProjectId) => Promise<readonly RunnableEvaluator[]>;
  readonly ageMsMax?: number;
  /** Of all definitions together, estimated. */
  readonly bytesMax?: number;
  readonly now?: () => number;
};

const ageMsMaxDefault = 60_000;
const bytesMaxDefault = 50_000_000;
/** What an entry takes beside its definitions. */
const entryBytes = 500;
/** Lookups in the background; more projects than these wait for their next event. */
const lookupsMax = 100;

const subjectPrefix = "evaluators:";

/** What servers forget when a project's evaluators change (access/changes/changes.ts). */
export function subjectOf(projectId: string): string {
  return subjectPrefix + projectId;
}

type Entry = {
  readonly evaluators: readonly RunnableEvaluator[];
  readonly bytes: number;
  readonly goodUntil: number;
};

export function createEnabledMemory(options: EnabledMemoryOptions): EnabledMemory {
  const { list, ageMsMax = ageMsMaxDefault, now = Date.now } = options;
  const entries = createEntries(options.bytesMax ?? bytesMaxDefault);
  const lookups = new Map<ProjectId, Promise<readonly RunnableEvaluator[]>>();
  let generation = 0;

  function find(projectId: ProjectId): readonly RunnableEvaluator[] | undefined {
    const entry = entries.find(projectId);
    return entry && entry.goodUntil > now() ? entry.evaluators : undefined;
  }

  async function lookUp(projectId: ProjectId): Promise<readonly RunnableEvaluator[]> {
    const generationAtStart = generation;
    // The database may answer late, with what it saw at once: age counts from the question.
    const goodUntil = now() + ageMsMax;
    const evaluators = await list(projectId);
    // Something changed while this was being looked up: the answer may be the old one.
    if (generationAtStart !== generation) return evaluators;
    const bytes = entryBytes + JSON.stringify(evaluators).length;
    entries.set(projectId, { evaluators, bytes, goodUntil });
    return evaluators;
  }

  function lookUpOnce(projectId: ProjectId): Promise<readonly RunnableEvaluator[]> {
    const running = lookups.get(projectId);
    if (running) return running;
    const lookup = lookUp(projectId).finally(() => {
      if (lookups.get(projectId) === lookup) lookups.delete(projectId);
    });
    lookups.set(projectId, lookup);
    return lookup;
  }

  return {
    get: async (projectId) => find(projectId) ?? lookUpOnce(projectId),

    mayHaveAny(projectId) {
      const known = find(projectId);
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

/** A map bounded in bytes: the least recently used entry goes first. */
function createEntries(bytesMax: number) {
  // A Map keeps insertion order: the first entry is the least recently used.
  const entries = new Map<string, Entry>();
  let bytes = 0;

  function remove(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  return {
    find(key: string): Entry | undefined {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry;
    },
    set(key: string, entry: Entry): void {
      remove(key);
      entries.set(key, entry);
      bytes += entry.bytes;
      for (const oldest of entries.keys()) {
        if (bytes <= bytesMax) break;
        remove(oldest);
      }
    },
    delete: remove,
    clear(): void {
      entries.clear();
      bytes = 0;
    },
  };
}
