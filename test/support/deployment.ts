// Processes of a deployment: `waggle serve` and `waggle worker` on a test's database.

import { vi } from "vitest";
import { patience } from "./patience.ts";
import { type Process, run } from "./process.ts";

export type Server = { readonly url: string; readonly process: Process };

const ports = ["--port", "0", "--operator-port", "0"];

/** Runs `waggle serve` until it is ready; it does not wait for balancers unless a flag says so. */
export async function serve(databaseUrl: string, ...flags: readonly string[]): Promise<Server> {
  const words = ["--database-url", databaseUrl, ...ports, "--shutdown-delay-ms", "0", ...flags];
  const process = run("serve", ...words);
  const url = await becomeReady(process, /ready on (\S+)/);
  return { url, process };
}

/** Runs `waggle worker`. */
export function runWorker(
  databaseUrl: string,
  { address, namespace }: { readonly address: string; readonly namespace: string },
): Process {
  const words = ["--temporal-address", address, "--temporal-namespace", namespace];
  return run("worker", "--database-url", databaseUrl, "--operator-port", "0", ...words);
}

async function becomeReady(process: Process, pattern: RegExp): Promise<string> {
  let isEnded = false;
  void process.ended().then(() => (isEnded = true));
  const found = () => pattern.exec(process.output())?.[1];
  await vi.waitUntil(() => isEnded || found() !== undefined, patience);
  const ready = found();
  if (ready === undefined) throw new Error(`waggle ended: ${process.output()}`);
  return ready;
}

/** Ends a process as an orchestrator does; returns its exit code. */
export async function terminate(process: Process): Promise<number | null> {
  process.kill("SIGTERM");
  return (await process.ended()).code;
}
