// What a form changed: it sends no more than that.

/**
 * Returns the fields of `after` that differ from `before`, with which the form began. The others
 * are not sent, since another person may have changed them meanwhile.
 */
export function toChanged<T extends object>(before: T, after: T): Partial<T> {
  const began = new Map<string, unknown>(Object.entries(before));
  const isChanged = ([name, value]: readonly [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(began.get(name));
  return Object.fromEntries(Object.entries(after).filter(isChanged)) as Partial<T>;
}
