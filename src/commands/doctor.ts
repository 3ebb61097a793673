// `waggle doctor`: checks everything that the service needs, with advice for each problem. Changes
// nothing except the cache of the sandbox.

import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { createIdentityProvider } from "../access/sign-in/oidc.ts";
import { formatHttpAddress } from "../base/http-address.ts";
import { createLogger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { findHolder, type Holder } from "../embedded/data-folder.ts";
import { findRunningPostgres } from "../embedded/postgres.ts";
import { findInstalledTemporal } from "../embedded/temporal-binary.ts";
import { findRunningTemporal } from "../embedded/temporal-folder.ts";
import { findExportFault, isItself } from "../observability/own-traces.ts";
import { findMailFault } from "../notifications/mail.ts";
import { openDatabase } from "../postgres/database.ts";
import { getMigrationState } from "../postgres/migrate.ts";
import { adviceOn, lookAtPooler } from "../postgres/pooler.ts";
import { findBucketFault } from "../tracing/retention/file-store.ts";
import { encryptionKeyPath, findEncryptionKeys } from "./encryption-keys.ts";
import { createSandbox } from "./sandbox.ts";
import { describeUnknownKeys } from "./stored-secrets.ts";
import { type CommandContext, print } from "./command.ts";
import { createProgress } from "./progress.ts";

/** Result of a check; `advice` is present if something has to be done. */
type Finding = { readonly found: string; readonly advice?: string };

const nodeMajorMin = 24;

const checks: Readonly<Record<string, (config: Config) => Promise<Finding>>> = {
  "node version": checkNode,
  "data folder": checkDataFolder,
  database: checkDatabase,
  clusters: checkClusters,
  "stored secrets": checkSecrets,
  port: checkPort,
  temporal: checkTemporal,
  "own traces": checkOwnTraces,
  "identity provider": checkIdentityProvider,
  "mail server": checkMailServer,
  "files of retention": checkRetentionFiles,
  sandbox: checkSandbox,
};

/** Returns 1 if a check has advice. */
export async function run({ config }: CommandContext): Promise<number> {
  const progress = createProgress();
  let code = 0;
  for (const [name, check] of Object.entries(checks)) {
    progress.step(`checking the ${name}`);
    const { found, advice } = await check(config).finally(() => progress.done());
    print(`${advice === undefined ? "ok  " : "FAIL"}  ${name}: ${found}`);
    if (advice === undefined) continue;
    print(`      ${advice}`);
    code = 1;
  }
  return code;
}

async function checkNode(): Promise<Finding> {
  const found = process.version;
  if (Number(process.versions.node.split(".")[0]) >= nodeMajorMin) return { found };
  return { found, advice: `run npm ci, which brings Node ${nodeMajorMin}, then npm start` };
}

async function checkDataFolder({ dataFolder, databaseUrl }: Config): Promise<Finding> {
  const { found, advice } = await lookAtFolder(resolve(dataFolder), "--data");
  if (advice === undefined) return { found };
  // The containers of serve and worker have a read-only file system.
  if (databaseUrl !== undefined) return { found: `${found}; serve and worker need none` };
  return { found, advice };
}

/** Minimum free bytes of a disk: some files of Postgres' log of 16 MB each. */
const freeBytesMin = 100e6;

/**
 * Checks that the service may write into a folder, and that its disk has room. A missing folder
 * will be created in the nearest existing one. `setting` names the folder in the advice.
 */
async function lookAtFolder(folder: string, setting: string): Promise<Finding> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
      const { bavail, bsize } = await statfs(path);
      const found = path === folder ? folder : `${folder} (will be made)`;
      if (bavail * bsize >= freeBytesMin) return { found };
      const left = `${found}, whose disk has ${Math.floor((bavail * bsize) / 1e6)} MB left`;
      return { found: left, advice: "make room there" };
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (isAbsent && path !== dirname(path)) continue;
      const advice = `make it writable for this user, or name another with ${setting}`;
      return { found: `${path} cannot be written`, advice };
    }
  }
}

async function checkDatabase(config: Config): Promise<Finding> {
  const url = config.databaseUrl ?? (await findRunningPostgres(config.dataFolder));
  if (url !== undefined) return checkUrl(url, "DATABASE_URL");
  const service = await findService(config);
  if (!service) return { found: "embedded Postgres, not running; waggle start starts it" };
  return {
    found: `embedded Postgres, which does not run, while the service does (pid ${service.pid})`,
    advice: `its log says why: ${join(resolve(config.dataFolder), "postgres.log")}`,
  };
}

