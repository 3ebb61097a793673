// Statements as a database runs them, and their plans on Citus.

import type { Database, Sql } from "../../src/postgres/database.ts";

/** A value as the driver sends it. */
type Parameter = string | number | boolean | null;

/** What the driver keeps of a statement. */
type Statement = {
  /** Null until it is sent, and always for a fragment of another. */
  readonly statement?: { readonly string: string } | null;
  readonly parameters?: readonly Parameter[] | null;
};

/** Statements that a database has sent, each text once. */
export type SentStatements = {
  add(statement: Statement): void;
  /** Parameters by text. */
  all(): ReadonlyMap<string, readonly Parameter[]>;
};

/** Statements that are kept until they are sent; the older ones are fragments. */
const unsentMax = 2_000;

export function createSentStatements(): SentStatements {
  const sent = new Map<string, readonly Parameter[]>();
  let waiting: Statement[] = [];

  function sort(): void {
    for (const { statement, parameters } of waiting) {
      if (statement && !sent.has(statement.string)) sent.set(statement.string, parameters ?? []);
    }
    waiting = waiting.filter(({ statement }) => !statement).slice(-unsentMax);
  }

  return {
    add(statement) {
      waiting.push(statement);
      if (waiting.length > 2 * unsentMax) sort();
    },
    all() {
      sort();
      return sent;
    },
  };
}

/** Returns the database, which adds every statement of its callers to a list. */
export function recordStatements(database: Database, sent: SentStatements): Database {
  const wrap = (sql: Sql): Sql =>
    new Proxy(sql, {
      apply(target, self, words) {
        const statement: unknown = Reflect.apply(target, self, words);
        sent.add(statement as Statement);
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

/** Explains each statement that was sent. */
export async function explainAll(sql: Sql, sent: SentStatements): Promise<readonly Explained[]> {
  const explained: Explained[] = [];
  for (const [statement, parameters] of sent.all()) {
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
