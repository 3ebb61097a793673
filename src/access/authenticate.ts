// Finds the caller of a request from its headers: a key, or the cookie of a sign-in. Source:
// docs/spec.md, Authentication; docs/decisions.md, 14.

import { ServiceError } from "../base/errors.ts";
import type { Keys } from "./keys/keys.ts";
import type { Principal } from "./principal.ts";

/** Headers and method that identify the caller of a request. */
export type Credentials = {
  readonly httpMethod: string;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly origin: string | undefined;
  readonly host: string | undefined;
};

/**
 * Fails with NOT_FOUND if the credentials are invalid or missing, and with KEY_UNVERIFIABLE if the
 * database does not answer.
 */
export type Authenticator = (credentials: Credentials) => Promise<Principal>;

export type SignInReader = {
  /** Returns the value of the sign-in cookie in a Cookie header. */
  tokenOf(cookie: string | undefined): string | undefined;
  /** Returns the signed-in person. Fails like Authenticator. */
  authenticate(token: string): Promise<Principal>;
};

export type AuthenticatorOptions = {
  readonly keys: Pick<Keys, "authenticate">;
  readonly signIns?: SignInReader;
  /** Origin at which browsers reach the service; undefined uses the Host header. */
  readonly publicOrigin?: string | undefined;
};

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Returns the authenticator. A key wins over a cookie; without either, the steps are those for an
 * unknown key.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { keys, signIns, publicOrigin } = options;
  return async (credentials) => {
    const { authorization, cookie, httpMethod } = credentials;
    const token = authorization === undefined ? signIns?.tokenOf(cookie) : undefined;
    if (!signIns || token === undefined) return keys.authenticate(authorization);
    const principal = await signIns.authenticate(token);
    if (!safeMethods.has(httpMethod) && !isOwnOrigin(credentials, publicOrigin)) {
      throw new ServiceError("NOT_FOUND", "a write with a cookie from another origin");
    }
    return principal;
  };
}

/** Tells whether a browser sent the request from a page of this service. */
export function isOwnOrigin(
  { origin, host }: Pick<Credentials, "origin" | "host">,
  publicOrigin: string | undefined,
): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  if (publicOrigin !== undefined) return new URL(origin).origin === publicOrigin;
  return host !== undefined && new URL(origin).host === host;
}
