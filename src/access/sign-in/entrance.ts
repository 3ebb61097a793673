// The way to sign in on this deployment: through the configured identity provider, or else by
// one-time links. Source: docs/spec.md, Authentication, 6; docs/sign-in.md.

import { ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { OidcConfig } from "../../config.ts";
import type { Database } from "../../postgres/database.ts";
import type { People } from "../people.ts";
import { type Attempts, createAttempts } from "./attempts.ts";
import type { Identity } from "./identity.ts";
import { createSignInLinks, type SignInLinks } from "./links.ts";
import { createIdentityProvider, type IdentityProvider } from "./oidc.ts";

export type ProviderEntrance = {
  readonly kind: "provider";
  readonly provider: IdentityProvider;
  readonly attempts: Attempts;
  /** Origin at which browsers reach the service; the provider sends them back to it. */
  readonly publicOrigin: string;
  /**
   * Returns the user's id and creates the user at the first sign-in. Fails with SIGN_IN_REFUSED.
   */
  readonly recordSignIn: (identity: Identity) => Promise<string>;
};

export type LinkEntrance = { readonly kind: "link"; readonly links: SignInLinks };

export type Entrance = ProviderEntrance | LinkEntrance;

export type EntranceOptions = {
  readonly oidc: OidcConfig | undefined;
  readonly publicOrigin: string | undefined;
  readonly database: Database;
  readonly people: Pick<People, "users" | "members">;
  readonly logger: Pick<Logger, "warn">;
};

export function createEntrance(options: EntranceOptions): Entrance {
  const { oidc, publicOrigin, database, people, logger } = options;
  if (oidc === undefined)
    return { kind: "link", links: createSignInLinks({ database, ...people }) };
  // config.ts requires both or neither.
  if (publicOrigin === undefined) throw new Error("a provider without a public URL");
  return {
    kind: "provider",
    provider: createIdentityProvider({ ...oidc, logger }),
    attempts: createAttempts(database),
    publicOrigin,
    async recordSignIn(identity) {
      const user = await people.users.recordSignIn(identity);
      if (user) return user.userId;
      throw new ServiceError(
        "SIGN_IN_REFUSED",
        "Here, your e-mail address belongs to another account of the identity provider. " +
          "The operator of this service can correct that: waggle members release.",
      );
    },
  };
}
