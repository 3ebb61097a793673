// Statements as a database runs them, and their plans on Citus.

import type { Database, Sql } from "../../src/postgres/database.ts";

/** A value as the driver sends it. */
type Parameter = string | number | boolean | null;

/** What the driver keeps of a statement, until it is over. */
type Statement = {
  readonly statement?: { readonly string: string } | null;
  readonly parameters?: readonly Parameter[] | null;
  resolve?: (result: unknown) => void;
};

/** Parameters of statements by their text. */
export type SentStatements = Map<string, readonly Parameter[]>;

export function createSentStatements(): SentStatements {
  return new Map<string, readonly Parameter[]>();
}

/** Returns the database, which adds every statement of its callers to a list. */
export function recordStatements(database: Database, sent: SentStatements): Database {
  const wrap = (sql: Sql): Sql =>
    new Proxy(sql, {
      apply(target, self, words) {
        const statement: unknown = Reflect.apply(target, self, words);
        if (statement instanceof Promise) noteAtEnd(statement as Statement, sent);
        return statement;
      },
    });
  const recorded: Database = {
    ...database,
    sql: () => wrap(database.sql()),
    transaction: (work, options) => database.transaction((sql) => work(wrap(sql)), options),
    inTurn: (work, options) => database.inTurn((sql) => work(wrap(sql)), options),
    readInTurn: (owner, work) => database.readInTurn(owner, (sql) => work(wrap(sql))),
    step: (work) => database.step((sql) => work(wrap(sql))),
    reader: (options) => {
      const read = database.reader(options);
      return (statement) => read((sql) => statement(wrap(sql)));
    },
    on: (pool) => recordStatements(database.on(pool), sent),
  };
  return recorded;
}

/** Notes a statement when it has its rows; parts of statements never have any. */
function noteAtEnd(query: Statement, sent: SentStatements): void {
  const { resolve } = query;
  query.resolve = (result) => {
    const { statement, parameters } = query;
    if (statement) sent.set(statement.string, parameters ?? []);
    resolve?.call(query, result);
  };
}

export type Explained = {
  readonly statement: string;
  /** Number of shards by part of the plan; empty if it reads and writes none directly. */
  readonly shards: readonly number[];
};

/** Explains each statement that was sent. */
export async function explainAll(sql: Sql, sent: SentStatements): Promise<readonly Explained[]> {
  const explained: Explained[] = [];
  for (const [statement, parameters] of sent) {
    if (!/^\s*(with|select|insert|update|delete)\b/.test(statement)) continue;
    // Citus explains no insert of a query with parameters.
    const text = statement.replace(/\$(\d+)\b/g, (_, number: string) =>
      literalOf(parameters[Number(number) - 1]),
    );
    const [row] = await sql.unsafe<{ "QUERY PLAN": unknown }[]>(`explain (format json) ${text}`);
    explained.push({ statement, shards: [...taskCounts(row?.["QUERY PLAN"])] });
  }
  return explained;
}

/** Writes a parameter, as the driver sent it, as text of SQL. */
function literalOf(parameter: Parameter | undefined): string {
  if (parameter === null || parameter === undefined) return "null";
  return `'${String(parameter).replaceAll("'", "''")}'`;
}

/** Yields the numbers of tasks in a plan as JSON, at any depth. */
function* taskCounts(plan: unknown): Generator<number> {
  if (typeof plan !== "object" || plan === null) return;
  for (const [name, value] of Object.entries(plan)) {
    if (name === "Task Count") yield Number(value);
    else yield* taskCounts(value);
  }
}
