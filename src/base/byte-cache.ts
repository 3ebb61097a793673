// A cache with a maximum size in bytes and an expiry time for each entry. One owner may use half of
// it. The least recently used entry is evicted first.

import { LRUCache } from "lru-cache";

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
  const ownerBytesMax = bytesMax * ownerShare;
  /** Bytes by owner. */
  const held = new Map<string, number>();
  const entries = new LRUCache<string, Entry<T>>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes,
    dispose: ({ ownerId, bytes }) => add(ownerId, -bytes),
  });

  function add(ownerId: string, bytes: number): void {
    const sum = (held.get(ownerId) ?? 0) + bytes;
    if (sum > 0) held.set(ownerId, sum);
    else held.delete(ownerId);
  }

  function makeRoom(ownerId: string, bytes: number): void {
    // `rkeys` begins with the least recently used entry.
    for (const key of entries.rkeys()) {
      if ((held.get(ownerId) ?? 0) + bytes <= ownerBytesMax) return;
      if (entries.peek(key)?.ownerId === ownerId) entries.delete(key);
    }
  }

  return {
    find(key) {
      const entry = entries.get(key);
      if (entry === undefined || entry.goodUntil > now()) return entry?.value;
      entries.delete(key);
      return undefined;
    },

    set(key, value, { ownerId, goodUntil, bytes: valueBytes }) {
      entries.delete(key);
      const bytes = valueBytes + entryBytes;
      if (bytes > ownerBytesMax) return;
      makeRoom(ownerId, bytes);
      entries.set(key, { value, ownerId, goodUntil, bytes });
      add(ownerId, bytes);
    },

    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}
