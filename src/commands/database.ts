// Database of a short command: DATABASE_URL, or the database of a data folder, whether its service
// is running or not.

import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import type { Config } from "../config.ts";
import { findHolder, lockDataFolder } from "../embedded/data-folder.ts";
import { findRunningPostgres, startPostgres } from "../embedded/postgres.ts";
import type { Database } from "../postgres/database.ts";
import { codeOf } from "../base/error-code.ts";
import { findDatabaseFault } from "../postgres/faults.ts";
import { connectDatabase } from "./connect.ts";
import { interruptibly, orAborted } from "./interruption.ts";
import { createProgress } from "./progress.ts";

/** Time that a starting service has until its Postgres answers. */
const startingTimeoutMs = 30_000;

/**
 * Runs `work` on the database. Afterwards the Postgres runs or is stopped as before, also after an
 * interruption by SIGTERM or SIGINT.
 */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  return interruptibly(async (signal) => {
    if (config.databaseUrl !== undefined) return withUrl(config.databaseUrl, signal, work);
    return withFolder(resolve(config.dataFolder), signal, work);
  });
}

async function withFolder<T>(
  folder: string,
  signal: AbortSignal,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  await assertHasData(folder);
  const lock = await lockDataFolder(folder);
  if (!lock) return withUrl(await orAborted(waitForRunning(folder), signal), signal, work);
  try {
    const server = await startPostgres({ folder, signal });
    try {
      return await withUrl(server.url, signal, work);
    } finally {
      await server.stop();
    }
  } finally {
    await lock.release();
  }
}

/**
 * Runs `work` on the database of a URL. Waits up to a minute until it answers, and says so on
 * standard error. Throws OperatorError where the database fails or refuses the work.
 */
export async function withUrl<T>(
  url: string,
  signal: AbortSignal,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const progress = createProgress((line) => process.stderr.write(`${line}\n`));
  const options = { signal, progress };
  const connecting = connectDatabase(url, { databaseConnectionsMax: 2 }, options);
  const database = await connecting.finally(() => progress.done());
  try {
    return await orAborted(work(database), signal).catch(explainFault);
  } finally {
    await database.close();
  }
}

/** insufficient_privilege. */
const notAllowedCode = "42501";

/** Rethrows a fault of the database, or a right that its user lacks, as one of the operator's. */
export function explainFault(error: unknown): never {
  if (findDatabaseFault(error) === undefined && codeOf(error) !== notAllowedCode) throw error;
  throw new OperatorError(`the database failed: ${(error as Error).message}`, { cause: error });
}

async function assertHasData(folder: string): Promise<void> {
  try {
    await stat(join(folder, "postgres"));
  } catch (cause) {
    throw new OperatorError(
      `${folder} holds no waggle data: name its folder with --data, set DATABASE_URL, ` +
        "or run waggle start first",
      { cause },
    );
  }
}

async function waitForRunning(folder: string): Promise<string> {
  const deadline = Date.now() + startingTimeoutMs;
  for (;;) {
    const url = await findRunningPostgres(folder);
    if (url !== undefined) return url;
    if (Date.now() > deadline) {
      const holder = await findHolder(folder);
      throw new OperatorError(
        `the Postgres of ${folder} cannot be reached (its service: pid ${holder?.pid ?? "?"}); ` +
          "run this as the user who started it",
      );
    }
    await delay(100);
  }
}
