// The operator port: `/metrics` in Prometheus text form, and the health of a process that has no
// other port.

import { createServer, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { formatHttpAddress } from "../base/http-address.ts";
import { formatReadiness, type Readiness } from "./readiness.ts";

export type OperatorServer = { readonly url: string; close(): Promise<void> };

export type OperatorServerOptions = {
  readonly registry: Registry;
  readonly host: string;
  readonly port: number;
  /** Given by a process without the API's port, which answers `/healthz` and `/readyz` itself. */
  readonly readiness?: (() => Promise<Readiness>) | undefined;
};

/** Listens until `close`. Fails if the port is taken. */
export async function startOperatorServer({
  registry,
  host,
  port,
  readiness,
}: OperatorServerOptions): Promise<OperatorServer> {
  const pages = new Map([["/metrics", writeMetrics]]);
  if (readiness) {
    pages.set("/healthz", async (response) => writeJson(response, 200, { status: "ok" }));
    pages.set("/readyz", async (response) => {
      const state = await readiness();
      writeJson(response, state.ready ? 200 : 503, formatReadiness(state));
    });
  }

  async function writeMetrics(response: ServerResponse): Promise<void> {
    const text = await registry.metrics();
    response.writeHead(200, { "content-type": registry.contentType }).end(text);
  }

  const server = createServer((request, response) => {
    const page = request.method === "GET" ? pages.get(request.url ?? "") : undefined;
    if (page) page(response).catch(() => response.writeHead(500).end());
    else response.writeHead(404).end();
  });
  await new Promise<void>((settle, fail) => {
    server.once("error", fail);
    server.listen(port, host, settle);
  });
  return {
    url: formatHttpAddress(host, port),
    close: () =>
      new Promise((settle) => {
        server.close(() => settle());
        server.closeAllConnections();
      }),
  };
}

function writeJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
