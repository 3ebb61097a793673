// A backup with the log of changes since restores every event up to a point in time, and none after
// it; with the encryption key, also the secrets of providers. The commands, settings and queries
// are those of docs/operations.md.
//
// The embedded Postgres has no pg_basebackup, and that of an older version refuses it: there the
// two functions of Postgres take the backup, which the page has for that case.

import { existsSync, readdirSync } from "node:fs";
import { appendFile, copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { credentialsPath } from "../../src/commands/credentials.ts";
import { encryptionKeyPath } from "../../src/commands/encryption-keys.ts";
import { type Cluster, databaseUser, locateCluster } from "../../src/embedded/cluster.ts";
import { findRunningPostgres } from "../../src/embedded/postgres.ts";
import { exitOf } from "../../src/embedded/processes.ts";
import { openDatabase, type Sql } from "../../src/postgres/database.ts";
import { skipWhereMissing } from "../clients/environment.ts";
import { copyCluster } from "../support/base-backup.ts";
import { type StandIn, startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { replace } from "../support/page-blocks.ts";
import { launchPostgres, type PostgresServer } from "../support/postgres-server.ts";
import {
  givenADataFolder,
  givenAnEmptyDataFolder,
  readCredentials,
  run,
  startOnce,
} from "../support/process.ts";
import {
  type Access,
  archiveLog,
  ask,
  call,
  findLastArchived,
  makeFolder,
  own,
  readBackupBlocks,
  runAs,
  sendEvents,
  statusOfEvent,
} from "../support/restore.ts";

const pageTime = "2026-11-28 09:00:00+00";
const pageBackup = "/backup/2026-11-28";
const secret = "sk-that-is-restored";

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
    sql: database.sql(),
    url,
    stop: () => end("SIGTERM", "SIGINT"),
    async kill() {
      await end("SIGKILL", "SIGKILL");
    },
  };
}

async function givenAnOriginal({ programs }: Kind): Promise<string> {
  if (programs === undefined) return givenADataFolder();
  const folder = await givenAnEmptyDataFolder();
  const cluster = await locateCluster(folder);
  await makeFolder(cluster, cluster.folder);
  const words = `-D ${cluster.folder} -U ${databaseUser} --auth trust --encoding UTF8 --locale C`;
  await runAs(cluster, `${join(programs, "initdb")} --no-sync ${words}`, {});
  return folder;
}

/** Returns what a data folder's service takes; its port changes with each start. */
async function accessTo(folder: string): Promise<Access> {
  const { url, project_api_key: key } = await readCredentials(folder);
  return { url, key };
}

/** Stores a secret of a provider, whose model `callModel` then calls. */
async function storeSecret(folder: string, { urls }: StandIn): Promise<void> {
  const access = await accessTo(folder);
  const { project_id: projectId } = await readCredentials(folder);
  const provider = { provider: "openai_compatible", name: "ours" };
  const body = { ...provider, base_url: urls.openai_compatible, api_key: secret };
  const made = await call(access, "POST", `/v1/projects/${projectId}/provider_credentials`, body);
  expect(made).toMatchObject({ status: 200 });
}

async function callModel(folder: string) {
  const body = { model: "ours/some", messages: [{ role: "user", content: "hi" }] };
  return call(await accessTo(folder), "POST", "/v1/chat/completions", body);
}

type Blocks = ReturnType<typeof readBackupBlocks>;

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
  await makeFolder(cluster, target);
  await runAs(cluster, script, { PGDATA: target });
  await copyFile(credentials, credentialsPath(folder));
  return folder;
}

async function checkRestore(kind: Kind): Promise<void> {
  const blocks = readBackupBlocks();
  const standIn = await startOpenAiStandIn();
  onTestFinished(() => standIn.stop());
  const folder = await givenAnOriginal(kind);
  const cluster = await locateCluster(folder);
  const store = await givenAnEmptyDataFolder();
  await own(cluster, store);
  for (const name of ["archive", "backup"]) await makeFolder(cluster, join(store, name));
  const archive = { "/archive/": `${store}/archive/` };
  await appendFile(join(cluster.folder, "postgresql.conf"), replace(blocks.archive, archive));
  const original = await start(kind, folder, standIn);

  const access = await accessTo(folder);
  await sendEvents(access, 200);
  const backup = await backUp(kind, blocks, { cluster, store, running: original });
  await sendEvents(access, 300);
  await storeSecret(folder, standIn);
  const wanted = await ask(original.sql, blocks.fingerprint);
  const time = await ask(original.sql, blocks.time);
  const [lost] = await sendEvents(access, 50);
  await archiveLog(original.sql, blocks.sendLog);
  await original.kill();

  const replacements = { ...archive, [pageBackup]: backup, [pageTime]: time };
  const script = replace(blocks.restore, replacements);
  const copy = await restoreTo(cluster, script, credentialsPath(folder));
  const keyless = await start(kind, copy, standIn);
  expect(await ask(keyless.sql, blocks.fingerprint)).toBe(wanted);
  // Each of the batches is a session, which is an event too.
  expect(wanted).toMatch(/^502\|-?\d{15,}$/);
  expect(await statusOfEvent(await accessTo(copy), lost)).toBe(404);
  // The copy leaves the archive of the original alone.
  expect(await findLastArchived(keyless.sql)).toBe("");

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
