// The two cookies of sign-in: one for the session, one that ties an attempt to a browser. Source:
// RFC 6265bis; docs/spec.md, Authentication, 6.

import { isToken } from "./token.ts";

export type Cookie = {
  /** Returns the cookie's value in a Cookie header, if it has the form of a token. */
  find(header: string | undefined): string | undefined;
  /** Returns the Set-Cookie header that sets the cookie for `maxAgeSeconds`. */
  set(value: string, maxAgeSeconds: number): string;
  /** Returns the Set-Cookie header that removes the cookie. */
  clear(): string;
};

/** Name of the session cookie, without the prefix that it has over HTTPS. */
export const sessionCookie = "waggle_session";

export type Cookies = { readonly session: Cookie; readonly browser: Cookie };

/** Returns the cookies. `isSecure` is true if browsers reach the service over HTTPS only. */
export function createCookies(isSecure: boolean): Cookies {
  return {
    session: createCookie(sessionCookie, isSecure),
    browser: createCookie("waggle_sign_in", isSecure),
  };
}

function createCookie(bareName: string, isSecure: boolean): Cookie {
  // With this prefix, browsers accept and send the cookie for this exact host over HTTPS only.
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
