// Merges several async sources into one, in order of arrival. Source: docs/generations.md.

type Pulled<T> = {
  readonly source: AsyncGenerator<T>;
  readonly result: IteratorResult<T, unknown>;
};

/**
 * Yields the values of all sources, each at most one value ahead of the reader. Fails with the
 * first source that fails. Returns all sources at the end, also after a failure.
 */
export async function* merge<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const [only, ...others] = sources;
  if (only && others.length === 0) {
    yield* only;
    return;
  }
  const pulls = new Map<AsyncGenerator<T>, Promise<Pulled<T>>>();
  const pull = (source: AsyncGenerator<T>): void => {
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
    // The outcome of the other sources is ignored.
    for (const pulled of pulls.values()) pulled.catch(() => undefined);
    for (const source of sources) source.return(undefined).catch(() => undefined);
  }
}
