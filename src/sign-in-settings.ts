// Texts of the settings of sign-in → values; each fails with what is wrong with the text.
// Called by config.ts. Source: OpenID Connect Discovery 1.0, 3; docs/sign-in.md.

import { isIP } from "node:net";

/** How to reach the identity provider that people sign in with. */
export type OidcConfig = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  /** Takes an e-mail as verified where the provider does not say whether it is. */
  readonly isEmailTrusted: boolean;
};

/** Returns the origin of a URL that is nothing else; undefined for an empty text. */
export function parseOrigin(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (!isOrigin) {
    const wanted = "scheme and host alone, such as https://waggle.example.org";
    throw new Error(`must be ${wanted}, not ${JSON.stringify(text)}`);
  }
  return url.origin;
}

/** Returns the text, as the provider compares it; undefined for an empty one. */
export function parseIssuer(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && url.search === "" && url.hash === "" && url.username + url.password === "";
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (!isPlain || !isSafe) {
    // It may hold a password, so it is not repeated.
    throw new Error("must be an https URL without a query; http is for this machine alone");
  }
  return text;
}

function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}

/** Splits scopes at spaces or commas. */
export function parseScopes(text: string): readonly string[] {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== "");
  if (!scopes.includes("openid")) throw new Error("must include openid");
  return Object.freeze(scopes);
}

/** Returns an e-mail address in lower case. */
export function parseEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new Error(`must be an e-mail address, not ${JSON.stringify(text)}`);
  }
  return email;
}
