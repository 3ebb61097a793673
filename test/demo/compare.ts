// Compares what was sent with the session that is read back.

/** A node of GET /v1/sessions/{session_id}, as far as the demo looks at it. */
export type Node = {
  readonly event_id: string;
  readonly event_name: string;
  readonly event_type: string;
  readonly parent_id: string | null;
  readonly error: string | null;
  readonly start_time: number;
  readonly duration?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly children: readonly Node[];
};

export type Totals = {
  readonly num_events: number;
  readonly num_errors: number;
  readonly total_tokens: number;
};

export type Session = Node & { readonly session_id: string; readonly totals: Totals };

/** One event that must be there. */
export type Expected = {
  /** The event's id, or its span's. */
  readonly id: string;
  readonly name: string;
  /** The parent's id of the same kind; the session's for a root. */
  readonly parentId: string;
  /** Unix milliseconds; compared by whole ones. */
  readonly startMs: number;
  readonly isFailed: boolean;
};

/**
 * Returns what is missing or different, as sentences; none when everything is there. `idOf` says by
 * which id the expected events go.
 */
export function compare(
  session: Session,
  expected: readonly Expected[],
  totalTokens: number,
  idOf: (node: Node) => unknown,
): readonly string[] {
  const nodes = flatten(session);
  const found = new Map(nodes.map((node) => [idOf(node), node]));
  const parents = new Map(nodes.flatMap((node) => node.children.map((child) => [child, node])));
  const faults = expected.flatMap((one) => {
    const node = found.get(one.id);
    if (!node) return [`${one.name} (${one.id}) is not there`];
    const parent = parents.get(node);
    return [
      node.event_name !== one.name && `${one.name} is named ${node.event_name}`,
      (!parent || ![idOf(parent), parent.event_id].includes(one.parentId)) &&
        `${one.name} hangs under ${parent?.event_name ?? "nothing"}`,
      node.start_time !== Math.floor(one.startMs) &&
        `${one.name} starts at ${node.start_time}, not at ${Math.floor(one.startMs)}`,
      (node.error !== null) !== one.isFailed &&
        `${one.name} has ${node.error === null ? "no error" : `the error ${node.error}`}`,
    ].filter((fault) => fault !== false);
  });
  const { num_events, total_tokens } = session.totals;
  if (num_events !== expected.length) {
    faults.push(`${num_events} events are there, ${expected.length} were sent`);
  }
  if (total_tokens !== totalTokens) {
    faults.push(`${total_tokens} tokens are counted, ${totalTokens} were used`);
  }
  return faults;
}

function flatten(node: Node): readonly Node[] {
  return [node, ...node.children.flatMap(flatten)];
}
