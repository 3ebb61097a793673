// The pages of sign-in: to the identity provider and back, the one-time link, and sign-out. Thrown
// failures become pages in toFailureAnswer. Source: docs/spec.md, Authentication, 6;
// docs/sign-in.md.

import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Page, PageAnswer, PageRequest, Pages } from "../../transport/pages.ts";
import { isOwnOrigin } from "../authenticate.ts";
import { attemptSeconds, createAttempt } from "./attempts.ts";
import type { Cookies } from "./cookies.ts";
import type { Entrance, LinkEntrance, ProviderEntrance } from "./entrance.ts";
import { toFailureAnswer } from "./failure.ts";
import { bareHeaders, escapeHtml, toHtmlAnswer } from "./html.ts";
import type { Identity } from "./identity.ts";
import { linkPath } from "./links.ts";
import { parseReturnPath, returnPathDefault } from "./return-path.ts";
import type { SignIns } from "./sign-ins.ts";
import { createToken, isToken } from "./token.ts";

export type SignInPagesOptions = {
  readonly entrance: Entrance;
  readonly signIns: SignIns;
  readonly cookies: Cookies;
  /** Same as the authenticator's. */
  readonly publicOrigin: string | undefined;
  readonly logger: Pick<Logger, "info">;
};

/** Minimum duration of a session (docs/spec.md, Limits). */
const sessionMsMin = 3 * 3_600_000;

/** Path where a sign-in at the identity provider begins. */
export const signInPath = "/auth/sign-in";
const callbackPath = "/auth/callback";

export function createSignInPages(options: SignInPagesOptions): Pages {
  const { entrance, signIns, cookies, publicOrigin } = options;

  const signOut: Page = async (request) => {
    assertOwnOrigin(request, publicOrigin);
    const token = signIns.tokenOf(request.cookie);
    if (token !== undefined) await signIns.end(token);
    return {
      status: 200,
      headers: {
        ...bareHeaders,
        "content-type": "application/json",
        "set-cookie": cookies.session.clear(),
      },
      body: JSON.stringify({ success: true }),
    };
  };

  return {
    routes: {
      "POST /auth/sign-out": signOut,
      ...(entrance.kind === "provider"
        ? providerPages(options, entrance)
        : linkPages(options, entrance)),
    },
    toFailureAnswer: (failure, { accept }) => toFailureAnswer(failure, accept, entrance.kind),
  };
}

function providerPages(
  options: SignInPagesOptions,
  { provider, attempts, publicOrigin, recordSignIn }: ProviderEntrance,
): Pages["routes"] {
  const { cookies } = options;
  return {
    [`GET ${signInPath}`]: async ({ query, cookie }) => {
      const returnTo = parseReturnPath(query.get("return_to"));
      // One value for all tabs, so that two attempts in one browser do not invalidate each other.
      const browser = cookies.browser.find(cookie) ?? createToken();
      const attempt = createAttempt(returnTo);
      const redirectUri = `${publicOrigin}${callbackPath}`;
      const url = await provider.getAuthorizationUrl({ ...attempt, redirectUri });
      // Stored after the provider answered: if it is away, no attempts pile up.
      await attempts.keep(attempt, browser);
      return redirect(url, cookies.browser.set(browser, attemptSeconds));
    },

    [`GET ${callbackPath}`]: async (request) => {
      const { query } = request;
      const browser = cookies.browser.find(request.cookie);
      const { returnTo, ...expected } = await attempts.take(query.get("state"), browser);
      const callbackUrl = new URL(`${publicOrigin}${callbackPath}?${query.toString()}`);
      const identity = await provider.getIdentity(callbackUrl, expected);
      const userId = await recordSignIn(identity);
      return redirect(returnTo, await beginSession(options, request, { ...identity, userId }));
    },
  };
}

function linkPages(options: SignInPagesOptions, { links }: LinkEntrance): Pages["routes"] {
  return {
    [`GET ${signInPath}`]: () =>
      Promise.reject(
        new ServiceError("SIGN_IN_UNAVAILABLE", "No identity provider is configured."),
      ),

    // Shows a button and changes nothing: link scanners that open the page do not consume the link.
    [`GET ${linkPath}`]: ({ query }) => {
      const token = query.get("token");
      if (!isToken(token)) return Promise.reject(incompleteLink());
      return Promise.resolve(linkPage(token));
    },

    [`POST ${linkPath}`]: async (request) => {
      assertOwnOrigin(request, options.publicOrigin);
      const token = new URLSearchParams(request.body.toString()).get("token");
      if (!isToken(token)) throw incompleteLink();
      const userId = await links.use(token);
      const session = { userId, groups: [], tokenExpiresAtMs: 0 };
      return redirect(returnPathDefault, await beginSession(options, request, session));
    },
  };
}

function incompleteLink(): ServiceError {
  return new ServiceError("SIGN_IN_REFUSED", "This link is incomplete: copy all of it.");
}

function linkPage(token: string): PageAnswer {
  const page = toHtmlAnswer({
    status: 200,
    title: "Sign in to Waggle",
    content:
      "<p>You will be signed in as the administrator of this service.</p>" +
      `<form method="post" action="${linkPath}">` +
      `<input type="hidden" name="token" value="${escapeHtml(token)}">` +
      "<button>Sign in</button></form>",
  });
  // With no-referrer, browsers would send the form with `Origin: null` (Fetch, 3.2).
  return { ...page, headers: { ...page.headers, "referrer-policy": "same-origin" } };
}

/** Begins a session that replaces the browser's previous one; returns its Set-Cookie header. */
async function beginSession(
  { signIns, cookies, logger }: SignInPagesOptions,
  request: PageRequest,
  session: Pick<Identity, "groups" | "tokenExpiresAtMs"> & { readonly userId: string },
): Promise<string> {
  const { userId, groups, tokenExpiresAtMs } = session;
  const nowMs = Date.now();
  const expiresAtMs = Math.max(tokenExpiresAtMs, nowMs + sessionMsMin);
  const token = await signIns.create({ userId, groups, expiresAtMs });
  const before = signIns.tokenOf(request.cookie);
  if (before !== undefined) await signIns.end(before);
  logger.info({ user_id: userId }, "signed in");
  return cookies.session.set(token, Math.ceil((expiresAtMs - nowMs) / 1_000));
}

function redirect(location: string, cookie: string): PageAnswer {
  return { status: 303, headers: { ...bareHeaders, location, "set-cookie": cookie }, body: "" };
}

function assertOwnOrigin(request: PageRequest, publicOrigin: string | undefined): void {
  if (!isOwnOrigin(request, publicOrigin)) {
    throw new ServiceError("NOT_FOUND", "a form from another origin");
  }
}
