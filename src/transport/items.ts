// Streams of items. The generators are of the module: V8 allocates the map of a generator that is
// made for a call among its old objects, and it would keep the call's objects until the whole heap
// is collected.

/** Yields one item. */
export async function* onlyItem<T>(item: T): AsyncIterable<T> {
  yield item;
}

/** Yields what `to` makes of each item. */
export async function* mapItems<T, U>(
  items: AsyncIterable<T>,
  to: (item: T) => U,
): AsyncIterable<U> {
  for await (const item of items) yield to(item);
}
