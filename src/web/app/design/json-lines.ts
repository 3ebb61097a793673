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

/** Members of an open container of which lines are made; the rest is told by a last line. */
export const membersMax = 10_000;

type Pending = Omit<JsonLine, "size" | "isOpen">;

/** Returns the lines of a value in the order in which they are read. */
export function jsonLines(root: unknown, { toggled, openDepth }: JsonFolds): readonly JsonLine[] {
  const lines: JsonLine[] = [];
  const pending: Pending[] = [{ path: "", depth: 0, name: undefined, value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const size = sizeOf(next.value);
    const isOpen =
      size !== undefined && size > 0 && next.depth < openDepth !== toggled.has(next.path);
    lines.push({ ...next, size, isOpen });
    if (!isOpen) continue;
    const { path, depth, value } = next;
    const members = membersOf(value, path).slice(0, membersMax);
    // Backwards, since the last one that is added is taken first.
    for (const [name, memberPath, member] of members.toReversed()) {
      pending.push({ path: memberPath, depth: depth + 1, name, value: member });
    }
  }
  return lines;
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
