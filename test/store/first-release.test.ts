// A database that the first release has filled, under today's migrations and today's service: they
// change no row of it, and it works on. test/fixtures/first-release/README.md says how it was made.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { createAudit } from "../../src/access/audit/audit.ts";
import type { Credentials } from "../../src/commands/credentials.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import { openDatabase, type Sql } from "../../src/postgres/database.ts";
import { getMigrationState, migrate } from "../../src/postgres/migrate.ts";
import { parseEncryptionKeys } from "../../src/setting-parsers.ts";
import { createTestCredentials } from "../support/credentials.ts";
import { createDatabase, dropDatabase } from "../support/database.ts";
import { scopeOfProject } from "../support/keys.ts";
import { listWrongTotals } from "../support/load.ts";
import { startService } from "../support/service.ts";

const fixture = new URL("../fixtures/first-release/", import.meta.url);
const credentials = JSON.parse(
  readFileSync(new URL("credentials.json", fixture), "utf8"),
) as Credentials & { readonly encryption_keys: string; readonly revoked_key: string };

const url = await createDatabase("template1");
const database = openDatabase({ url });
const dump = gunzipSync(readFileSync(new URL("database.sql.gz", fixture)));
await database.transaction((sql) => sql.unsafe(dump.toString()));
expect((await getMigrationState(database)).current).toBe(14);
/** Tables with their columns in the first release, without the list of migrations. */
const tables = await listTables(database.sql());
const before = await readFingerprints(database.sql());
await migrate(database);
const after = await readFingerprints(database.sql());
const drop = async () => {
  await database.close();
  await dropDatabase(url);
};
const service = await startService({}, { own: { url, database, drop } });
afterAll(() => service.stop());

type Table = { readonly name: string; readonly columns: readonly string[] };
type Fingerprint = { readonly name: string; readonly rows: number; readonly hash: string };

function listTables(sql: Sql): Promise<readonly Table[]> {
  return sql<Table[]>`
    select table_name as name, array_agg(column_name::text) as columns
    from information_schema.columns
    where table_schema = 'public' and table_name <> 'schema_migrations'
      and table_name not in (select inhrelid::regclass::text from pg_inherits)
      and table_name not in (select viewname from pg_views)
    group by table_name
    order by table_name`;
}

/** Returns the number and md5 of all rows of the first release, by their columns at that time. */
async function readFingerprints(sql: Sql): Promise<readonly Fingerprint[]> {
  const found: Fingerprint[] = [];
  for (const { name, columns } of tables) {
    const text = sql`row(${sql(columns)})::text`;
    const [row] = await sql<Omit<Fingerprint, "name">[]>`
      select count(*)::int as rows, md5(string_agg(${text}, '' order by ${text})) as hash
      from ${sql(name)}`;
    if (row) found.push({ name, ...row });
  }
  return found;
}

async function call(method: string, path: string, body?: unknown, key?: string) {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      authorization: `Bearer ${key ?? credentials.project_api_key}`,
      "content-type": "application/json",
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("a database of the first release", () => {
  test("keeps every row through the migrations", () => {
    const rowsOf = Object.fromEntries(before.map(({ name, rows }) => [name, rows]));
    const want = { events: 394, archived_events: 4, feedback: 23, session_totals: 24, api_keys: 9 };

    expect(rowsOf).toMatchObject(want);
    expect(after).toEqual(before);
  });

  test("has right totals and an unbroken audit log", async () => {
    const { database } = service;

    const faults = [];
    for await (const { fault } of createAudit(database).verify(undefined)) faults.push(fault);

    expect(await listWrongTotals(database)).toEqual([]);
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  test("has metrics, feedback and deletions as they were", async () => {
    const event = await call("GET", "/v1/events/answer-4-1");
    const feedback = await call("GET", "/v1/feedback?generation_id=answer-4-1");

    expect(event).toMatchObject({
      status: 200,
      body: {
        event: {
          inputs: { question: "Where is place 4?", "null \u0000 text": "a\u0000b", n: [1, null] },
          metrics: { quality: 0.4, label: "good" },
          feedback: { rating: 5 },
        },
      },
    });
    expect(feedback).toMatchObject({
      status: 200,
      body: { data: [{ task: "answer", ground_truth: "Place 4" }] },
    });
    for (const path of ["/v1/events/answer-2-5", "/v1/sessions/visit-3"]) {
      expect((await call("GET", path)).status).toBe(404);
    }
  });

  test("is found by metadata", async () => {
    const filters = [{ field: "metadata.run", operator: "is", value: "run-1" }];

    const { body } = await call("POST", "/v1/events/export", { filters, limit: 1 });

    // Six sessions of sixteen events.
    expect(body).toMatchObject({ totalEvents: 96 });
  });

  test("admits its keys and opens its secrets", async () => {
    const { org_id: orgId, project_id: projectId, encryption_keys: texts } = credentials;
    const path = `/v1/orgs/${orgId}/virtual_dataplanes`;
    const keys = parseEncryptionKeys(texts);
    const place = { dataplaneId: credentials.dataplane_id, workspaceId: credentials.workspace_id };
    const local = { ...place, orgId, projectId: projectId as ProjectId, projectName: "demo" };
    const project = { ...scopeOfProject(local), ...local, clusterId: "default" };
    const stored = createTestCredentials(service.database, { keys }).credentials;

    const admitted = await call("GET", path, undefined, credentials.control_plane_api_key);
    const refused = await call("GET", "/v1/sessions", undefined, credentials.revoked_key);

    expect([admitted.status, refused.status]).toEqual([200, 404]);
    expect(await stored.connectionsFor(project)).toMatchObject([
      { name: "mine", secrets: { api_key: "a-secret-of-the-first-release" } },
    ]);
  });

  test("takes updates and new events", async () => {
    const added = { event_id: "new", session_id: "visit-5", event_type: "tool", source: "upgrade" };
    const event = { ...added, inputs: {}, metadata: { run: "run-new", total_tokens: 7 } };
    const update = { event_id: "answer-5-3", metadata: { total_tokens: 2, run: "run-new" } };

    const answers = [
      await call("POST", "/events", { event }),
      await call("PUT", "/events", update),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const filters = [{ field: "metadata.run", operator: "is", value: "run-new" }];
    const { body } = await call("POST", "/v1/events/export", { filters });
    expect(body).toMatchObject({ totalEvents: 2 });
    expect(await listWrongTotals(service.database)).toEqual([]);
  });
});
