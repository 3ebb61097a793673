// The operator port: `/metrics` in Prometheus text form.

import { createServer } from "node:http";
import type { Registry } from "prom-client";

export type OperatorServer = { readonly url: string; close(): Promise<void> };

/** Listens until `close`. Fails if the port is taken. */
export async function startOperatorServer(
  registry: Registry,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<OperatorServer> {
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((settle, fail) => {
    server.once("error", fail);
    server.listen(port, host, settle);
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: () =>
      new Promise((settle) => {
        server.close(() => settle());
        server.closeAllConnections();
      }),
  };
}
