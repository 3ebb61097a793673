// Postgres' own time for the statements of a read. The service's code runs here on a connection
// that records its statements; each is explained with ANALYZE and SERIALIZE, which converts rows to
// text as for a client but does not send them.

import postgres from "postgres";
import type { Database, Sql } from "../../src/postgres/database.ts";
import { createTurns } from "../../src/postgres/turns.ts";
import { median } from "./table.ts";

type Statement = { readonly text: string; readonly parameters: readonly unknown[] };

type Plan = { readonly "Planning Time": number; readonly "Execution Time": number };

export type Explainer = {
  /** Returns the milliseconds of all statements of `read`, each the median of `runs` runs. */
  explain(read: (database: Database) => Promise<unknown>, runs: number): Promise<number>;
  close(): Promise<void>;
};

const oneTurn = { places: 1, placesPerOwner: 1, waitingMax: 1, waitMsMax: 1_000 };

export function createExplainer(url: string): Explainer {
  const target = new URL(url);
  const host = target.searchParams.get("host") ?? "";
  target.searchParams.delete("host");
  let noted: Statement[] | undefined;
  const pool = postgres(target.toString(), {
    host,
    max: 2,
    debug: (_connection: number, text: string, parameters: unknown[]) => {
      noted?.push({ text, parameters });
    },
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
  });
  const database: Database = {
    sql: () => pool as Sql,
    transaction: async (work) => work(pool as Sql),
    inTurn: async (work) => work(pool as Sql),
    readInTurn: async (_owner, work) => work(pool as Sql),
    step: async (work) => work(pool as Sql),
    isInTransaction: () => false,
    afterCommit: (effect) => effect(),
    reader: () => async (statement) => statement(pool as Sql),
    on: () => database,
    turns: () => createTurns({ ...oneTurn, what: "transactions" }),
    listen: () => undefined,
    close: () => pool.end(),
  };

  return {
    async explain(read, runs) {
      noted = [];
      await read(database);
      const statements = noted;
      noted = undefined;
      let total = 0;
      for (const { text, parameters } of statements) {
        // The service's own `explain`, which estimates a total, takes the time of planning only.
        if (text.trimStart().startsWith("explain")) continue;
        const times: number[] = [];
        for (let run = 0; run < runs; run += 1) {
          const [row] = await pool.unsafe<{ "QUERY PLAN": readonly Plan[] }[]>(
            `explain (analyze, serialize text, timing off, format json) ${text}`,
            parameters as never[],
          );
          const [plan] = row?.["QUERY PLAN"] ?? [];
          if (plan === undefined) throw new Error(`no plan of ${text}`);
          times.push(plan["Planning Time"] + plan["Execution Time"]);
        }
        total += median(times);
      }
      return total;
    },
    close: () => pool.end(),
  };
}
