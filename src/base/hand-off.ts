// Passes items from a producer to a consumer one by one, for rows that are read inside the callback
// of a transaction and sent outside of it.

/** Thrown inside a producer whose consumer has stopped. */
class ConsumerLeft extends Error {}

/**
 * Yields the items that `produce` puts. `put` resolves when the item is taken, so at most one item
 * waits while the one before is in use. If the consumer stops early, `put` throws inside the
 * producer and the generator waits for the producer's end. An error of the producer itself reaches
 * the consumer.
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
      const next = waiting;
      waiting = undefined;
      if (next !== undefined) {
        taken.resolve();
        yield next.item;
      }
      const ended = end;
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
