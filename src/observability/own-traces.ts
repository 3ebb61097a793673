// Exports the service's own spans over OTLP. A service that would export to itself exports nothing.
// Source: OpenTelemetry specification, OTLP Exporter configuration.

import { hostname, networkInterfaces } from "node:os";
import { propagation, trace } from "@opentelemetry/api";
import type { Logger } from "../base/logger.ts";

/**
 * Header of each export of a Waggle. The receiver makes no span of such a call, so that two
 * services that export to each other end.
 */
export const exportHeader = "waggle-own-traces";

export type OwnTracesOptions = {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: base URL without a slash at its end. */
  readonly endpoint: string;
  /** URL that this service listens on, and its origin in browsers. */
  readonly ownUrls: readonly string[];
  readonly version: string;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
};

export type OwnTraces = {
  /** Sends the spans that wait, and ends. */
  stop(): Promise<void>;
};

const nothing: OwnTraces = { stop: () => Promise.resolve() };

/** Starts the export. Headers and time-outs are read from OTEL_EXPORTER_OTLP_* by the exporter. */
export async function exportOwnTraces(options: OwnTracesOptions): Promise<OwnTraces> {
  const { endpoint, ownUrls, version, logger } = options;
  if (await isItself(endpoint, ownUrls)) {
    logger.error(
      { endpoint },
      "OTEL_EXPORTER_OTLP_ENDPOINT is this service itself: its own traces are not exported",
    );
    return nothing;
  }
  // Loaded only where they are used.
  const [exporter, { resourceFromAttributes }, sdk, core] = await Promise.all([
    createExporter(endpoint),
    import("@opentelemetry/resources"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/core"),
  ]);
  const tell = sometimes((error) => {
    logger.warn({ endpoint, reason: reasonOf(error) }, "the service's own traces are not taken");
  });
  core.setGlobalErrorHandler(tell);
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ "service.name": "waggle", "service.version": version }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  if (!trace.setGlobalTracerProvider(provider)) {
    logger.warn({ endpoint }, "an OpenTelemetry SDK is loaded already, which exports the spans");
    return nothing;
  }
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  logger.info({ endpoint }, "the service's own traces are exported");
  return {
    async stop() {
      trace.disable();
      propagation.disable();
      // A collector that is away must not hold up the end.
      await provider.shutdown().catch(tell);
    },
  };
}

async function createExporter(endpoint: string, timeoutMillis?: number) {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers: { [exportHeader]: "1" },
    ...(timeoutMillis !== undefined && { timeoutMillis }),
  });
}

/** Sends no spans; returns why the endpoint did not take them, undefined if it did. */
export async function findExportFault(endpoint: string): Promise<string | undefined> {
  const exporter = await createExporter(endpoint, answerMsMax);
  const { error } = await new Promise<{ error?: Error }>((resolve) => exporter.export([], resolve));
  await exporter.shutdown();
  return error?.message;
}

/** Minimum time between two lines of the log about exports that fail. */
const quietMs = 60_000;

/** Returns a function that passes on one error a minute. */
function sometimes(tell: (error: unknown) => void): (error: unknown) => void {
  let lastMs = -Infinity;
  return (error) => {
    if (performance.now() - lastMs < quietMs) return;
    lastMs = performance.now();
    tell(error);
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns whether an endpoint is the service that listens on these URLs. */
export async function isItself(endpoint: string, ownUrls: readonly string[]): Promise<boolean> {
  return leadsToItself(endpoint, ownUrls) || (await saysToBe(endpoint, ownUrls));
}

/** Returns whether an endpoint is one of the service's own addresses. */
export function leadsToItself(endpoint: string, ownUrls: readonly string[]): boolean {
  const target = new URL(endpoint);
  return ownUrls.some((text) => {
    const own = new URL(text);
    if (target.origin === own.origin) return true;
    return portOf(target) === portOf(own) && isOwnHost(target.hostname, own.hostname);
  });
}

/** Maximum wait for the answer of an endpoint that may be a Waggle. */
const answerMsMax = 2_000;

/**
 * Returns whether a Waggle answers at an endpoint whose public URL is one of the service's own: it
 * is reached by an internal name then.
 */
async function saysToBe(endpoint: string, ownUrls: readonly string[]): Promise<boolean> {
  try {
    const response = await fetch(`${endpoint}/v1/deployment`, {
      headers: { [exportHeader]: "1" },
      redirect: "error",
      signal: AbortSignal.timeout(answerMsMax),
    });
    const { data } = (await response.json()) as { data?: { public_url?: unknown } };
    return ownUrls.some((url) => url === data?.public_url);
  } catch {
    // A collector, which has no such page, or nothing that answers yet.
    return false;
  }
}

function portOf({ port, protocol }: URL): string {
  return port === "" ? ({ "http:": "80", "https:": "443" }[protocol] ?? "") : port;
}

/** Returns whether a name is one of this machine's, where the service listens on a loopback. */
function isOwnHost(name: string, listening: string): boolean {
  const bare = name.replace(/^\[|\]$/g, "");
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const isOwn =
    /^(localhost|127\.[\d.]+|::1)$/.test(bare) ||
    bare === hostname() ||
    addresses.some(({ address }) => address === bare);
  return isOwn && /^(localhost|127\.|\[::1\]|0\.0\.0\.0|\[::\])/.test(listening);
}
