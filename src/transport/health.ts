// The standard gRPC health service, which tells what /readyz tells. Composed by app.ts.
// Source: proto/third_party/grpc/health/v1/health.proto.

import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import {
  type Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/grpc/health/v1/health_pb.js";
import type { Readiness } from "./routes.ts";

/** How often a watch looks; a change is told within this time. */
const watchIntervalMs = 1_000;

/**
 * Returns the service. The empty name is the whole server; every rpc service is known by its full
 * name and shares its state. An unknown name is NOT_FOUND to Check and
 * SERVICE_UNKNOWN to Watch. Watches end when `closing` is aborted.
 */
export function healthHandlers(
  readiness: () => Promise<Readiness>,
  serviceNames: () => readonly string[],
  closing: AbortSignal,
): ServiceImpl<typeof Health> {
  const statusOf = async (service: string): Promise<Status> => {
    if (service !== "" && !serviceNames().includes(service)) return Status.SERVICE_UNKNOWN;
    const { ready } = await readiness();
    return ready ? Status.SERVING : Status.NOT_SERVING;
  };
  return {
    async check({ service }) {
      const status = await statusOf(service);
      // The health protocol's own word, not a denial of ours.
      if (status === Status.SERVICE_UNKNOWN)
        throw new ConnectError("unknown service", Code.NotFound);
      return { status };
    },
    async list() {
      const status = await statusOf("");
      const names = ["", ...serviceNames()];
      return { statuses: Object.fromEntries(names.map((name) => [name, { status }])) };
    },
    async *watch({ service }, context) {
      const signal = AbortSignal.any([context.signal, closing]);
      let told: Status | undefined;
      while (!signal.aborted) {
        const status = await statusOf(service);
        if (status !== told) yield { status };
        told = status;
        // An aborted wait ends the loop by its condition.
        await delay(watchIntervalMs, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}
