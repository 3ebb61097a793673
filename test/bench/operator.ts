// What the service tells of itself on the operator's port: the delay of its event loop and its
// processor time.

import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** Returns a port for the operator's page. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Longest delay of the event loop since the last call, and processor time since the start. */
export type ServiceTimes = { readonly lagMs: number; readonly processorMs: number };

/** Returns what the service at an operator's port has measured. */
export async function readTimes(port: number): Promise<ServiceTimes> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const secondsOf = (name: string): number => {
    const [, seconds] = new RegExp(`^${name} (\\S+)$`, "m").exec(text) ?? [];
    if (seconds === undefined) throw new Error(`the service tells no ${name}`);
    return Number(seconds);
  };
  return {
    lagMs: secondsOf("nodejs_eventloop_lag_max_seconds") * 1_000,
    processorMs: secondsOf("process_cpu_seconds_total") * 1_000,
  };
}
