// Lists of a running service that come in pages, read to `--limit` or to their end.

/** A page of a list. */
export type ListPage<Item> = {
  readonly items: readonly Item[];
  /** Name of the next page for `readPage`; undefined at the end. */
  readonly next: string | undefined;
};

/**
 * Reads pages from the first on, and returns at most `limit` items, all without it. An item that
 * comes twice, since the list grew between two pages, is returned once. `hasMore` says that the
 * limit left items out.
 */
export async function listPages<Item>(
  limit: number | undefined,
  idOf: (item: Item) => string,
  readPage: (next: string | undefined) => Promise<ListPage<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const found = new Map<string, Item>();
  const max = limit ?? Infinity;
  let next: string | undefined;
  do {
    const page = await readPage(next);
    for (const item of page.items) found.set(idOf(item), item);
    next = page.next;
  } while (next !== undefined && found.size < max);
  const items = [...found.values()];
  return { items: items.slice(0, max), hasMore: next !== undefined || items.length > max };
}
