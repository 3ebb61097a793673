// Statements as a database runs them, and their plans on Citus.

import type { Database, Sql } from "../../src/postgres/database.ts";

/** What the driver keeps of a statement that it has sent. */
type Sent = {
  readonly statement?: { readonly string: string } | null;
  readonly parameters?: readonly unknown[] | null;
};

/** Returns the database, which adds every statement of its callers to a list. */
export function recordStatements(database: Database, sent: Sent[]): Database {
  const wrap = (sql: Sql): Sql =>
    new Proxy(sql, {
      apply(target, self, words) {
        const statement: unknown = Reflect.apply(target, self, words);
        sent.push(statement as Sent);
        return statement;
      },
    });
  const recorded: Database = {
    ...database,
    sql: () => wrap(database.sql()),
    transaction: (work, options) => database.transaction((sql) => work(wrap(sql)), options),
    inTurn: (work, options) => database.inTurn((sql) => work(wrap(sql)), options),
    step: (work) => database.step((sql) => work(wrap(sql))),
    reader: (options) => {
      const read = database.reader(options);
      return (statement) => read((sql) => statement(wrap(sql)));
    },
    on: (pool) => recordStatements(database.on(pool), sent),
  };
  return recorded;
}

export type Explained = {
  readonly statement: string;
  /** Number of shards by part of the plan; empty if it reads and writes none directly. */
  readonly shards: readonly number[];
};

/** Explains each statement that was sent, once. */
export async function explainAll(sql: Sql, sent: readonly Sent[]): Promise<readonly Explained[]> {
  const explained = new Map<string, Explained>();
  for (const { statement, parameters } of sent) {
    // A fragment of a statement is not sent by itself.
    if (!statement || explained.has(statement.string)) continue;
    const text = statement.string;
    // Citus explains no insert of a query with parameters.
    if (!/^\s*(with|select|update|delete)\b/.test(text)) continue;
    const [row] = await sql.unsafe<{ "QUERY PLAN": unknown }[]>(
      `explain (format json) ${text}`,
      (parameters ?? []) as never[],
    );
    explained.set(text, { statement: text, shards: [...taskCounts(row?.["QUERY PLAN"])] });
  }
  return [...explained.values()];
}

/** Yields the numbers of tasks in a plan as JSON, at any depth. */
function* taskCounts(plan: unknown): Generator<number> {
  if (typeof plan !== "object" || plan === null) return;
  for (const [name, value] of Object.entries(plan)) {
    if (name === "Task Count") yield Number(value);
    else yield* taskCounts(value);
  }
}
