// A backup with the log of changes since restores every event up to a point in time, and none after
// it; with the encryption key, also the secrets of providers. The commands, settings and queries
// are those of docs/operations.md.
//
// The embedded Postgres has no pg_basebackup, and that of an older version refuses it: there the
// two functions of Postgres take the backup, which the page has for that case.

import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { appendFile, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { credentialsPath } from "../../src/commands/credentials.ts";
import { encryptionKeyPath } from "../../src/commands/encryption-keys.ts";
import { type Cluster, databaseUser, locateCluster } from "../../src/embedded/cluster.ts";
import { findRunningPostgres } from "../../src/embedded/postgres.ts";
import { exitOf } from "../../src/embedded/processes.ts";
import { openDatabase, type Sql } from "../../src/postgres/database.ts";
import { skipWhereMissing } from "../clients/environment.ts";
import { copyCluster } from "../support/base-backup.ts";
import { type StandIn, startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { patience } from "../support/patience.ts";
import { launchPostgres, type PostgresServer } from "../support/postgres-server.ts";
import {
  givenADataFolder,
  givenAnEmptyDataFolder,
  readCredentials,
  run,
  startOnce,
} from "../support/process.ts";

const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
const pageTime = "2026-11-28 09:00:00+00";
const pageBackup = "/backup/2026-11-28";
const secret = "sk-that-is-restored";

/** Returns the blocks of the page's section in their order, without indentation. */
function readBlocks() {
  const section = /^## Backup and restore$(.*?)(?=^## |$(?![^]))/ms.exec(page)?.[1] ?? "";
  const found = [...section.matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)];
  const languages = found.map(([, , language]) => language);
  expect(languages).toEqual(["ini", "sh", "sql", "sql", "sql", "sql", "sh"]);
  const [archive = "", backup = "", begin = "", end = "", note = "", sendLog = "", restore = ""] =
    found.map(([, indent = "", , text = ""]) =>
      text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    );
  const [fingerprint = "", time = ""] = note.split("\n");
  return { archive, backup, begin, end, fingerprint, time, sendLog, restore };
}

/** Replaces what the page names by what it stands for; all of it must be there. */
function replace(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((replaced, [name, value]) => {
    expect(replaced).toContain(name);
    return replaced.replaceAll(name, value);
  }, text);
}

/** A kind of Postgres, in `postgres` of the service's data folder. */
type Kind = {
  /** Programs of a Postgres that runs apart from the service; undefined for the embedded one. */
  readonly programs: string | undefined;
};

type Running = {
  /** A single session. */
  readonly sql: Sql;
  readonly url: string;
  /** Ends the service and its Postgres in good order; returns what the service printed. */
  stop(): Promise<string>;
  /** Ends both without a word to anyone. */
  kill(): Promise<void>;
};

async function start({ programs }: Kind, folder: string, standIn: StandIn): Promise<Running> {
  const flags = ["--provider-private-hosts", new URL(standIn.url).host];
  let server: PostgresServer | undefined;
  if (programs !== undefined) {
    server = await launchPostgres(await locateCluster(folder), join(programs, "postgres"));
    flags.push("--database-url", server.url);
  }
  const service = await startOnce(folder, ...flags);
  const url = server?.url ?? (await findRunningPostgres(folder)) ?? "";
  const database = openDatabase({ url, connectionsMax: 1 });
  onTestFinished(() => database.close());
  const end = async (ofService: NodeJS.Signals, ofServer: NodeJS.Signals): Promise<string> => {
    service.kill(ofService);
    const { output } = await service.ended();
    server?.child.kill(ofServer);
    if (server) await exitOf(server.child);
    return output;
  };
  return {
    ...{ sql: database.sql(), url },
    stop: () => end("SIGTERM", "SIGINT"),
    async kill() {
      await end("SIGKILL", "SIGKILL");
    },
  };
}

/** Runs commands of the page as the account of a cluster. */
async function runAs({ account }: Cluster, script: string, env: object): Promise<void> {
  const options = { ...account, cwd: "/", env: { ...process.env, ...env } };
  await promisify(execFile)("sh", ["-euc", script], options);
}

/** Gives a folder and all in it to the account of a cluster. */
async function own({ account }: Cluster, path: string): Promise<void> {
  if (!account) return;
  await promisify(execFile)("chown", ["-R", `${account.uid}:${account.gid}`, path]);
}

async function makeFolder(path: string): Promise<string> {
  await mkdir(path, { mode: 0o700 });
  return path;
}

async function givenAnOriginal({ programs }: Kind): Promise<string> {
  if (programs === undefined) return givenADataFolder();
  const folder = await givenAnEmptyDataFolder();
  const cluster = await locateCluster(folder);
  await own(cluster, await makeFolder(cluster.folder));
  const words = `-D ${cluster.folder} -U ${databaseUser} --auth trust --encoding UTF8 --locale C`;
  await runAs(cluster, `${join(programs, "initdb")} --no-sync ${words}`, {});
  return folder;
}

type Answer = { readonly status: number; readonly text: string };

async function call(folder: string, method: string, path: string, body?: object): Promise<Answer> {
  const { url, project_api_key: key } = await readCredentials(folder);
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Sends a batch of events, which is acknowledged. */
async function sendEvents(folder: string, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => createUuid());
  const common = { event_type: "tool", source: "restore", session_id: createUuid(), inputs: {} };
  const events = ids.map((event_id) => ({ ...common, event_id }));
  expect(await call(folder, "POST", "/events/batch", { events })).toMatchObject({ status: 200 });
  return ids;
}

/** Stores a secret of a provider, whose model `callModel` then calls. */
async function storeSecret(folder: string, { urls }: StandIn): Promise<void> {
  const { project_id: projectId } = await readCredentials(folder);
  const provider = { provider: "openai_compatible", name: "ours" };
  const body = { ...provider, base_url: urls.openai_compatible, api_key: secret };
  const made = await call(folder, "POST", `/v1/projects/${projectId}/provider_credentials`, body);
  expect(made).toMatchObject({ status: 200 });
}

function callModel(folder: string): Promise<Answer> {
  const messages = [{ role: "user", content: "hi" }];
  return call(folder, "POST", "/v1/chat/completions", { model: "ours/some", messages });
}

/** Returns the only row of an answer as psql prints it, without rounding numbers. */
async function ask(sql: Sql, query: string): Promise<string> {
  const [row = []] = await sql.unsafe(query).simple().raw();
  return row.map(String).join("|");
}

type Blocks = ReturnType<typeof readBlocks>;

/** Takes a base backup into `/backup` of the page, with the means that the kind has. */
async function backUp(
  { programs }: Kind,
  { begin, end, backup }: Blocks,
  { cluster, store, running }: { cluster: Cluster; store: string; running: Running },
): Promise<string> {
  const folder = join(store, "backup");
  if (programs !== undefined) {
    const PATH = `${programs}:${process.env["PATH"] ?? ""}`;
    const script = replace(backup, { "/backup/": `${folder}/` });
    await runAs(cluster, script, { PATH, DATABASE_URL: running.url });
    return join(folder, ...(await readdir(folder)));
  }
  const target = join(folder, "copy");
  await running.sql.unsafe(begin);
  await copyCluster(cluster.folder, target);
  await writeFile(join(target, "backup_label"), await ask(running.sql, end));
  await own(cluster, target);
  return target;
}

/** Restores a backup into a new data folder, without its keys. */
async function restoreTo(cluster: Cluster, script: string, credentials: string): Promise<string> {
  const folder = await givenAnEmptyDataFolder();
  const { folder: target } = await locateCluster(folder);
  await own(cluster, await makeFolder(target));
  await runAs(cluster, script, { PGDATA: target });
  await copyFile(credentials, credentialsPath(folder));
  return folder;
}

async function checkRestore(kind: Kind): Promise<void> {
  const blocks = readBlocks();
  const standIn = await startOpenAiStandIn();
  onTestFinished(() => standIn.stop());
  const folder = await givenAnOriginal(kind);
  const cluster = await locateCluster(folder);
  const store = await givenAnEmptyDataFolder();
  await own(cluster, store);
  for (const name of ["archive", "backup"]) await own(cluster, await makeFolder(join(store, name)));
  const archive = { "/archive/": `${store}/archive/` };
  await appendFile(join(cluster.folder, "postgresql.conf"), replace(blocks.archive, archive));
  const original = await start(kind, folder, standIn);

  await sendEvents(folder, 200);
  const backup = await backUp(kind, blocks, { cluster, store, running: original });
  await sendEvents(folder, 300);
  await storeSecret(folder, standIn);
  const wanted = await ask(original.sql, blocks.fingerprint);
  const time = await ask(original.sql, blocks.time);
  const [lost] = await sendEvents(folder, 50);
  const last = await ask(original.sql, blocks.sendLog);
  await expect.poll(() => ask(original.sql, lastArchived), patience).toSatisfy(isFrom(last));
  await original.kill();

  const replacements = { ...archive, [pageBackup]: backup, [pageTime]: time };
  const script = replace(blocks.restore, replacements);
  const copy = await restoreTo(cluster, script, credentialsPath(folder));
  const keyless = await start(kind, copy, standIn);
  expect(await ask(keyless.sql, blocks.fingerprint)).toBe(wanted);
  // Each of the batches is a session, which is an event too.
  expect(wanted).toMatch(/^502\|-?\d{15,}$/);
  expect((await call(copy, "GET", `/v1/events/${lost ?? ""}`)).status).toBe(404);
  // The copy leaves the archive of the original alone.
  expect(await ask(keyless.sql, lastArchived)).toBe("");

  const keyId = /local-[0-9a-f]{8}/.exec(await readFile(encryptionKeyPath(folder), "utf8"))?.[0];
  const missing = `no encryption key ${keyId} is configured`;
  const refused = await callModel(copy);
  expect(refused).toMatchObject({ status: 409 });
  expect(refused.text).toContain("CREDENTIAL_UNREADABLE");
  expect(refused.text).toContain(missing);
  expect(standIn.requests).toEqual([]);
  const doctor = await run("doctor", "--data", copy, "--database-url", keyless.url).ended();
  expect(doctor.output).toContain(`FAIL  stored secrets: under keys that are absent: ${keyId} (1)`);
  const log = await keyless.stop();
  expect(log).toContain(missing);
  expect(log).toContain(`"keys":"${keyId} (1)"`);

  await copyFile(encryptionKeyPath(folder), encryptionKeyPath(copy));
  await start(kind, copy, standIn);
  expect(await callModel(copy)).toMatchObject({ status: 200 });
  expect(standIn.requests.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${secret}`,
  ]);
}

const lastArchived = "select coalesce(last_archived_wal, '') from pg_stat_archiver";
const isFrom = (first: string) => (name: string) => name >= first;
const timeout = 300_000;

test("pg_basebackup and the log restore a point in time", { timeout }, async (context) => {
  const programs = findPrograms();
  const missing = "there is no Postgres with pg_basebackup below /usr/lib/postgresql";
  skipWhereMissing(context, programs === undefined ? missing : undefined);
  await checkRestore({ programs });
});

test("a copy of the embedded Postgres and the log do so too", { timeout }, async () => {
  await checkRestore({ programs: undefined });
});

/** Returns the folder of the programs of Debian's newest Postgres. */
function findPrograms(): string | undefined {
  const folder = "/usr/lib/postgresql";
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  const folders = versions.map((version) => join(folder, version, "bin")).toSorted();
  const needed = ["initdb", "postgres", "pg_basebackup"];
  return folders.findLast((bin) => needed.every((name) => existsSync(join(bin, name))));
}
