// Summaries of events by their ids: read in chunks when rows want them, and kept for the next list
// that shows the same events.

import type { EventSummary } from "./event-summary.ts";

/** Maximum number of events that one call reads. */
const chunkSize = 100;
/** Number of summaries that are kept beyond those that were wanted last. */
const keptMax = 5_000;

export type WantedSummary = {
  readonly eventId: string;
  /** Changes when the summary is to be read again. */
  readonly version: string;
};

/** Reads summaries by event id; null for one that is too large. Absent events have none. */
export type ReadSummaries = (
  projectId: string,
  eventIds: readonly string[],
) => Promise<ReadonlyMap<string, EventSummary | null>>;

type Kept = { readonly version: string; readonly summary: EventSummary | null };

export class Summaries {
  /** By project and event, those that were wanted last at the end. */
  readonly #kept = new Map<string, Kept>();
  /** Versions that are being read, by project and event. */
  readonly #reading = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #read: ReadSummaries;
  #revision = 0;

  constructor(read: ReadSummaries) {
    this.#read = read;
  }

  /** Returns a summary; null if the event has none, undefined while it is not read. */
  get(projectId: string, eventId: string): EventSummary | null | undefined {
    return this.#kept.get(keyOf(projectId, eventId))?.summary;
  }

  /** Grows with each chunk that was read. */
  readonly getRevision = (): number => this.#revision;

  /** Calls the listener after each chunk, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Reads those that are missing or of another version, in their order, a chunk after the other.
   * After the signal it begins no further chunk. Never fails: events whose chunk could not be read
   * have no summary until their version changes.
   */
  async want(
    projectId: string,
    wanted: readonly WantedSummary[],
    signal: AbortSignal,
  ): Promise<void> {
    this.#touch(projectId, wanted);
    const missing = wanted.filter(({ eventId, version }) => {
      const key = keyOf(projectId, eventId);
      return this.#kept.get(key)?.version !== version && this.#reading.get(key) !== version;
    });
    for (let start = 0; start < missing.length && !signal.aborted; start += chunkSize) {
      await this.#readChunk(projectId, missing.slice(start, start + chunkSize));
    }
  }

  async #readChunk(projectId: string, chunk: readonly WantedSummary[]): Promise<void> {
    for (const { eventId, version } of chunk) {
      this.#reading.set(keyOf(projectId, eventId), version);
    }
    const ids = chunk.map(({ eventId }) => eventId);
    const found = await this.#read(projectId, ids).catch(() => new Map<string, null>());
    for (const { eventId, version } of chunk) {
      const key = keyOf(projectId, eventId);
      // A newer version may have been asked for meanwhile.
      if (this.#reading.get(key) !== version) continue;
      this.#reading.delete(key);
      this.#kept.set(key, { version, summary: found.get(eventId) ?? null });
    }
    this.#revision += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Puts the wanted ones at the end, and lets the oldest others go. */
  #touch(projectId: string, wanted: readonly WantedSummary[]): void {
    const keys = new Set(wanted.map(({ eventId }) => keyOf(projectId, eventId)));
    for (const key of keys) {
      const entry = this.#kept.get(key);
      if (!entry) continue;
      this.#kept.delete(key);
      this.#kept.set(key, entry);
    }
    for (const key of this.#kept.keys()) {
      if (this.#kept.size <= keptMax || keys.has(key)) break;
      this.#kept.delete(key);
    }
  }
}

function keyOf(projectId: string, eventId: string): string {
  return `${projectId} ${eventId}`;
}
