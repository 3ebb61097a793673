// Finds what a pooler before Postgres, such as PgBouncer, has to be set to (docs/operations.md).

import { setTimeout as delay } from "node:timers/promises";
import { type Database, openDatabase, type Sql } from "./database.ts";

export type PoolerFinding = {
  /** How connections are pooled; undefined if they lead to Postgres itself. */
  readonly pooling: "by session" | "by transaction" | undefined;
  /** Settings that are missing, in words. */
  readonly advice: readonly string[];
  /** Sentences on features that work differently behind the pooler, with the remedy. */
  readonly notes: readonly string[];
};

/** Arbitrary; a pooler that ignores the parameters of connections leaves another value. */
const askedTimeoutMs = 54_321;
const channel = "waggle_pooler";
const answerMsMax = 5_000;

const deafNote =
  "LISTEN hears nothing, so servers look for revoked keys every access-poll-ms and workers for " +
  "new work every few seconds; a URL of Postgres itself, or pool_mode = session, is heard at once";
const unpreparedNote =
  "prepare=false parses every statement each time; max_prepared_statements = 200 in PgBouncer " +
  "1.21 or newer makes it unnecessary";

/** Returns the advice for an error of connecting; undefined if it is of no pooler. */
export function adviceOn(error: unknown): string | undefined {
  if (!String(error).includes("unsupported startup parameter")) return undefined;
  return (
    "add to the pooler's settings: " +
    "ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout"
  );
}

/** Looks at the connections of a URL. Takes three of them, and changes nothing. */
export async function lookAtPooler(url: string): Promise<PoolerFinding> {
  const options = { url, connectionsMax: 1, statementTimeoutMs: askedTimeoutMs };
  const [first, second] = [openDatabase(options), openDatabase(options)];
  try {
    const timeouts = await readTimeouts(first.sql());
    if (timeouts.statement === `${askedTimeoutMs}ms`) {
      return { pooling: undefined, advice: [], notes: [] };
    }
    const advice: string[] = [];
    if (timeouts.statement === "0") advice.push(roleAdvice("statement_timeout = '30s'"));
    if (timeouts.idle === "0") {
      advice.push(roleAdvice("idle_in_transaction_session_timeout = '10min'"));
    }
    if (!(await inTime(isPrepared(first, second)))) {
      advice.push(
        "set max_prepared_statements = 200 in PgBouncer 1.21 or newer, " +
          "or add prepare=false to the parameters of the URL",
      );
    }
    const pooling = (await inTime(isHeard(first, second))) ? "by session" : "by transaction";
    const notes = pooling === "by transaction" ? [deafNote] : [];
    if (new URL(url).searchParams.get("prepare") === "false") notes.push(unpreparedNote);
    return { pooling, advice, notes };
  } finally {
    await Promise.all([first.close(), second.close()]);
  }
}

function roleAdvice(setting: string): string {
  return `run in Postgres, as the pooler drops it: alter role … set ${setting}`;
}

async function readTimeouts(sql: Sql): Promise<{ statement: string; idle: string }> {
  const [row] = await sql<{ statement: string; idle: string }[]>`
    select
      current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle`;
  return row ?? { statement: "", idle: "" };
}

/**
 * Returns whether statements that a connection has prepared work on all connections of the pooler.
 * Both prepare one where the pooler puts them; then each holds a connection that the other has not.
 */
async function isPrepared(first: Database, second: Database): Promise<boolean> {
  let runs = 0;
  const run = async (sql: Sql): Promise<void> => {
    runs += 1;
    await sql`select ${"prepared"}::text`;
  };
  await run(first.sql());
  await run(second.sql());
  try {
    await first.transaction(async (sql) => {
      await run(sql);
      await second.transaction(run);
    });
    // A transaction whose statement is unknown there is run again, and prepares it anew.
    return runs === 4;
  } catch {
    return false;
  }
}

/** Returns whether a connection hears a notification. */
async function isHeard(listening: Database, notifying: Database): Promise<boolean> {
  const heard = Promise.withResolvers<boolean>();
  const notify = () => {
    notifying.sql()`select pg_notify(${channel}, '')`.catch(() => heard.resolve(false));
  };
  listening.listen(channel, () => heard.resolve(true), notify);
  return heard.promise;
}

/** Returns false without an answer, as from a pooler with only one connection. */
function inTime(answer: Promise<boolean>): Promise<boolean> {
  return Promise.race([answer, delay(answerMsMax, false)]);
}
