// Parts of an OpenAPI document with their references resolved. The library resolves all of the
// document for each part that it shows, which blocks the page for seconds.

/**
 * Returns the part of a document at a path. The target of each local reference replaces it, with
 * the reference as the target's `$$ref`. A reference inside its own target stays as it is.
 */
export function resolvePart(document: unknown, path: readonly string[]): unknown {
  return resolve(memberAt(document, path), { document, open: [] });
}

type Place = {
  readonly document: unknown;
  /** References whose targets the value stands inside of. */
  readonly open: readonly string[];
};

function resolve(value: unknown, place: Place): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => resolve(item, place));
  const { document, open } = place;
  const { $ref: reference } = value as { readonly $ref?: unknown };
  const isLocal = typeof reference === "string" && reference.startsWith("#/");
  if (!isLocal || open.includes(reference)) {
    const members = Object.entries(value).map(([name, item]) => [name, resolve(item, place)]);
    return Object.fromEntries(members) as unknown;
  }
  const target = resolve(memberAt(document, pathOf(reference)), {
    document,
    open: [...open, reference],
  });
  const { $ref: _, ...others } = value as Readonly<Record<string, unknown>>;
  // The library names a schema by the end of `$$ref`, which it shows nowhere else.
  return { ...(target as object), ...others, $$ref: reference };
}

/** Returns the names of a JSON pointer in a URI fragment (RFC 6901, section 6). */
function pathOf(reference: string): readonly string[] {
  return reference
    .slice(2)
    .split("/")
    .map((name) => decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function memberAt(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (value as Readonly<Record<string, unknown>> | undefined)?.[name],
    document,
  );
}
