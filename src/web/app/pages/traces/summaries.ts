// Summaries of events or sessions by their ids: read in chunks when rows want them, and kept for
// the next list that shows the same.

/** Number of summaries that are kept beyond those that were wanted last. */
const keptMax = 5_000;

export type WantedSummary = {
  readonly id: string;
  /** Changes when the summary is to be read again. */
  readonly version: string;
};

/** Reads summaries by id; null for one that is too large. Absent ids have none. */
export type ReadSummaries<Summary> = (
  projectId: string,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, Summary | null>>;

type Kept<Summary> = { readonly version: string; readonly summary: Summary | null };

export class Summaries<Summary> {
  /** By project and id, ordered by last use. */
  readonly #kept = new Map<string, Kept<Summary>>();
  /** Versions that are being read, by project and id. */
  readonly #reading = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #read: ReadSummaries<Summary>;
  readonly #chunkSize: number;
  #revision = 0;

  /** `chunkSize` is the maximum number of ids that `read` is given. */
  constructor(read: ReadSummaries<Summary>, chunkSize: number) {
    this.#read = read;
    this.#chunkSize = chunkSize;
  }

  /** Returns a summary; null if there is none, undefined while it is not read. */
  get(projectId: string, id: string): Summary | null | undefined {
    return this.#kept.get(keyOf(projectId, id))?.summary;
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
   * After the signal it begins no further chunk. Never fails: ids whose chunk could not be read
   * have no summary until their version changes.
   */
  async want(
    projectId: string,
    wanted: readonly WantedSummary[],
    signal: AbortSignal,
  ): Promise<void> {
    this.#touch(projectId, wanted);
    const missing = wanted.filter(({ id, version }) => {
      const key = keyOf(projectId, id);
      return this.#kept.get(key)?.version !== version && this.#reading.get(key) !== version;
    });
    for (let start = 0; start < missing.length && !signal.aborted; start += this.#chunkSize) {
      await this.#readChunk(projectId, missing.slice(start, start + this.#chunkSize));
    }
  }

  async #readChunk(projectId: string, chunk: readonly WantedSummary[]): Promise<void> {
    for (const { id, version } of chunk) this.#reading.set(keyOf(projectId, id), version);
    const ids = chunk.map(({ id }) => id);
    const found = await this.#read(projectId, ids).catch(() => new Map<string, null>());
    for (const { id, version } of chunk) {
      const key = keyOf(projectId, id);
      // A newer version may have been asked for meanwhile.
      if (this.#reading.get(key) !== version) continue;
      this.#reading.delete(key);
      this.#kept.set(key, { version, summary: found.get(id) ?? null });
    }
    this.#revision += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Puts the wanted ones at the end, and lets the oldest others go. */
  #touch(projectId: string, wanted: readonly WantedSummary[]): void {
    const keys = new Set(wanted.map(({ id }) => keyOf(projectId, id)));
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

function keyOf(projectId: string, id: string): string {
  return `${projectId} ${id}`;
}
