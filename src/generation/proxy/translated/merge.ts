// Several sources of values as one, in the order in which the values come. Called by stream.ts.
// Source: docs/generations.md.

type Pulled<T> = { readonly source: AsyncIterator<T>; readonly result: IteratorResult<T, unknown> };

/**
 * Yields what the sources yield, each at most one value ahead of the reader. Fails with the first
 * source that fails. At the end, however it comes, all sources are returned.
 */
export async function* merge<T>(sources: readonly AsyncIterator<T>[]): AsyncGenerator<T> {
  const pulls = new Map<AsyncIterator<T>, Promise<Pulled<T>>>();
  const pull = (source: AsyncIterator<T>): void => {
    pulls.set(
      source,
      source.next().then((result) => ({ source, result })),
    );
  };
  try {
    sources.forEach(pull);
    while (pulls.size > 0) {
      const { source, result } = await Promise.race(pulls.values());
      pulls.delete(source);
      if (result.done) continue;
      yield result.value;
      pull(source);
    }
  } finally {
    // Nobody waits for what the others come to, and nobody hears of it.
    for (const pulled of pulls.values()) pulled.catch(() => undefined);
    for (const source of sources) source.return?.().catch(() => undefined);
  }
}
