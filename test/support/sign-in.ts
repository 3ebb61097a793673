// The service with a real identity provider, and browsers that go through both.

import { clientId, clientSecret, startIdentityProvider } from "./identity-provider.ts";
import type { IdentityProvider, IdentityProviderOptions } from "./identity-provider.ts";
import { type Browser, type BrowserAnswer, openBrowser } from "./browser.ts";
import { startService, type TestService } from "./service.ts";

export type SignInSetup = {
  readonly service: TestService;
  readonly provider: IdentityProvider;
  /** Address of the service for browsers; only they can resolve the name. */
  readonly origin: string;
  /** Opens a browser whose person has this account at the provider. */
  openBrowser(account?: string): Browser;
  /** Signs a new browser in and returns it with the answer of the callback. */
  signIn(account: string): Promise<{ readonly browser: Browser; readonly answer: BrowserAnswer }>;
  /**
   * Returns the address of the page to which the provider redirects a browser, without visiting it.
   */
  callbackUrlOf(browser: Browser, path?: string): Promise<string>;
  stop(): Promise<void>;
};

export type StartSignInOptions = Partial<IdentityProviderOptions> & {
  readonly origin?: string;
  readonly flags?: Readonly<Record<string, string>>;
};

/** Starts both; stops the provider if the service does not start. */
export async function startSignIn({
  origin = "http://waggle.test",
  flags = {},
  accounts = { ana: { email: "ana@example.org" } },
  ...options
}: StartSignInOptions = {}): Promise<SignInSetup> {
  const redirectUri = `${origin}/auth/callback`;
  const provider = await startIdentityProvider({ redirectUri, accounts, ...options });
  const service = await startService({
    "public-url": origin,
    "oidc-issuer": provider.issuer,
    "oidc-client-id": clientId,
    "oidc-client-secret": clientSecret,
    "oidc-scopes": "openid email profile groups",
    ...flags,
  }).catch(async (error: unknown) => {
    await provider.stop();
    throw error;
  });

  const open = (account?: string): Browser =>
    openBrowser({
      addresses: { [origin]: service.url },
      rewrite: (url) => {
        const isAsking = url.origin === provider.issuer && url.pathname === "/auth";
        if (isAsking && account !== undefined) url.searchParams.set("login_hint", account);
      },
    });

  const isCallback = (url: string): boolean => url.startsWith(redirectUri);
  const callbackUrlOf = async (browser: Browser, path = "/auth/sign-in"): Promise<string> =>
    (await browser.follow(origin + path, isCallback)).url;

  return {
    service,
    provider,
    origin,
    openBrowser: open,
    callbackUrlOf,
    async signIn(account) {
      const browser = open(account);
      return { browser, answer: await browser.visit(await callbackUrlOf(browser)) };
    },
    async stop() {
      await service.stop();
      await provider.stop();
    },
  };
}
