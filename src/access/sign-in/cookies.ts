// The two cookies of sign-in: the session, and what ties an attempt to one browser. Called by
// sign-ins.ts and pages.ts. Source: RFC 6265bis; docs/spec.md, Authentication, 6.

import { isToken } from "./token.ts";

export type Cookie = {
  /** Returns the cookie's value in a Cookie header, if it has the form of a token. */
  find(header: string | undefined): string | undefined;
  /** Returns the Set-Cookie header that makes it; it ends with `maxAgeSeconds`. */
  set(value: string, maxAgeSeconds: number): string;
  /** Returns the Set-Cookie header that takes it away. */
  clear(): string;
};

/** Name of the session's cookie; over HTTPS it has a prefix. */
export const sessionCookie = "waggle_session";

export type Cookies = { readonly session: Cookie; readonly browser: Cookie };

/** `isSecure` is for a service that browsers reach over HTTPS, and over HTTPS only. */
export function createCookies(isSecure: boolean): Cookies {
  return {
    session: createCookie(sessionCookie, isSecure),
    browser: createCookie("waggle_sign_in", isSecure),
  };
}

function createCookie(bareName: string, isSecure: boolean): Cookie {
  // With this prefix browsers take the cookie from this very host alone, and over HTTPS alone.
  const name = isSecure ? `__Host-${bareName}` : bareName;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  return {
    find(header) {
      const pairs = (header ?? "").split(";").map((pair) => pair.trim());
      const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
      return isToken(value) ? value : undefined;
    },
    set: (value, maxAgeSeconds) => `${name}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}
