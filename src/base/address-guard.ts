// Limits requests of tenants to public addresses and to hosts that the operator allows. The socket
// connects to the same address that was checked, so a second DNS answer cannot bypass the check.
// Source: docs/decisions.md, 21.5; RFC 6890; RFC 6761.

import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Resolver } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { refuse } from "./errors.ts";

export type AddressGuard = {
  /**
   * Fails with INVALID_ARGUMENT naming the field if a URL leads to no public address. A name that
   * cannot be resolved now passes: it is checked again when a socket is opened.
   */
  assertAllowed(field: string, url: string): Promise<void>;
  /**
   * Fails with AddressError if the host is an IP address that is not allowed. Needed because
   * sockets resolve only names.
   */
  assertAddress(host: string, port: string): void;
  /**
   * Returns a lookup for sockets to a port that yields public addresses only; it fails with
   * AddressError if a name has none.
   */
  lookupFor(port: string): LookupFunction;
};

/** Says that a host is at an address that tenants may not reach; it holds no address. */
export class AddressError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressError";
  }
}

export type AddressGuardOptions = {
  /** Private hosts, as `host` or `host:port`, that requests of tenants may reach. */
  readonly privateHosts: readonly string[];
  readonly resolve?: Resolve;
};

const refusal = "is at an address that is not public; only the operator may name such";

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const { resolve = resolvePublicly } = options;
  const privateHosts = new Set(options.privateHosts.map((host) => host.toLowerCase()));
  const isOperators = (host: string, port: string): boolean =>
    privateHosts.has(host) || privateHosts.has(`${host}:${port}`);

  /** Returns the public addresses of a name; fails if the resolver fails. */
  async function findPublic(host: string): Promise<readonly string[]> {
    return isInternalName(host) ? [] : (await resolve(host)).filter(isPublic);
  }

  async function isAllowed(host: string, port: string): Promise<boolean> {
    if (isOperators(host, port)) return true;
    if (isIP(bare(host)) !== 0) return isPublic(bare(host));
    try {
      return (await findPublic(host)).length > 0;
    } catch {
      // The resolver has no answer now. This is safe: every socket resolves the name again.
      return true;
    }
  }

  return {
    async assertAllowed(field, url) {
      const { hostname, port, protocol } = new URL(url);
      if (await isAllowed(toHost(hostname), port === "" ? defaultPort(protocol) : port)) return;
      refuse(field, refusal);
    },

    assertAddress(hostname, port) {
      const host = toHost(hostname);
      if (isIP(bare(host)) === 0 || isOperators(host, port) || isPublic(bare(host))) return;
      throw new AddressError(refusal);
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
          if (!first) callback(new AddressError(refusal), "", 0);
          else if (lookupOptions.all === true) callback(null, found);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error as Error, "", 0),
      );
    },
  };
}

/** Returns the port of a URL that names none. */
export function defaultPort(protocol: string): string {
  return protocol === "https:" ? "443" : "80";
}

/** Returns a host as URLs write it: lower case, IPv6 in brackets, without a trailing dot. */
function toHost(hostname: string): string {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  return isIP(host) === 6 ? `[${host}]` : host;
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

/**
 * Names that are internal by definition, and names without a dot, which only a search list could
 * resolve. They are refused without asking the resolver. Metadata services are under `internal`.
 */
const internalName = /^[^.]*$|(^|\.)(localhost|local|internal|home\.arpa|invalid|onion)$/;

function isInternalName(host: string): boolean {
  return internalName.test(host);
}

/**
 * Global unicast addresses of IPv6. Addresses that embed an IPv4 address are outside this range, or
 * ipaddr.js names another range than unicast for them.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
/** Cloud services at public addresses: Azure's, which only its virtual machines reach. */
const cloudServices: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** Returns whether an address is public unicast. IPv6 with an embedded IPv4 address is not. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || cloudServices.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(globalUnicast);
}

/** Returns at least one address of a name; fails if it has none or no server answers. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Maximum time of one query to one name server; `allMs` limits all of them together. */
const questionMs = 2_000;
const allMs = 5_000;
const tries = 2;
/** Maximum addresses that are returned: a socket needs only a few. */
const addressesMax = 16;

const resolvePublicly: Resolve = async (hostname) => {
  // A new resolver each time, because the system's name servers may change while the service runs.
  const resolver = new Resolver({ timeout: questionMs, tries });
  const timer = setTimeout(() => resolver.cancel(), allMs);
  try {
    return firstOf(
      await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]),
    );
  } finally {
    clearTimeout(timer);
  }
};

function firstOf(answers: readonly PromiseSettledResult<readonly string[]>[]): readonly string[] {
  const addresses = answers.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  if (addresses.length > 0) return addresses.slice(0, addressesMax);
  const failed = answers.find((one) => one.status === "rejected");
  throw failed?.reason ?? new Error("a name without addresses");
}
