// Search parameters as a page knows them: each is read by a parser of its own, and one that cannot
// be read counts as absent, so that a cut or mistyped address still opens its page.

/** Returns the value of a parameter; undefined for one of another form. */
export type Parser<T> = (value: unknown) => T | undefined;

type Parsers<Search> = { readonly [Name in keyof Search]-?: Parser<NonNullable<Search[Name]>> };

/**
 * Returns the `validateSearch` of a route. An unreadable parameter stands in the answer as
 * undefined: the router puts the answer over the raw parameters, where a missing name would leave
 * the raw value in place.
 */
export function knownSearch<Search extends object>(
  parsers: Parsers<Search>,
): (raw: Record<string, unknown>) => Search {
  const all = Object.entries<Parser<unknown>>(parsers);
  return (raw) =>
    Object.fromEntries(
      all
        .filter(([name]) => Object.hasOwn(raw, name))
        .map(([name, parse]) => [name, parse(raw[name])]),
    ) as Search;
}

/** Returns the names of parameters of which the page reads less than the address has. */
export function unreadNames(
  raw: Readonly<Record<string, unknown>>,
  read: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.entries(raw).flatMap(([name, value]) => {
    if (value === undefined || value === "" || !Object.hasOwn(read, name)) return [];
    const known = read[name];
    const isCut = Array.isArray(value) && Array.isArray(known) && known.length < value.length;
    return known === undefined || isCut ? [name] : [];
  });
}

/** Reads a text or an id. The router reads digits alone as a number, and `true` as a boolean. */
export function text(value: unknown): string | undefined {
  const isPlain = ["string", "number", "boolean"].includes(typeof value);
  return isPlain && value !== "" ? String(value) : undefined;
}

export function oneOf<T extends string>(values: readonly T[]): Parser<T> {
  return (value) => values.find((one) => one === value);
}

/** Reads a parameter that is either there or not. */
export function flag(value: unknown): true | undefined {
  return value === true || undefined;
}

/** Reads a number that counts from 1, such as one of a page. */
export function ordinal(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}
