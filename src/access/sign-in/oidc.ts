// The identity provider: the address to send a browser to, and the identity of the returning
// person. openid-client checks signature, issuer, audience, expiry and nonce of the ID token.
// Source: OpenID Connect Core 1.0, 3.1; RFC 7636; RFC 9700.

import * as client from "openid-client";
import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Attempt } from "./attempts.ts";
import { assertUsable, lacksClaims, mergeClaims, toIdentity } from "./identity.ts";
import type { Claims, Identity, IdentityOptions } from "./identity.ts";

/** Values of one attempt, by which the provider's answer is known as the answer to it. */
type OwnValues = Omit<Attempt, "returnTo">;

export type IdentityProvider = {
  /** Returns the address to send the browser to. Fails with SIGN_IN_UNAVAILABLE. */
  getAuthorizationUrl(attempt: OwnValues & { readonly redirectUri: string }): Promise<string>;
  /**
   * Returns the identity of the signed-in person, given the URL that the browser returned to.
   *
   * Fails with SIGN_IN_REFUSED if the provider refuses or its answer is invalid, and with
   * SIGN_IN_UNAVAILABLE if it does not answer.
   */
  getIdentity(callbackUrl: URL, expected: OwnValues): Promise<Identity>;
  /** Asks for the provider's metadata. Returns why that failed; undefined if it did not. */
  findFault(): Promise<string | undefined>;
};

export type IdentityProviderOptions = IdentityOptions & {
  /** Issuer URL: https, or http on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly logger: Pick<Logger, "warn">;
};

const requestTimeoutSeconds = 10;
/** Maximum age of the provider's metadata, which seldom changes. */
const discoveryMsMax = 3_600_000;
/**
 * Minimum age of the metadata before a failure causes a new request, however many sign-ins fail.
 */
const discoveryMsMin = 30_000;

export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { scopes, groupsClaim, logger } = options;
  const discovery = createDiscovery(options);

  /** Runs a request to the provider and converts its failures to ServiceError. */
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

    async findFault() {
      try {
        await discovery.get();
        return undefined;
      } catch (error) {
        const { message, because } = describe(error);
        return because === undefined ? message : `${message}: ${because}`;
      }
    },
  };

  /** Fetches the claims that the ID token lacks. */
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
  /** Returns the provider's metadata; concurrent callers share one request. */
  get(): Promise<client.Configuration>;
  /** Makes the next caller fetch the metadata again after a failure, unless it is recent. */
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
        // Without this, the signature is not checked, because the token comes directly from the
        // provider.
        client.enableNonRepudiationChecks,
        // oxlint-disable-next-line typescript/no-deprecated -- a mark of danger, not of age
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
        // A failure is not kept: the provider may answer the next caller.
        if (kept === fresh) kept = undefined;
      });
      return fresh.found;
    },
    doubt() {
      if (kept && Date.now() - kept.atMs > discoveryMsMin) kept = undefined;
    },
  };
}

/**
 * Sends the secret in the header, the default, or in the body if the provider does not support the
 * header.
 */
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
  "The identity provider does not answer as it should. Try again; if this goes on, tell the " +
  "operator of this service, whose log says more.";

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

/** openid-client's codes for an answer that arrived but is invalid. */
const verificationCodes: ReadonlySet<string> = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_KEY_SELECTION_FAILED",
  "OAUTH_PARSE_ERROR",
]);

/** Returns codes and messages only: causes contain tokens. */
function describe(error: unknown) {
  const { code, message, cause } = error as Error & { code?: unknown };
  const because = cause instanceof Error ? cause.message : undefined;
  return { code, message, because, said: findErrorCode(error) };
}

/** Returns the provider's own error code, if any. */
function findErrorCode(error: unknown): string | undefined {
  if (error instanceof client.WWWAuthenticateChallengeError) {
    const [challenge] = error.cause;
    return printable(challenge?.parameters.error ?? "");
  }
  const isAnswer =
    error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError;
  return isAnswer ? printable(error.error) : undefined;
}

/**
 * Keeps only characters of an error code (RFC 6749, 4.1.2.1), since the text came through the
 * browser.
 */
function printable(code: string): string {
  return code.replaceAll(/[^\w.-]/g, "").slice(0, 64);
}
