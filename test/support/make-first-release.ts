// Makes test/fixtures/first-release: runs the service of the first release on an empty data folder,
// sends it data of every kind over HTTP, and writes its database as SQL. README.md there has the
// commands.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Credentials } from "../../src/commands/credentials.ts";
import { findRunningPostgres } from "../../src/embedded/postgres.ts";
import { openDatabase, type Sql } from "../../src/postgres/database.ts";

const [releaseFolder] = process.argv.slice(2);
if (releaseFolder === undefined) throw new Error("name the folder of the release's checkout");
const here = join(import.meta.dirname, "../fixtures/first-release");
const sessions = 24;
const eventsPerSession = 16;

type Send = (method: string, path: string, body?: unknown, key?: string) => Promise<Answer>;
type Answer = {
  readonly event_id: string;
  readonly data: { readonly credential_id: string; readonly [id: string]: string };
};

const folder = mkdtempSync(join(tmpdir(), "waggle-first-"));
const words = ["src/main.ts", "start", "--data", folder, "--port", "0", "--operator-port", "0"];
const service = spawn(process.execPath, words, { cwd: releaseFolder, stdio: "pipe" });
let output = "";
for (const stream of [service.stdout, service.stderr]) {
  stream.on("data", (bytes: Buffer) => {
    output += String(bytes);
  });
}
const ended = new Promise((settle) => service.once("exit", settle));
try {
  await until("the service is ready", () => output.includes("waggle is ready on"));
  const credentials = readJson("credentials.json") as Credentials;
  const send = senderTo(credentials);
  await sendEvents(send);
  const revoked_key = await administer(send, credentials);
  const url = (await findRunningPostgres(folder)) ?? "";
  const database = openDatabase({ url, connectionsMax: 1 });
  await archiveAProject(send, credentials, database.sql());
  const dump = await dumpDatabase(database.sql());
  await database.close();
  writeFileSync(join(here, "database.sql.gz"), gzipSync(dump, { level: 9 }));
  const { encryption_keys } = readJson("encryption-key.json");
  const secrets = { ...credentials, encryption_keys, revoked_key };
  writeFileSync(join(here, "credentials.json"), `${JSON.stringify(secrets, null, 2)}\n`);
} catch (error) {
  console.error(output.slice(-1_000));
  throw error;
} finally {
  service.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

function readJson(name: string): Partial<Credentials> & Readonly<Record<string, string>> {
  const text = readFileSync(join(folder, name), "utf8");
  return JSON.parse(text) as ReturnType<typeof readJson>;
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 300_000;
  while (Date.now() < endMs) {
    if (await isSo()) return;
    await delay(200);
  }
  throw new Error(`it never came that ${what}`);
}

function senderTo({ url, project_api_key: projectKey }: Credentials): Send {
  return async (method, path, body, key = projectKey) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(method === "POST" && path === "/events" && { "idempotency-key": `key of ${path}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text || "{}") as Answer;
  };
}

/** Sends sessions of events of all types, with updates, feedback, spans and older clients' logs. */
async function sendEvents(send: Send): Promise<void> {
  for (let index = 0; index < sessions; index += 1) {
    const session_id = `visit-${index}`;
    const user_properties = {
      plan: index % 3 === 0 ? "free" : "paid",
      user_id: `user ${index % 7}`,
    };
    const session = { session_id, session_name: `Visit ${index}`, source: "upgrade" };
    const metadata = { region: index % 2 === 0 ? "eu" : "us", "a.b": "dotted" };
    await send("POST", "/session/start", { session: { ...session, metadata, user_properties } });
    const events = Array.from({ length: eventsPerSession }, (_, at) => toEvent(index, at));
    await send("POST", "/events/batch", { events });
    const answer = `answer-${index}-1`;
    await send("PUT", "/events", {
      event_id: answer,
      metrics: { quality: index / 10, label: index % 2 === 0 ? "good" : "bad" },
      feedback: { rating: (index % 5) + 1 },
    });
    await send("POST", "/feedback", {
      task: "answer",
      generation_id: answer,
      feedback_json: { rating: 5, comment: "To the point" },
      ground_truth: `Place ${index}`,
    });
  }
  await send("POST", "/events", { event: { ...toEvent(0, 2), event_id: "with-a-key" } });
  await send("POST", "/v1/traces", { resourceSpans: [{ scopeSpans: [{ spans: [aSpan()] }] }] });
  await send("POST", "/events/model", {
    model_event: {
      event_id: "of-an-older-client",
      session_id: "visit-0",
      source: "upgrade",
      model: "gpt-4o",
      provider: "openai",
      duration: 42,
      cost: 0.0001,
      messages: [{ role: "user", content: "Hi" }],
      response: { role: "assistant", content: "Hello" },
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
  });
  await send("PUT", "/session/visit-1", { error: "left", output: { ended: true } });
  for (const path of ["/v1/events/answer-2-5", "/v1/sessions/visit-3"]) await send("DELETE", path);
}

function toEvent(session: number, index: number) {
  const start_time = 1_760_000_000_000 + session * 3_600_000 + index * 1_000;
  const type = ["chain", "model", "tool"][index % 3] ?? "tool";
  const isModel = type === "model";
  const id = `answer-${session}-${index}`;
  return {
    event_id: id,
    session_id: `visit-${session}`,
    event_type: type,
    source: "upgrade",
    ...(index > 0 && { parent_id: `answer-${session}-${Math.floor(index / 3)}` }),
    event_name: `step ${index % 4}`,
    start_time,
    end_time: start_time + 250 + index,
    ...(isModel && { config: { model: "gpt-4o", provider: "openai", temperature: 0.5 } }),
    inputs: {
      question: `Where is place ${session}?`,
      "null \u0000 text": "a\u0000b",
      n: [1, null],
    },
    outputs: { content: `Place ${session} is ${index} km away. 🐝` },
    metadata: {
      run: `run-${session % 4}`,
      step: index,
      ...(isModel && { total_tokens: 10 + index, prompt_tokens: 10, completion_tokens: index }),
      ...(isModel && index % 2 === 0 && { cost: 0.001 }),
    },
    ...(index % 5 === 0 && { error: "a time-out" }),
    ...(index % 4 === 0 && { metrics: { accuracy: index / 16, passed: index % 8 === 0 } }),
    ...(index % 6 === 0 && { feedback: { rating: 3 }, user_properties: { plan: "free" } }),
  };
}

function aSpan() {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  return {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    name: "chat",
    startTimeUnixNano: "1760000000000000000",
    endTimeUnixNano: "1760000001000000000",
    attributes: [
      text("gen_ai.operation.name", "chat"),
      text("gen_ai.request.model", "gpt-4o"),
      { key: "gen_ai.usage.total_tokens", value: { intValue: "12" } },
    ],
  };
}

/**
 * Makes keys of each kind, a policy, a member, a credential and an alias. Returns a revoked key.
 */
async function administer(send: Send, credentials: Credentials): Promise<string | undefined> {
  const { project_id: projectId, org_id: orgId, data_plane_api_key: key } = credentials;
  const control = credentials.control_plane_api_key;
  for (const kind of ["project", "ingestion", "ro_project"]) {
    await send("POST", `/v1/projects/${projectId}/${kind}_api_keys`, { name: `a ${kind}` }, key);
  }
  const path = `/v1/projects/${projectId}/ingestion_api_keys`;
  const { data } = await send("POST", path, { name: "revoked" }, key);
  await send("DELETE", `${path}/${data["key_id"]}`, undefined, key);
  await send("PUT", `/v1/orgs/${orgId}/api_key_policy`, { permissions: ["*"] }, control);
  const member = { email: "ada@example.com", role: "org_member" };
  await send("POST", `/v1/orgs/${orgId}/members`, member, control);
  const secret = { name: "mine", provider: "openai", api_key: "a-secret-of-the-first-release" };
  await send("POST", `/v1/projects/${projectId}/provider_credentials`, secret, control);
  const alias = `/v1/projects/${projectId}/model_aliases/fast`;
  await send("PUT", alias, { targets: ["mine/gpt-4o"] }, control);
  return data["key_value"];
}

/** Archives a second project and waits until its events have been moved. */
async function archiveAProject(send: Send, credentials: Credentials, sql: Sql): Promise<void> {
  const { workspace_id, control_plane_api_key: control, data_plane_api_key: key } = credentials;
  const path = `/v1/workspaces/${workspace_id}/projects`;
  const { data } = await send("POST", path, { name: "old" }, control);
  const projectId = data["project_id"] ?? data["id"];
  const keys = `/v1/projects/${projectId}/project_api_keys`;
  const made = await send("POST", keys, { name: "old" }, key);
  const events = [0, 1, 2].map((index) => toEvent(99, index));
  await send("POST", "/events/batch", { events }, made.data["key_value"]);
  await send("DELETE", `/v1/projects/${projectId}`, undefined, control);
  await until("the events are moved", async () => {
    const [row] = await sql<
      { moved: number }[]
    >`select count(*)::int as moved from archived_events`;
    return (row?.moved ?? 0) > events.length;
  });
}

/** Returns the schema, as the release's migrations make it, and all rows, as SQL. */
async function dumpDatabase(sql: Sql): Promise<string> {
  const migrations = join(releaseFolder ?? "", "src/postgres/migrations");
  const names = readdirSync(migrations)
    .filter((name) => name.endsWith(".sql"))
    .toSorted();
  const tables = await sql<{ name: string; columns: string[]; identity: string | null }[]>`
    select
      table_name as name,
      array_agg(column_name::text order by ordinal_position) as columns,
      max(column_name) filter (where is_identity = 'YES') as identity
    from information_schema.columns
    where table_schema = 'public' and is_generated = 'NEVER'
      -- Names the machine.
      and table_name <> 'servers'
      and table_name not in (select inhrelid::regclass::text from pg_inherits)
    group by table_name
    order by table_name`;
  const parts = [
    ...names.map((name) => readFileSync(join(migrations, name), "utf8")),
    "create table schema_migrations (",
    "  version integer primary key,",
    "  name text not null,",
    "  applied_at timestamptz not null default now()",
    ");",
    // Triggers and references to rows that follow.
    "set session_replication_role = replica;",
  ];
  for (const { name, columns, identity } of tables) {
    const list = columns.map((column) => `"${column}"`).join(", ");
    const values = columns.map((column) => `quote_nullable("${column}"::text)`).join(", ");
    const rows = await sql.unsafe<{ row: string }[]>(
      `select '(' || concat_ws(', ', ${values}) || ')' as row
      from "${name}"
      order by "${name}"::text`,
    );
    if (rows.length === 0) continue;
    parts.push(`insert into "${name}" (${list}) overriding system value values`);
    parts.push(`${rows.map(({ row }) => row).join(",\n")};`);
    if (identity === null) continue;
    const sequence = `pg_get_serial_sequence('${name}', '${identity}')`;
    parts.push(`select setval(${sequence}, (select max("${identity}") from "${name}"));`);
  }
  parts.push("set session_replication_role = origin;");
  return `${parts.join("\n")}\n`;
}
