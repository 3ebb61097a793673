// The standard gRPC health service: the state of /readyz, with a limit on watches.
// Source: proto/third_party/grpc/health/v1/health.proto.

import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import {
  type Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../gen/grpc/health/v1/health_pb.js";
import { ServiceError } from "../base/errors.ts";
import {
  healthWatchesMax,
  healthWatchesPerConnectionMax,
  healthWatchIntervalMs,
} from "../base/limits.ts";
import { connectionKey } from "../access/call.ts";
import type { Readiness } from "./routes.ts";

/**
 * Returns the health service. The empty name means the whole server; every rpc service has its full
 * name and the server's state. An unknown name is NOT_FOUND to Check and SERVICE_UNKNOWN to Watch.
 * Watches end when `closing` is aborted. A watch over the limits of base/limits.ts fails with
 * OVERLOADED.
 *
 * `readiness` is called for each call and, every second, for each watch, so it must answer from
 * memory.
 */
export function healthHandlers(
  readiness: () => Promise<Readiness>,
  serviceNames: () => readonly string[],
  closing: AbortSignal,
): ServiceImpl<typeof Health> {
  const admit = createAdmission();
  const ticker = createTicker(healthWatchIntervalMs);
  const statusOf = async (service: string): Promise<Status> => {
    if (service !== "" && !serviceNames().includes(service)) return Status.SERVICE_UNKNOWN;
    const { ready } = await readiness();
    return ready ? Status.SERVING : Status.NOT_SERVING;
  };
  return {
    async check({ service }) {
      const status = await statusOf(service);
      // The code that the health protocol prescribes, not a denial of the service.
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
      const leave = admit(context);
      try {
        const signal = AbortSignal.any([context.signal, closing]);
        let told: Status | undefined;
        while (!signal.aborted) {
          const status = await statusOf(service);
          if (status !== told) yield { status };
          told = status;
          await ticker.next(signal);
        }
      } finally {
        leave();
      }
    },
  };
}

/** Counts a watch and returns the function that ends it. */
type Admission = (context: Pick<HandlerContext, "values">) => () => void;

function createAdmission(): Admission {
  const byConnection = new WeakMap<object, number>();
  let total = 0;
  return ({ values }) => {
    // Tests of the handlers alone have no connection; then only the limit of the process applies.
    const connection = values.get(connectionKey) ?? {};
    const ofConnection = byConnection.get(connection) ?? 0;
    if (ofConnection >= healthWatchesPerConnectionMax) {
      throw refused("of a connection", healthWatchesPerConnectionMax);
    }
    if (total >= healthWatchesMax) throw refused("of the server", healthWatchesMax);
    total += 1;
    byConnection.set(connection, ofConnection + 1);
    return () => {
      total -= 1;
      byConnection.set(connection, (byConnection.get(connection) ?? 1) - 1);
    };
  };
}

/**
 * Returns the error for one watch too many. The limit is in the details, since a 503 has no
 * message.
 */
function refused(whose: string, max: number): ServiceError {
  const limit = `health watches ${whose}: ${max}`;
  return new ServiceError("OVERLOADED", limit, { details: { limit } });
}

type Ticker = {
  /** Resolves at the next tick, which all waiting calls share, or when the signal is aborted. */
  next(signal: AbortSignal): Promise<void>;
};

/** Returns a ticker: one timer for all watches, which runs only while a watch waits. */
function createTicker(intervalMs: number): Ticker {
  const waiting = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    timer = undefined;
    for (const wake of [...waiting]) wake();
  }

  return {
    next: (signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          signal.removeEventListener("abort", wake);
          if (waiting.size === 0) {
            clearTimeout(timer);
            timer = undefined;
          }
          resolve();
        };
        if (signal.aborted) {
          resolve();
          return;
        }
        waiting.add(wake);
        signal.addEventListener("abort", wake, { once: true });
        timer ??= setTimeout(tick, intervalMs);
      }),
  };
}
