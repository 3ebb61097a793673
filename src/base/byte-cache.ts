// A cache with a maximum size in bytes and an expiry time for each entry. One owner may use half of
// it. The least recently used entry is evicted first.

export type ByteCache<T> = {
  find(key: string): T | undefined;
  /** Keeps a value, unless the value alone is larger than its owner's part. */
  set(key: string, value: T, about: EntrySize): void;
  delete(key: string): void;
  clear(): void;
};

export type EntrySize = {
  /** Organization, or another owner, that sent the content of the value. */
  readonly ownerId: string;
  /** Bytes of the value, roughly. */
  readonly bytes: number;
  /** Time, on the clock of `now`, at which the entry expires. */
  readonly goodUntil: number;
};

export type ByteCacheOptions = {
  /** Maximum bytes of all entries. */
  readonly bytesMax: number;
  readonly now: () => number;
};

type Entry<T> = EntrySize & { readonly value: T };

const ownerShare = 1 / 2;
/** Bytes of an entry in addition to its value. */
const entryBytes = 500;

export function createByteCache<T>({ bytesMax, now }: ByteCacheOptions): ByteCache<T> {
  // A Map keeps insertion order: the first entry is the least recently used.
  const entries = new Map<string, Entry<T>>();
  /** Bytes by owner. */
  const held = new Map<string, number>();
  let allBytes = 0;

  function add(ownerId: string, bytes: number): void {
    allBytes += bytes;
    const sum = (held.get(ownerId) ?? 0) + bytes;
    if (sum > 0) held.set(ownerId, sum);
    else held.delete(ownerId);
  }

  function remove(key: string): void {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    add(entry.ownerId, -entry.bytes);
  }

  function makeRoom(hasRoom: () => boolean, mayGo: (entry: Entry<T>) => boolean): void {
    for (const [key, entry] of entries) {
      if (hasRoom()) return;
      if (mayGo(entry)) remove(key);
    }
  }

  return {
    find(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (entry.goodUntil <= now()) {
        remove(key);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },

    set(key, value, { ownerId, goodUntil, bytes: valueBytes }) {
      remove(key);
      const bytes = valueBytes + entryBytes;
      const ownerMax = bytesMax * ownerShare;
      if (bytes > ownerMax) return;
      const isOwn = (entry: Entry<T>): boolean => entry.ownerId === ownerId;
      makeRoom(() => (held.get(ownerId) ?? 0) + bytes <= ownerMax, isOwn);
      makeRoom(
        () => allBytes + bytes <= bytesMax,
        () => true,
      );
      entries.set(key, { value, ownerId, goodUntil, bytes });
      add(ownerId, bytes);
    },

    delete: remove,

    clear() {
      entries.clear();
      held.clear();
      allBytes = 0;
    },
  };
}
