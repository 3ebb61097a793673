// Runs the service on existing databases.

import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import { packageVersion } from "../base/package-version.ts";
import type { Core } from "../compose/core.ts";
import { createApp } from "../compose/service.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import type { Metrics } from "../observability/metrics.ts";
import { exportOwnTraces, type OwnTraces } from "../observability/own-traces.ts";
import type { Readiness } from "../observability/readiness.ts";
import { type OperatorServer, startOperatorServer } from "../observability/server.ts";
import { createWebApp } from "../web/serve.ts";
import { tellUnknownKeys } from "./stored-secrets.ts";

/** Time for storing the rest of the commit queue after the last connection is closed. */
const closeGraceMs = 10_000;

export type RunningService = {
  readonly url: string;
  /**
   * Refuses new work, after the delay of `startService`, and finishes running requests within the
   * drain time, or until `hurry`; then closes the core.
   */
  stop(hurry: Promise<void>): Promise<void>;
};

export type ServiceOptions = {
  /** Time for which a service that stops is not ready and still serves. Default: none. */
  readonly shutdownDelayMs?: number;
};

/**
 * Listens on the API's port and, unless it is off or in use, on the operator's port. A failure
 * closes the core.
 */
export async function startService(
  core: Core,
  options: ServiceOptions = {},
): Promise<RunningService> {
  return orClose(core, listen(core, options));
}

/**
 * Waits for the start of a service or worker on a core, and closes the core if the start fails. An
 * open core stays registered as a server, and the workflows that archive and revoke wait for it.
 */
export async function orClose<T>(core: Core, started: Promise<T>): Promise<T> {
  return started.catch(async (error: unknown) => {
    await core.close();
    throw error;
  });
}

async function listen(
  core: Core,
  { shutdownDelayMs = 0 }: ServiceOptions,
): Promise<RunningService> {
  const { config, metrics, logger } = core;
  const signIn = config.oidc === undefined ? "link" : "provider";
  const web = createWebApp({ logger, signIn });
  const app = await createApp(core, { web });
  const { url } = await app.listen().catch(async (cause: unknown) => {
    await web.stop();
    throw describeListenFailure(cause, config);
  });
  const operator = await startOperator(config, metrics, logger);
  const traces = await startOwnTraces(core, url);
  await tellUnknownKeys(core);
  return {
    url: reachableUrl(url),
    async stop(hurry) {
      // close() limits itself to the drain time; one that hangs must not keep Postgres running.
      const limitMs = shutdownDelayMs + config.drainTimeoutMs + closeGraceMs;
      const limit = delay(limitMs, undefined, { ref: false });
      const left = shutdownDelayMs > 0 ? delay(shutdownDelayMs) : undefined;
      const closed = app.close(left).then(() => core.close());
      await Promise.race([closed, limit, hurry]);
      await web.stop();
      await operator?.close();
      await traces?.stop();
    },
  };
}

/** Starts the export of spans if it is set; `url` is where the process listens, if it does. */
export async function startOwnTraces(
  { config: { ownTracesEndpoint: endpoint, publicUrl }, logger }: Core,
  url?: string,
): Promise<OwnTraces | undefined> {
  if (endpoint === undefined) return undefined;
  const ownUrls = [url, publicUrl].filter((one) => one !== undefined);
  return exportOwnTraces({ endpoint, ownUrls, version: packageVersion(), logger });
}

const notOfThisMachine = "is not an address of this machine: choose another with";

/**
 * Throws OperatorError if --operator-host is no address of this machine, on which no port could be
 * listened on. To be called before anything has started.
 */
export async function assertOperatorHost(config: Config): Promise<void> {
  if (config.operatorPort === 0) return;
  const host = config.operatorHost;
  const server = createServer();
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((settle) => {
    server.once("error", settle);
    server.listen({ host, port: 0 }, () => settle(undefined));
  });
  await new Promise((settle) => server.close(settle));
  if (!["EADDRNOTAVAIL", "ENOTFOUND"].includes(failure?.code ?? "")) return;
  throw new OperatorError(`${host} ${notOfThisMachine} --operator-host`, { cause: failure });
}

function describeListenFailure(cause: unknown, { host, port }: Config): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  const what = {
    EADDRINUSE: "is in use: stop what uses it, or choose another port with --port",
    EADDRNOTAVAIL: `${notOfThisMachine} --host`,
    ENOTFOUND: `${notOfThisMachine} --host`,
    EACCES: "may not be listened on by this user: choose a port above 1023 with --port",
  }[code ?? ""];
  return what === undefined ? cause : new OperatorError(`${host}:${port} ${what}`, { cause });
}

/**
 * Starts the operator's server, or logs its failure. A failure does not stop the service, because
 * two services on one machine share the default port.
 */
export async function startOperator(
  config: Config,
  metrics: Metrics,
  logger: Logger,
  readiness?: () => Promise<Readiness>,
): Promise<OperatorServer | undefined> {
  if (config.operatorPort === 0) return undefined;
  const address = { host: config.operatorHost, port: config.operatorPort };
  try {
    return await startOperatorServer({ registry: metrics.registry, ...address, readiness });
  } catch (error) {
    logger.warn({ err: error, ...address }, "no /metrics: the operator port cannot be used");
    return undefined;
  }
}

/** Replaces the address of all interfaces by the loopback address. */
function reachableUrl(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
