// A real OpenID Connect provider on loopback with fixed accounts. It signs every browser in as the
// account in `login_hint`, without a form.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import type { Configuration, JWK } from "oidc-provider";
import { vi } from "vitest";

export type Account = {
  readonly email?: string;
  /** True by default; undefined leaves the claim out. */
  readonly email_verified?: boolean | string | undefined;
  readonly name?: string;
  readonly groups?: readonly string[] | string;
};

export type IdentityProviderOptions = {
  readonly redirectUri: string;
  /** Accounts by subject; a test may change them during its run. */
  readonly accounts: Record<string, Account>;
  /** Lifetime of ID tokens in seconds. */
  readonly idTokenSeconds?: number;
  /** Whether the ID token itself contains e-mail and groups; else only userinfo does. */
  readonly isTokenFull?: boolean;
  readonly port?: number;
};

export type IdentityProvider = {
  readonly issuer: string;
  readonly port: number;
  /** Paths of all requests since the start. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
};

export const clientId = "waggle";
export const clientSecret = "a secret of the tests";

const scopes = "openid email profile groups";

export async function startIdentityProvider(
  options: IdentityProviderOptions,
): Promise<IdentityProvider> {
  const asked: string[] = [];
  const server = createServer();
  const port = await listen(server, options.port ?? 0);
  const issuer = `http://127.0.0.1:${port}`;
  // The provider warns that it keeps everything in memory, which is intended here.
  const warnings = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const provider = new Provider(issuer, configurationOf(options));
  warnings.mockRestore();
  const serve = provider.callback();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    asked.push((request.url ?? "").split("?")[0] ?? "");
    if (request.url?.startsWith("/interaction/") === true) {
      void signIn(provider, request, response);
      return;
    }
    void serve(request, response);
  });
  return {
    issuer,
    port,
    asked,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function signIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const accountId = params["login_hint"];
  const result =
    typeof accountId === "string"
      ? { login: { accountId } }
      : { error: "access_denied", error_description: "nobody signed in" };
  await provider.interactionFinished(request, response, result);
}

function configurationOf(options: IdentityProviderOptions): Configuration {
  const { accounts, redirectUri, idTokenSeconds = 3_600, isTokenFull = true } = options;
  return {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [signingKey()] },
    cookies: { keys: ["a key of the tests"] },
    pkce: { required: () => true },
    claims: { email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    conformIdTokenClaims: !isTokenFull,
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: idTokenSeconds,
      Interaction: 600,
      Session: 600,
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, subject) => {
      const account = accounts[subject];
      if (!account) return undefined;
      const verified = account.email === undefined ? {} : { email_verified: true };
      return { accountId: subject, claims: () => ({ sub: subject, ...verified, ...account }) };
    },
    async loadExistingGrant({ oidc }) {
      const { client, session, provider } = oidc;
      if (!client || !session?.accountId) return undefined;
      const ids = { clientId: client.clientId, accountId: session.accountId };
      const grant = new provider.Grant(ids);
      grant.addOIDCScope(scopes);
      await grant.save();
      return grant;
    },
  };
}

function signingKey(): JWK {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: "one" };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  return (server.address() as AddressInfo).port;
}
