// Sockets of requests that tenants ask for: each leads to an address that was checked.
// Source: docs/decisions.md, 21.5.

import { buildConnector } from "undici";
import { type AddressGuard, defaultPort } from "./address-guard.ts";

export type SocketGuard = Pick<AddressGuard, "assertAddress" | "lookupFor">;

/** Returns the opener of sockets to an origin for a client or pool of undici, by HTTP/1.1. */
export function createGuardedConnector(
  guard: SocketGuard,
  origin: string | URL,
  timeoutMs: number,
): buildConnector.connector {
  const url = new URL(origin);
  const port = url.port === "" ? defaultPort(url.protocol) : url.port;
  const lookup = guard.lookupFor(port);
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup });
  return (options, callback) => {
    try {
      // Sockets resolve only names, so that an address would go unchecked.
      guard.assertAddress(options.hostname, port);
    } catch (error) {
      process.nextTick(callback, error, null);
      return;
    }
    connect(options, callback);
  };
}
