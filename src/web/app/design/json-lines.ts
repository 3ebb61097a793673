// JSON as lines of a foldable tree. Walks without recursion, so that a value 200 levels deep is as
// any other, and makes lines of open containers only.

export type JsonLine = {
  /** Path from the root, such as `.messages[0].content`; the root is empty. */
  readonly path: string;
  readonly depth: number;
  /** Key or index; undefined for the root. */
  readonly name: string | undefined;
  readonly value: unknown;
  /** Number of members; undefined for a value without members. */
  readonly size: number | undefined;
  readonly isOpen: boolean;
};

export type JsonFolds = {
  /** Paths that differ from the default. */
  readonly toggled: ReadonlySet<string>;
  /** Depth up to which containers are open by default. */
  readonly openDepth: number;
};

/** Members of a container that have lines; one more line counts the rest. */
const membersMax = 10_000;

type Pending = Omit<JsonLine, "size" | "isOpen">;

/**
 * Returns the lines of a value in the order in which they are read. The members of a root that has
 * some are the outermost lines; any other root is a line itself.
 */
export function jsonLines(root: unknown, { toggled, openDepth }: JsonFolds): readonly JsonLine[] {
  const lines: JsonLine[] = [];
  const pending: Pending[] =
    (sizeOf(root) ?? 0) > 0
      ? pendingOf(root, "", 0)
      : [{ path: "", depth: 0, name: undefined, value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const size = sizeOf(next.value);
    const isOpen =
      size !== undefined && size > 0 && next.depth < openDepth !== toggled.has(next.path);
    lines.push({ ...next, size, isOpen });
    if (isOpen) pending.push(...pendingOf(next.value, next.path, next.depth + 1));
  }
  return lines;
}

/** Backwards, since the last one that is added is taken first. */
function pendingOf(value: unknown, path: string, depth: number): Pending[] {
  const members = membersOf(value, path);
  const shown = members
    .slice(0, membersMax)
    .map(([name, memberPath, member]) => ({ path: memberPath, depth, name, value: member }));
  const rest = members.length - shown.length;
  const last = { path: `${path}…`, depth, name: "…", value: `${rest} more: copy the value` };
  return [...shown, ...(rest > 0 ? [last] : [])].toReversed();
}

function sizeOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (typeof value === "object" && value !== null) return Object.keys(value).length;
  return undefined;
}

function membersOf(value: unknown, path: string): (readonly [string, string, unknown])[] {
  if (Array.isArray(value)) {
    return value.map((member, index) => [String(index), `${path}[${index}]`, member] as const);
  }
  return Object.entries(value as object).map(
    ([key, member]) => [key, `${path}.${key}`, member] as const,
  );
}
