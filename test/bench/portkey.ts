// Portkey's gateway as the peer of `gateway`: fetched on demand from npm into node_modules/.cache,
// and started as a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

export const portkeyVersion = "1.15.2";

export type Portkey = {
  /** Base URL of the API, ending in `/v1`. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
};

/** With later versions of this server, which Portkey does not pin, its streams answer 500. */
const overrides = { "@hono/node-server": "1.14.1", hono: "4.9.7" };

const folder = join(
  import.meta.dirname,
  `../../node_modules/.cache/bench/portkey-${portkeyVersion}`,
);
const entry = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");

/** Installs Portkey unless it is installed, starts it, and waits until it answers. */
export async function startPortkey(): Promise<Portkey> {
  await install();
  const port = await freePort();
  const child = spawn(process.execPath, [entry, `--port=${port}`, "--headless"], {
    stdio: "ignore",
  });
  if (child.pid === undefined) throw new Error("Portkey did not start");
  await waitUntilReady(`http://127.0.0.1:${port}/`);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    pid: child.pid,
    async stop() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

/** Returns the headers that send a request of OpenAI's API to the stand-in. */
export function portkeyHeaders(standInUrl: string): Readonly<Record<string, string>> {
  return { "x-portkey-provider": "openai", "x-portkey-custom-host": standInUrl };
}

async function install(): Promise<void> {
  const isThere = await access(entry).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  await mkdir(folder, { recursive: true });
  const dependencies = { "@portkey-ai/gateway": portkeyVersion };
  await writeFile(join(folder, "package.json"), JSON.stringify({ dependencies, overrides }));
  const words = ["install", "--no-audit", "--no-fund", "--ignore-scripts"];
  const child = spawn("npm", words, { cwd: folder, stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error("npm could not install Portkey's gateway");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

async function waitUntilReady(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const isUp = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("Portkey did not answer within 30 s");
}
