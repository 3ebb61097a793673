// The identity provider: where to send a browser, and who comes back. Signature, issuer, audience,
// expiry and nonce of the ID token are checked by openid-client.
// Source: OpenID Connect Core 1.0, 3.1; RFC 7636; RFC 9700.

import * as client from "openid-client";
import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { assertUsable, lacksClaims, mergeClaims, toIdentity } from "./identity.ts";
import type { Claims, Identity, IdentityOptions } from "./identity.ts";

export type IdentityProvider = {
  /** Returns where to send the browser. Fails with SIGN_IN_UNAVAILABLE. */
  getAuthorizationUrl(attempt: {
    readonly redirectUri: string;
    readonly state: string;
    readonly nonce: string;
    readonly codeVerifier: string;
  }): Promise<string>;
  /**
   * Returns who signed in, by the URL that the browser came back to.
   *
   * Fails with SIGN_IN_REFUSED when the provider says no or its answer does not hold, and with
   * SIGN_IN_UNAVAILABLE when it does not answer.
   */
  getIdentity(
    callbackUrl: URL,
    expected: {
      readonly state: string;
      readonly nonce: string;
      readonly codeVerifier: string;
    },
  ): Promise<Identity>;
};

export type IdentityProviderOptions = IdentityOptions & {
  /** https, or http on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly logger: Pick<Logger, "warn">;
};

const requestTimeoutSeconds = 10;
/** What the provider says of itself changes seldom. */
const discoveryMsMax = 3_600_000;
/** After a failure it may have changed; asked no more often than this, whoever fails. */
const discoveryMsMin = 30_000;

export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { scopes, groupsClaim, logger } = options;
  const discovery = createDiscovery(options);

  /** Runs what asks the provider, and says its failures in our words. */
  async function asking<T>(work: (configuration: client.Configuration) => Promise<T>): Promise<T> {
    try {
      return await work(await discovery.get());
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      discovery.doubt();
      logger.warn({ identity_provider: describe(error) }, "a sign-in failed");
      throw toServiceError(error);
    }
  }

  return {
    getAuthorizationUrl: ({ redirectUri, state, nonce, codeVerifier }) =>
      asking(async (configuration) => {
        const url = client.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: scopes.join(" "),
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: "S256",
        });
        return url.href;
      }),

    getIdentity: (callbackUrl, { state, nonce, codeVerifier }) =>
      asking(async (configuration) => {
        const tokens = await client.authorizationCodeGrant(configuration, callbackUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        const idToken = tokens.claims();
        if (!idToken) throw new Error("a checked answer without an ID token");
        assertUsable(idToken);
        const more = await fetchMore(configuration, tokens.access_token, idToken);
        return toIdentity(mergeClaims(idToken, more), options);
      }),
  };

  /** Asks for the claims that the ID token does not carry. */
  async function fetchMore(
    configuration: client.Configuration,
    accessToken: string,
    idToken: client.IDToken,
  ): Promise<Claims> {
    if (!lacksClaims(idToken, groupsClaim)) return {};
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return client.fetchUserInfo(configuration, accessToken, idToken.sub);
  }
}

type Discovery = {
  /** Returns what the provider says of itself, asking it once for many callers. */
  get(): Promise<client.Configuration>;
  /** Says that something failed, so that the next caller asks again, unless it was just asked. */
  doubt(): void;
};

function createDiscovery(options: IdentityProviderOptions): Discovery {
  const { issuer, clientId, clientSecret } = options;
  const url = new URL(issuer);
  const isInsecure = url.protocol === "http:";
  let kept: { readonly found: Promise<client.Configuration>; readonly atMs: number } | undefined;

  async function discover(): Promise<client.Configuration> {
    return client.discovery(url, clientId, undefined, authenticateClient(clientSecret), {
      timeout: requestTimeoutSeconds,
      execute: [
        // Else the signature goes unchecked, since the token comes from the provider itself.
        client.enableNonRepudiationChecks,
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- a mark of danger, not of age
        ...(isInsecure ? [client.allowInsecureRequests] : []),
      ],
    });
  }

  return {
    get() {
      if (kept && Date.now() - kept.atMs < discoveryMsMax) return kept.found;
      const fresh = { found: discover(), atMs: Date.now() };
      kept = fresh;
      fresh.found.catch(() => {
        // A failure is not kept: the provider may be there for the next caller.
        if (kept === fresh) kept = undefined;
      });
      return fresh.found;
    },
    doubt() {
      if (kept && Date.now() - kept.atMs > discoveryMsMin) kept = undefined;
    },
  };
}

/** In the header, as is the default; in the body where the provider takes nothing else. */
function authenticateClient(secret: string): client.ClientAuth {
  const inHeader = client.ClientSecretBasic(secret);
  const inBody = client.ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = methods.includes("client_secret_basic") ? inHeader : inBody;
    authenticate(server, ...rest);
  };
}

const unavailable =
  "The identity provider does not answer as it should. Try again; if this goes on, tell whoever " +
  "runs this service, whose log says more.";

function toServiceError(cause: unknown): ServiceError {
  if (cause instanceof client.AuthorizationResponseError) {
    return new ServiceError(
      "SIGN_IN_REFUSED",
      `The identity provider refused the sign-in: ${printable(cause.error)}.`,
      { cause },
    );
  }
  const isUsedCode = cause instanceof client.ResponseBodyError && cause.error === "invalid_grant";
  if (isUsedCode) {
    const message = "The identity provider no longer takes the code that it gave the browser.";
    return new ServiceError("SIGN_IN_REFUSED", message, { cause });
  }
  if (cause instanceof client.ClientError && verificationCodes.has(cause.code ?? "")) {
    const message = "What the identity provider answered could not be verified.";
    return new ServiceError("SIGN_IN_REFUSED", message, { cause });
  }
  return new ServiceError("SIGN_IN_UNAVAILABLE", unavailable, { cause });
}

/** openid-client's codes for an answer that came and does not hold. */
const verificationCodes: ReadonlySet<string> = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_KEY_SELECTION_FAILED",
  "OAUTH_PARSE_ERROR",
]);

/** Codes and messages only: causes hold tokens. */
function describe(error: unknown): Readonly<Record<string, unknown>> {
  const { code, message, cause } = error as Error & { code?: unknown };
  const because = cause instanceof Error ? cause.message : undefined;
  return { code, message, because, said: findErrorCode(error) };
}

/** Returns the provider's own word for what was wrong. */
function findErrorCode(error: unknown): string | undefined {
  if (error instanceof client.WWWAuthenticateChallengeError) {
    const [challenge] = error.cause;
    return printable(challenge?.parameters.error ?? "");
  }
  const isAnswer =
    error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError;
  return isAnswer ? printable(error.error) : undefined;
}

/** Only what an error code may be (RFC 6749, 4.1.2.1), since it came by the browser. */
function printable(code: string): string {
  return code.replaceAll(/[^\w.-]/g, "").slice(0, 64);
}
