// `waggle start-once`, which `waggle start` supervises: the whole service on one machine without
// other programs.

import { resolve } from "node:path";
import { linkMinutes } from "../access/sign-in/links.ts";
import { OperatorError } from "../base/operator-error.ts";
import type { Logger } from "../base/logger.ts";
import { createCore } from "../compose/core.ts";
import type { Config } from "../config.ts";
import { type DataFolder, findHolder, lockDataFolder } from "../embedded/data-folder.ts";
import { startPostgres } from "../embedded/postgres.ts";
import { createMetrics } from "../observability/metrics.ts";
import { migrate } from "../postgres/migrate.ts";
import { type CommandContext, outliveOutput, print } from "./command.ts";
import { connectClusters, connectDatabase, divideConnections, type Workload } from "./connect.ts";
import { type CredentialsOutcome, credentialsPath, ensureCredentials } from "./credentials.ts";
import { explainFault } from "./database.ts";
import { ensureEncryptionKeys } from "./encryption-keys.ts";
import { type End, loggerOf, watchForEnd } from "./end.ts";
import { orAborted } from "./interruption.ts";
import { createProgress, type Progress } from "./progress.ts";
import { createSandbox } from "./sandbox.ts";
import { assertOperatorHost, startService } from "./service.ts";
import { createSignInLink } from "./sign-in-link.ts";
import { reportReady } from "./supervised.ts";
import { runWorkflows } from "./workflows.ts";

/** Starts all parts, prints the ready line, and stops all parts at a signal. */
export async function run({ config }: CommandContext): Promise<number> {
  const folder = resolve(config.dataFolder);
  const lock = await lockDataFolder(folder);
  if (!lock) throw new OperatorError(await describeHolder(folder));
  outliveOutput();
  // From here on, a signal stops the parts that were started in an orderly way.
  const logger = loggerOf(config);
  const end = watchForEnd(logger, { isSupervised: true });
  const started: (() => Promise<void>)[] = [() => lock.release()];
  try {
    await startAll({ config, folder, lock, logger, started, end });
    return await end.code;
  } catch (error) {
    // A failure after an interruption is not reported.
    if (end.signal.aborted) return await end.code;
    throw error;
  } finally {
    for (const stop of started.toReversed()) await stop();
  }
}

type StartAll = {
  readonly config: Config;
  readonly folder: string;
  readonly lock: DataFolder;
  readonly logger: Logger;
  /** Collects the stop function of each part as soon as the part runs. */
  readonly started: (() => Promise<void>)[];
  readonly end: End;
};

async function startAll(options: StartAll): Promise<void> {
  const { config, folder, lock, logger, started, end } = options;
  const { signal } = end;
  const progress = createProgress();
  try {
    await assertOperatorHost(config);
    await lock.announce({ pid: process.pid });
    const databaseUrl =
      config.databaseUrl ??
      (await startEmbedded({ config, folder, logger, started, signal, progress }));
    const connecting = { workload: workloadOf(config), progress, signal };
    const database = await connectDatabase(databaseUrl, config, connecting);
    started.push(() => database.close());
    progress.step("migrating the database");
    await orAborted(migrate(database), signal).catch(explainFault);
    const clusters = await connectClusters(database, config, {
      ...connecting,
      prepare: migrate,
      logger,
    });
    started.push(() => clusters.close());
    progress.step("starting the service");
    const encryptionKeys = await ensureEncryptionKeys(config, folder);
    const sandbox = createSandbox(config, logger);
    started.push(() => sandbox.close());
    const core = await createCore({
      config: { ...config, encryptionKeys },
      database,
      clusters,
      logger,
      metrics: createMetrics("start"),
      sandbox,
    });
    const service = await startService(core);
    started.push(() => service.stop(end.hurry));
    const outcome = await ensureCredentials(database, { dataFolder: folder, url: service.url });
    await lock.announce({ pid: process.pid, url: service.url });
    // Keys and links must not get into logs or files that other people read.
    const isForPeople = process.stdout.isTTY;
    const link =
      config.oidc === undefined && isForPeople
        ? await createSignInLink(database, config, service.url)
        : undefined;
    progress.done();
    reportReady(config.logLevel);
    printReady(service.url, folder, { outcome, isForPeople, link });
    if (!config.hasWorkflows) return;
    // The first metric's code is parsed in a process that would take seconds to start by then.
    sandbox.start();
    const workflows = runWorkflows({ core, folder });
    started.push(() => workflows.stop(end.hurry));
  } finally {
    progress.done();
  }
}

function workloadOf({ hasWorkflows }: Config): Workload {
  return hasWorkflows ? "both" : "requests";
}

/** Connections of listeners, cluster watchers and short commands, and those Postgres reserves. */
const otherConnectionsMax = 25;
/** Minimum of max_connections: Postgres needs little memory for each, so fewer gain nothing. */
const connectionsMin = 60;

async function startEmbedded({
  config,
  folder,
  logger,
  started,
  signal,
  progress,
}: Pick<StartAll, "config" | "folder" | "logger" | "started"> & {
  readonly signal: AbortSignal;
  readonly progress: Progress;
}): Promise<string> {
  const divided = divideConnections(config, workloadOf(config));
  const wanted = divided.connectionsMax + divided.backgroundConnectionsMax + otherConnectionsMax;
  const server = await startPostgres({
    folder,
    signal,
    settings: { max_connections: String(Math.max(connectionsMin, wanted)) },
    onProgress: (step) => progress.step(step),
    onRemark: print,
    onRestart: (cause) => logger.error({ cause }, "Postgres ended by itself; starting it again"),
  });
  started.push(() => server.stop());
  return server.url;
}

async function describeHolder(folder: string): Promise<string> {
  const holder = await findHolder(folder);
  const who = holder ? `pid ${holder.pid}, ${holder.url ?? "still starting"}` : "just starting";
  return `waggle is already running on ${folder} (${who}); it is left alone`;
}

type Ready = {
  readonly outcome: CredentialsOutcome;
  /** Whether standard output is a terminal, so that it may show secrets. */
  readonly isForPeople: boolean;
  readonly link: string | undefined;
};

function printReady(url: string, folder: string, { outcome, isForPeople, link }: Ready): void {
  print(`web app: ${url}/`);
  if (outcome.remark) print(outcome.remark);
  print(`waggle is ready on ${url}`);
  const { credentials } = outcome;
  if (credentials) print(`keys: ${credentialsPath(folder)}`);
  if (link !== undefined) print(`sign in (once, within ${linkMinutes} minutes):\n  ${link}`);
  if (!credentials || !isForPeople) return;
  print("try it:");
  print(`  ${exampleCurl(url, credentials.project_api_key)}`);
}

function exampleCurl(url: string, key: string): string {
  const event = {
    event_type: "model",
    event_name: "hello",
    source: "curl",
    inputs: { question: "What do bees do?" },
    outputs: { answer: "They waggle." },
  };
  return [
    `curl -sS -X POST ${url}/events`,
    `-H 'Authorization: Bearer ${key}'`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify({ event })}'`,
  ].join(" ");
}
