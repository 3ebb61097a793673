// A cache with a maximum number of entries and a maximum age. The least recently used entry is
// evicted first.

export type Cache<T> = {
  find(key: string): T | undefined;
  /** `sinceMs` is the latest time at which the value was known to be true; default: now. */
  set(key: string, value: T, sinceMs?: number): void;
  delete(key: string): void;
  clear(): void;
};

export type CacheOptions = {
  readonly entriesMax: number;
  /** Maximum age, counted from `sinceMs`. Using an entry does not extend it. */
  readonly ageMsMax: number;
  readonly now: () => number;
};

export function createCache<T>({ entriesMax, ageMsMax, now }: CacheOptions): Cache<T> {
  // A Map keeps insertion order: the first entry is the least recently used.
  const entries = new Map<string, { readonly value: T; readonly goodUntil: number }>();
  return {
    find(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      if (entry.goodUntil <= now()) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, sinceMs = now()) {
      entries.delete(key);
      entries.set(key, { value, goodUntil: sinceMs + ageMsMax });
      for (const oldest of entries.keys()) {
        if (entries.size <= entriesMax) break;
        entries.delete(oldest);
      }
    },
    delete(key) {
      entries.delete(key);
    },
    clear() {
      entries.clear();
    },
  };
}
