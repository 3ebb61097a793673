// A producer and a consumer that meet item by item. Called where rows are read inside the callback
// of a transaction and sent outside of it.

/** Thrown into a producer whose consumer has left. */
class ConsumerLeft extends Error {}

/**
 * Yields what `produce` puts. `put` resolves when the item was taken, so that at most one waits
 * while the one before is being used. When the consumer stops early, `put` throws inside the
 * producer, whose end is awaited; what the producer throws by itself, the consumer sees.
 */
export async function* handOff<T>(
  produce: (put: (item: T) => Promise<void>) => Promise<void>,
): AsyncGenerator<T, void, undefined> {
  let waiting: { readonly item: T } | undefined;
  let hasLeft = false;
  let end: { readonly failure?: unknown } | undefined;
  let changed = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();

  async function put(item: T): Promise<void> {
    if (hasLeft) throw new ConsumerLeft();
    waiting = { item };
    taken = Promise.withResolvers<void>();
    changed.resolve();
    await taken.promise;
    if (hasLeft) throw new ConsumerLeft();
  }

  const producing = produce(put)
    .then(
      () => (end = {}),
      (failure: unknown) => (end = { failure }),
    )
    .finally(() => changed.resolve());
  try {
    for (;;) {
      await changed.promise;
      changed = Promise.withResolvers<void>();
      const next = waiting as { readonly item: T } | undefined;
      waiting = undefined;
      if (next !== undefined) {
        taken.resolve();
        yield next.item;
      }
      const ended = end as { readonly failure?: unknown } | undefined;
      if (ended === undefined) continue;
      if ("failure" in ended) throw ended.failure;
      return;
    }
  } finally {
    hasLeft = true;
    taken.resolve();
    await producing;
  }
}