/** Returns the service that runs on the data folder; undefined if none does. */
async function findService({ dataFolder }: Config): Promise<Required<Holder> | undefined> {
  // A folder that cannot be read is named by its own check.
  const { pid, url } = (await findHolder(dataFolder).catch(() => undefined)) ?? {};
  if (pid === undefined || url === undefined) return undefined;
  return (await isServed(`${url}/healthz`)) ? { pid, url } : undefined;
}

async function checkClusters({ clusters }: Config): Promise<Finding> {
  const findings = await Promise.all(
    Object.entries(clusters).map(async ([id, url]) => {
      const { found, advice } = await checkUrl(url, `the URL of ${id} in WAGGLE_CLUSTERS`);
      return { found: `${id} ${found}`, advice: advice && `${id}: ${advice}` };
    }),
  );
  const advice = findings.flatMap((finding) => finding.advice ?? []).join("; ");
  const found = findings.map((finding) => finding.found).join("; ");
  if (found === "") return { found: "none besides the database" };
  return advice === "" ? { found } : { found, advice };
}

async function checkSecrets(config: Config): Promise<Finding> {
  const folder = resolve(config.dataFolder);
  const url = config.databaseUrl ?? (await findRunningPostgres(config.dataFolder));
  if (url === undefined) return { found: "not read, as the embedded Postgres does not run" };
  const database = openDatabase({ url, connectionsMax: 1 });
  try {
    const keys = await findEncryptionKeys(config, folder);
    const unknown = await describeUnknownKeys({ database, keys });
    if (unknown === "") return { found: "all under keys that are configured" };
    const advice = `add them to WAGGLE_ENCRYPTION_KEYS, or restore ${encryptionKeyPath(folder)}`;
    return { found: `under keys that are absent: ${unknown}`, advice };
  } catch (error) {
    const advice = "check the database, which stands above, and WAGGLE_ENCRYPTION_KEYS";
    return { found: `not read: ${(error as Error).message}`, advice };
  } finally {
    await database.close();
  }
}

async function checkUrl(url: string, setting: string): Promise<Finding> {
  const database = openDatabase({ url, connectionsMax: 1 });
  try {
    const { current, wanted, isReadOnly } = await getMigrationState(database);
    const { pooling, advice, notes } = await lookAtPooler(url);
    const pooled = pooling === undefined ? "" : [`, pooled ${pooling}`, ...notes].join("; ");
    const found = `reachable, at migration ${current} of ${wanted}${pooled}`;
    const behind = current < wanted ? ["run waggle migrate"] : [];
    const ahead = current > wanted ? ["use a newer release"] : [];
    const closed = isReadOnly
      ? ["let it take writes: it is a standby, or default_transaction_read_only is on"]
      : [];
    const all = [...behind, ...ahead, ...closed, ...advice];
    return all.length === 0 ? { found } : { found, advice: all.join("; ") };
  } catch (error) {
    const found = `not reachable: ${(error as Error).message}`;
    const advice = adviceOn(error);
    if (advice !== undefined) return { found, advice };
    return { found, advice: `check ${setting} (its host, password and database) and the server` };
  } finally {
    await database.close();
  }
}

/** Checks the sandbox, which only evaluators of type PYTHON need. */
async function checkSandbox(config: Config): Promise<Finding> {
  const sandbox = createSandbox(config, createLogger("silent"));
  try {
    const startMs = performance.now();
    const session = await sandbox.open("def evaluate(event):\n    return 1");
    const outcome = await session.run({});
    await session.close();
    const ms = Math.round(performance.now() - startMs);
    if (outcome.kind === "value") return { found: `ran Python in ${ms} ms, including its start` };
    return { found: outcome.message, advice: "docs/sandbox.md says what the sandbox needs" };
  } catch (error) {
    const { message, cause } = error as Error;
    const found = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return { found, advice: "docs/sandbox.md says what the sandbox needs" };
  } finally {
    await sandbox.close();
  }
}

/** Checks Temporal, which only automatic evaluators, archives and revocations need. */
async function checkTemporal(config: Config): Promise<Finding> {
  const { address, cliPath } = config.temporal;
  if (address !== undefined) {
    const { found, fault } = await askTemporal(config, address);
    if (fault === undefined) return { found };
    const advice = "check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and TEMPORAL_TLS";
    return { found, advice };
  }
  if (!config.hasWorkflows) return { found: "none, as workflows are off" };
  const folder = resolve(config.dataFolder);
  const running = (await findService(config)) && (await findRunningTemporal(folder));
  if (running) {
    const { found, fault } = await askTemporal(config, running.address);
    if (fault === undefined) return { found: `embedded, ${found}` };
    const advice = `its log is ${running.logPath}; the service starts it again once it is ended`;
    return { found: `embedded (pid ${running.pid}), ${found}`, advice };
  }
  const { signal } = new AbortController();
  try {
    const found = await findInstalledTemporal({ cliPath, path: config.path, folder, signal });
    return { found: `embedded, ${found ?? "which waggle start fetches first"}` };
  } catch (error) {
    return { found: "none", advice: (error as Error).message };
  }
}

