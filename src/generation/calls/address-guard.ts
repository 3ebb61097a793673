// Where requests of tenants may go: to public addresses, and to what the operator names. A name is
// resolved here, and the socket connects to the very address that was looked at. Called by
// credentials when a base URL is set, and by outbound.ts when a socket is opened.
// Source: docs/decisions.md, 21; RFC 6890; RFC 6761.

import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { ServiceError } from "../../base/errors.ts";
import { OutboundError } from "./network-error.ts";
import { resolvePublicly, type Resolve } from "./resolve-publicly.ts";

export type AddressGuard = {
  /**
   * Fails with INVALID_ARGUMENT naming `base_url` where a URL leads to no public address. A name
   * that cannot be resolved now passes: it is looked at again when a socket is opened.
   */
  assertAllowed(url: string): Promise<void>;
  /**
   * Fails with OutboundError where a host that is an address is refused: sockets resolve only
   * names.
   */
  assertAddress(host: string, port: string): void;
  /**
   * Resolves names for sockets to a port, to public addresses; fails with OutboundError without
   * one.
   */
  lookupFor(port: string): LookupFunction;
};

export type AddressGuardOptions = {
  /** `host` or `host:port` that requests of tenants may go to although it is private. */
  readonly privateHosts: readonly string[];
  readonly resolve?: Resolve;
};

const refusal = "is at an address that is not public; only the operator may name such";

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const { resolve = resolvePublicly } = options;
  const privateHosts = new Set(options.privateHosts.map((host) => host.toLowerCase()));
  const isOperators = (host: string, port: string): boolean =>
    privateHosts.has(host) || privateHosts.has(`${host}:${port}`);

  /** Returns the public addresses of a name; fails as the resolver does. */
  async function findPublic(host: string): Promise<readonly string[]> {
    return isInternalName(host) ? [] : (await resolve(host)).filter(isPublic);
  }

  async function isAllowed(host: string, port: string): Promise<boolean> {
    if (isOperators(host, port)) return true;
    if (isIP(bare(host)) !== 0) return isPublic(bare(host));
    try {
      return (await findPublic(host)).length > 0;
    } catch {
      // The resolver has no answer now. Nothing is sent by that: sockets ask again.
      return true;
    }
  }

  return {
    async assertAllowed(url) {
      const { hostname, port, protocol } = new URL(url);
      if (await isAllowed(toHost(hostname), port === "" ? defaultPort(protocol) : port)) return;
      throw new ServiceError("INVALID_ARGUMENT", `base_url: ${refusal}`);
    },

    assertAddress(hostname, port) {
      const host = toHost(hostname);
      if (isIP(bare(host)) === 0 || isOperators(host, port) || isPublic(bare(host))) return;
      throw new OutboundError("address", refusal);
    },

    lookupFor: (port) => (hostname, lookupOptions, callback) => {
      const host = toHost(hostname);
      if (isOperators(host, port)) {
        systemLookup(hostname, lookupOptions, callback);
        return;
      }
      findPublic(host).then(
        (addresses) => {
          const found = addresses.map((address) => ({ address, family: isIP(address) }));
          const [first] = found;
          if (!first) callback(new OutboundError("address", refusal), "", 0);
          else if (lookupOptions.all === true) callback(null, found);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error as Error, "", 0),
      );
    },
  };
}

/** Returns the port that a URL without one means. */
export function defaultPort(protocol: string): string {
  return protocol === "https:" ? "443" : "80";
}

/** Returns a host as URLs write it: in lower case, IPv6 in brackets, without the root's dot. */
function toHost(hostname: string): string {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  return isIP(host) === 6 ? `[${host}]` : host;
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

/**
 * Names that are internal by definition, and such without a dot, which only a search list could
 * resolve: refused whatever a resolver says. Metadata services have names under `internal`.
 */
const internalName = /^[^.]*$|(^|\.)(localhost|local|internal|home\.arpa|invalid|onion)$/;

function isInternalName(host: string): boolean {
  return internalName.test(host);
}

/**
 * Global addresses of IPv6; what carries an IPv4 address inside lies outside, or is told by range.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
/** A service of the cloud's at a public address: Azure's, for its virtual machines alone. */
const cloudServices: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** Tells whether an address is public unicast. Those with an IPv4 address inside are not. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || cloudServices.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(globalUnicast);
}
