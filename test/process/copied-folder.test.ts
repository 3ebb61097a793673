// A data folder that is copied by the command of docs/operations.md holds its events, also where
// `postgres` in it is a link, as in root's folders that are closed to the account of Postgres.

import { execFile } from "node:child_process";
import { chmod, lstat, readFile, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import {
  givenADataFolder,
  givenAnEmptyDataFolder,
  readCredentials,
  startOnce,
} from "../support/process.ts";
import { sendEvents, statusOfEvent } from "../support/restore.ts";

const page = join(import.meta.dirname, "../../docs/operations.md");

/** Returns the command of the page that copies a folder. */
async function readCopyCommand(): Promise<string> {
  const found = /copied whole, with its owners \(`(cp -\w+)`\)/.exec(await readFile(page, "utf8"));
  return found?.[1] ?? "";
}

/** Returns a data folder whose Postgres is in another folder, and that folder. */
async function givenALinkedFolder() {
  const folder = await givenADataFolder();
  const elsewhere = await givenAnEmptyDataFolder();
  await chmod(elsewhere, 0o711);
  await rename(join(folder, "postgres"), join(elsewhere, "postgres"));
  await symlink(join(elsewhere, "postgres"), join(folder, "postgres"));
  return { folder, elsewhere };
}

async function startWithAccess(folder: string) {
  const service = await startOnce(folder, "--workflows", "off");
  const { url, project_api_key: key } = await readCredentials(folder);
  return { service, access: { url, key } };
}

test("a copy holds the events, not a link to them", { timeout: 300_000 }, async () => {
  const { folder, elsewhere } = await givenALinkedFolder();
  const { service, access } = await startWithAccess(folder);
  const [eventId] = await sendEvents(access, 1);
  service.kill("SIGTERM");
  await service.ended();
  const copy = await givenAnEmptyDataFolder();

  await promisify(execFile)("sh", ["-euc", `${await readCopyCommand()} ${folder}/. ${copy}`]);

  expect((await lstat(join(copy, "postgres"))).isDirectory()).toBe(true);
  await rm(join(elsewhere, "postgres"), { recursive: true });
  expect(await statusOfEvent((await startWithAccess(copy)).access, eventId)).toBe(200);
});