async function askTemporal(
  { temporal }: Config,
  address: string,
): Promise<{ readonly found: string; readonly fault: string | undefined }> {
  // Imported here, because Temporal's client is large and no other check needs it.
  const { createWorkflowClient } = await import("../workflows/client.ts");
  const client = await createWorkflowClient({ ...temporal, address });
  try {
    const fault = await client.findFault();
    return { found: `${address}, namespace ${temporal.namespace}: ${fault ?? "answers"}`, fault };
  } finally {
    await client.close();
  }
}

/** Checks the OTLP server that gets the service's own spans. */
async function checkOwnTraces({
  ownTracesEndpoint: endpoint,
  ...config
}: Config): Promise<Finding> {
  if (endpoint === undefined) return { found: "not exported" };
  const ownUrls = [formatHttpAddress(config.host, config.port), config.publicUrl];
  if (
    await isItself(
      endpoint,
      ownUrls.filter((url) => url !== undefined),
    )
  ) {
    const advice = "name another service in OTEL_EXPORTER_OTLP_ENDPOINT";
    return { found: `${endpoint} is this service itself, which exports nothing then`, advice };
  }
  const fault = await findExportFault(endpoint);
  if (fault === undefined) return { found: `${endpoint} takes them` };
  const settings = "OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS";
  return { found: `${endpoint} does not take them: ${fault}`, advice: `check ${settings}` };
}

/** Checks where people sign in. Only a sign-in shows whether the client's secret is right. */
async function checkIdentityProvider({ oidc }: Config): Promise<Finding> {
  if (oidc === undefined) return { found: "none; waggle sign-in-link signs in" };
  const provider = createIdentityProvider({ ...oidc, logger: createLogger("silent") });
  const fault = await provider.findFault();
  if (fault === undefined) return { found: `${oidc.issuer} answers` };
  const advice = "check WAGGLE_OIDC_ISSUER and the way to it";
  return { found: `${oidc.issuer} does not answer as it should: ${fault}`, advice };
}

/** Checks the server of mails: address, certificate and password. */
async function checkMailServer({ smtpUrl }: Config): Promise<Finding> {
  if (smtpUrl === undefined) return { found: "none, so that alerts send no mail" };
  const { host } = new URL(smtpUrl);
  const fault = await findMailFault(smtpUrl);
  if (fault === undefined) return { found: `${host} takes mail` };
  const advice = "check WAGGLE_SMTP_URL (its host, port, user and password) and the server";
  return { found: `${host} refused or cannot be reached: ${fault}`, advice };
}

/** Checks where sessions are written before retention deletes them. */
async function checkRetentionFiles(config: Config): Promise<Finding> {
  const { retentionExport: place, retentionS3Endpoint: endpoint } = config;
  if (place === undefined) return { found: "none" };
  if (place.bucket === undefined) return lookAtFolder(resolve(place.folder), "--retention-export");
  const fault = await findBucketFault(place.bucket, endpoint);
  if (fault === undefined) return { found: `bucket ${place.bucket} answers` };
  const settings = "WAGGLE_RETENTION_EXPORT, WAGGLE_RETENTION_S3_ENDPOINT, AWS_REGION";
  const advice = `check ${settings} and the machine's credentials of AWS`;
  return { found: `bucket ${place.bucket} cannot be used: ${fault}`, advice };
}

async function checkPort(config: Config): Promise<Finding> {
  const { host, port, databaseUrl } = config;
  const failure = await tryToListen(host, port);
  if (failure === undefined) return { found: `${host}:${port} is free` };
  // In the container of a server, which holds the port.
  if (databaseUrl !== undefined && (await isServed(`${formatHttpAddress(host, port)}/healthz`))) {
    return { found: `${host}:${port} is that of a running server` };
  }
  const service = await findService(config);
  if (service && Number(new URL(service.url).port) === port) {
    return { found: `${host}:${port} is this service's (pid ${service.pid})` };
  }
  return { found: failure, advice: "stop what uses it, or choose another with --port" };
}

async function tryToListen(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((settle) => {
    server.once("error", (error) => settle(error.message));
    server.listen(port, host, () => server.close(() => settle(undefined)));
  });
}

const answerMsMax = 5_000;

async function isServed(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(answerMsMax) });
    return (await response.text()) === JSON.stringify({ status: "ok" });
  } catch {
    return false;
  }
}
