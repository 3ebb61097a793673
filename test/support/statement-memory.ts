// Runs statements for a request, drops the request, and prints whether it is still in memory. A
// separate process, since Vitest reads the stack of every error. Arguments: URL of the database;
// `transaction`, or any other word for single statements.

import { setTimeout as delay } from "node:timers/promises";
import { openDatabase, type Sql } from "../../src/postgres/database.ts";

const [, , url = "", place = ""] = process.argv;
const database = openDatabase({ url });

// The driver's own statements, such as commit, keep the first transaction of the process.
await database.transaction((sql) => sql`select 1`);

async function runForARequest(): Promise<WeakRef<object>> {
  const request = { events: ["e".repeat(1_000)] };
  const count = (sql: Sql): Promise<unknown> => sql`select ${request.events.length}::int as count`;
  if (place === "transaction") await database.transaction(count);
  else await count(database.sql());
  return new WeakRef(request);
}

const reference = await runForARequest();
await delay(50);
globalThis.gc?.();
console.log(reference.deref() === undefined ? "forgotten" : "held");
await database.close();
