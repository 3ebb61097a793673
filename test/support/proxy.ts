// A TCP proxy before a test's Postgres that can be shut, opened again, or left hanging.

import { connect, createServer } from "node:net";
import type { AddressInfo, NetConnectOpts, Server, Socket } from "node:net";
import { join } from "node:path";

export type Proxy = {
  /** URL of the database through the proxy, with a password that must never be shown. */
  readonly url: string;
  /** Closes every connection and refuses new ones. */
  shut(): Promise<void>;
  /** Accepts connections again, on the same port. */
  open(): Promise<void>;
  /** Closes every connection; new ones reach the server of another URL. */
  switchTo(databaseUrl: string): void;
  /** Resets the next connection that sends a text. */
  resetAt(text: string): void;
  /** Accepts connections but forwards nothing, in either direction, until `open`. */
  hang(): void;
};

export const proxyPassword = "s3cret-of-the-cluster";

const postgresPort = 5432;

/** Starts a proxy to a database, whose server may have a port or a unix socket. */
export async function startProxy(databaseUrl: string): Promise<Proxy> {
  const target = new URL(databaseUrl);
  let address = addressOf(target);
  const sockets = new Set<Socket>();
  let isHanging = false;
  let resetText: string | undefined;
  let server: Server | undefined;

  function pair(client: Socket): void {
    const postgres = connect(address);
    client.on("data", (bytes) => {
      if (resetText === undefined || !bytes.includes(resetText)) return;
      resetText = undefined;
      client.resetAndDestroy();
    });
    for (const [from, to] of [
      [client, postgres],
      [postgres, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => to.write(bytes));
      if (isHanging) from.pause();
      // A reset is one way of closing.
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }

  async function listen(port: number): Promise<number> {
    const listening = createServer(pair);
    server = listening;
    await new Promise<void>((settle, fail) => {
      listening.once("error", fail);
      listening.listen(port, "127.0.0.1", settle);
    });
    return (listening.address() as AddressInfo).port;
  }

  const port = await listen(0);
  return {
    url: `postgres://${target.username}:${proxyPassword}@127.0.0.1:${port}${target.pathname}`,
    async shut() {
      const closing = server;
      server = undefined;
      await new Promise<void>((settle) => {
        if (closing) closing.close(() => settle());
        else settle();
        for (const socket of sockets) socket.destroy();
      });
    },
    async open() {
      isHanging = false;
      for (const socket of sockets) socket.resume();
      if (!server) await listen(port);
    },
    switchTo(otherUrl) {
      address = addressOf(new URL(otherUrl));
      for (const socket of sockets) socket.destroy();
    },
    resetAt(text) {
      resetText = text;
    },
    hang() {
      isHanging = true;
      for (const socket of sockets) socket.pause();
    },
  };
}

function addressOf(url: URL): NetConnectOpts {
  const folder = url.searchParams.get("host");
  if (folder === null) return { host: url.hostname, port: Number(url.port) };
  return { path: join(folder, `.s.PGSQL.${postgresPort}`) };
}
