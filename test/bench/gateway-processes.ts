// The processes of the gateway benches: the stand-in for a provider and the load generator.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { GatewayJob, GatewayResult } from "./gateway-generator.ts";

const generatorPath = new URL("./gateway-generator.ts", import.meta.url).pathname;

export async function run(job: GatewayJob): Promise<GatewayResult> {
  const words = [generatorPath, JSON.stringify(job)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return JSON.parse(stdout) as GatewayResult;
}

export type StandInProcess = { readonly url: string; stop(): Promise<void> };

export async function startStandIn(): Promise<StandInProcess> {
  const path = new URL("./stand-in.ts", import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, [path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (!child.stdout) throw new Error("the stand-in has no output");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    url,
    async stop() {
      child.stdin?.end();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

/** Returns the service's flags that name the stand-in as the provider `bench`. */
export function standInFlags(url: string): readonly string[] {
  const provider = { provider: "openai_compatible", base_url: url, api_key: "none" };
  return ["--providers", JSON.stringify({ bench: provider })];
}
