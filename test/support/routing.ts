// Whether statements on projects' data are routed to one shard, where tests run on Citus.

import type { Database } from "../../src/postgres/database.ts";
import {
  createSentStatements,
  explainAll,
  recordStatements,
  type SentStatements,
} from "./explained.ts";

/** Statements of many projects together, by a text in them. Source: docs/clusters.md, "Citus". */
const ofManyProjects: readonly string[] = [
  "from evaluation_chunks where ended_at is null and backfill_id is null group by project_id",
  "from evaluation_chunks where ended_at is null and handed_at is null order by",
  "from evaluation_chunks where ended_at is null and handed_at is not null and backfill_id is null",
  "from budget_spend where period_start = any($1::timestamptz[]) and true order by project_id",
  "from archived_events where project_id = any($2::uuid[])) as done",
];

const watched = new WeakMap<Database, SentStatements>();

/** Returns a test's database, whose statements `checkRouting` looks at on Citus. */
export function watchRouting(database: Database): Database {
  if (process.env["CITUS_URL"] === undefined) return database;
  const sent = watched.get(database) ?? createSentStatements();
  watched.set(database, sent);
  return recordStatements(database, sent);
}

/** Fails and names the statements that went to several shards. */
export async function checkRouting(database: Database): Promise<void> {
  const sent = watched.get(database);
  if (!sent) return;
  const plans = await explainAll(database.sql(), sent);
  const wide = plans
    .filter(({ shards }) => shards.some((count) => count > 1))
    .map(({ statement }) => statement.replaceAll(/\s+/g, " "))
    .filter((statement) => !ofManyProjects.some((text) => statement.includes(text)));
  if (wide.length > 0) throw new Error(`to several shards:\n${wide.join("\n")}`);
}
