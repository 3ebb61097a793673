// Books of summaries in memory, within bounds of a process and of each project.

import { LRUCache } from "lru-cache";
import { chartMemoryBytesMax, chartProjectBytesMax } from "../../../base/tenant-limits.ts";
import type { Book } from "./book.ts";

export type Shelves = {
  find(projectId: string, plan: string): Book | undefined;
  /** Keeps a book at its present size. A project drops its own books first. */
  keep(projectId: string, plan: string, book: Book): void;
};

type Shelf = LRUCache<string, Book>;

/** Bytes of a book or a shelf without content. */
const emptyBytes = 1_000;

/** Sizes in bytes, by default those of a process; `project` is at most `process`. */
export function createShelves(
  sizes: { readonly process: number; readonly project: number } = {
    process: chartMemoryBytesMax,
    project: chartProjectBytesMax,
  },
): Shelves {
  const shelves = new LRUCache<string, Shelf>({
    maxSize: sizes.process,
    sizeCalculation: ({ calculatedSize }) => calculatedSize + emptyBytes,
  });

  function createShelf(): Shelf {
    return new LRUCache({
      maxSize: sizes.project - emptyBytes,
      sizeCalculation: ({ bytes }) => bytes + emptyBytes,
    });
  }

  return {
    find: (projectId, plan) => shelves.get(projectId)?.get(plan),

    // The cache measures a value only when it is new.
    keep(projectId, plan, book) {
      const shelf = shelves.get(projectId) ?? createShelf();
      shelf.delete(plan);
      shelf.set(plan, book);
      shelves.delete(projectId);
      shelves.set(projectId, shelf);
    },
  };
}
