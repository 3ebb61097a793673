// The standard gRPC health service, which tells what /readyz tells, with a limit on watches.
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
import { connectionKey } from "./context.ts";
import type { Readiness } from "./routes.ts";

/**
 * Returns the service. The empty name is the whole server; every rpc service is known by its full
 * name and shares its state. An unknown name is NOT_FOUND to Check and
 * SERVICE_UNKNOWN to Watch. Watches end when `closing` is aborted; one past the limits of
 * base/limits.ts fails with OVERLOADED.
 *
 * `readiness` is read for each call and, each second, for each watch, so it answers from memory.
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

/** Counts watches, and returns the function that ends the count of one. */
type Admission = (context: Pick<HandlerContext, "values">) => () => void;

function createAdmission(): Admission {
  const byConnection = new WeakMap<object, number>();
  let total = 0;
  return ({ values }) => {
    // Without a connection, as in a test of the handlers alone, only the process's limit holds.
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

/** The limit stands in the details, since a 503 has no message. */
function refused(whose: string, max: number): ServiceError {
  const limit = `health watches ${whose}: ${max}`;
  return new ServiceError("OVERLOADED", limit, { details: { limit } });
}

type Ticker = {
  /** Resolves with the next tick, which all waiting calls share, or when the signal is aborted. */
  next(signal: AbortSignal): Promise<void>;
};

/** One timer for any number of watches; it runs only while one waits. */
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
