// A server that is no Waggle, such as a page to sign in to or the wrong port.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export type AnyAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Default: the beginning of a page. */
  readonly body?: string;
};

/** Starts a server that gives every request this answer, and returns its address. */
export async function givenNoWaggle({ status, headers, body }: AnyAnswer): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, headers).end(body ?? "<html>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
