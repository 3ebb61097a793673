// A plain TCP balancer before several servers. It asks each for /readyz at intervals, as a real one
// does: a server that is not ready gets no new connection unless none is ready, and the connections
// of one that does not answer are closed. It never tries another server for a refused connection.

import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type Balancer = {
  readonly url: string;
  readonly add: (server: string) => void;
  readonly remove: (server: string) => void;
  /** Returns the servers that get new connections now. */
  readonly inService: () => readonly string[];
};

const checkMs = 50;

export type BalancerOptions = {
  /** Time after which a server does not answer. Default: long enough for a busy machine. */
  readonly answerMsMax?: number;
};

type Backend = { isReady: boolean; readonly connections: Set<Socket> };

/** Starts a balancer, which stops at the end of the test. */
export async function startBalancer(
  servers: readonly string[],
  { answerMsMax = 30_000 }: BalancerOptions = {},
): Promise<Balancer> {
  const backends = new Map<string, Backend>();
  let turn = 0;

  async function check(server: string, backend: Backend): Promise<void> {
    const signal = AbortSignal.timeout(answerMsMax);
    const status = await fetch(`${server}/readyz`, { signal }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => undefined,
    );
    backend.isReady = status === 200;
    if (status === undefined) for (const socket of backend.connections) socket.destroy();
  }

  async function watch(server: string, backend: Backend): Promise<void> {
    while (backends.get(server) === backend) {
      await check(server, backend);
      await new Promise((settle) => setTimeout(settle, checkMs));
    }
  }

  function inService(): readonly string[] {
    return [...backends].filter(([, { isReady }]) => isReady).map(([server]) => server);
  }

  const listening = createServer({ noDelay: true }, (client) => {
    const ready = inService();
    const open = ready.length > 0 ? ready : [...backends.keys()];
    const server = open[turn++ % Math.max(1, open.length)];
    const backend = server === undefined ? undefined : backends.get(server);
    if (server === undefined || !backend) {
      client.resetAndDestroy();
      return;
    }
    const { hostname, port } = new URL(server);
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
    backend.connections.add(client);
    client.pipe(upstream).pipe(client);
    // A reset is one way of closing.
    client
      .on("error", () => undefined)
      .on("close", () => {
        backend.connections.delete(client);
        upstream.destroy();
      });
    upstream.on("error", () => undefined).on("close", () => client.destroySoon());
  });

  const balancer = {
    add(server: string) {
      const backend: Backend = { isReady: false, connections: new Set() };
      backends.set(server, backend);
      void watch(server, backend);
    },
    remove: (server: string) => void backends.delete(server),
    inService,
  };
  for (const server of servers) balancer.add(server);
  await new Promise<void>((settle) => listening.listen(0, "127.0.0.1", settle));
  onTestFinished(() => {
    listening.close();
    for (const { connections } of backends.values()) for (const one of connections) one.destroy();
    backends.clear();
  });
  const { port } = listening.address() as AddressInfo;
  return { ...balancer, url: `http://127.0.0.1:${port}` };
}
