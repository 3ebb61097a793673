// One-time links that sign the first administrator in if no identity provider is configured.
// Source: docs/spec.md, Authentication, 6; docs/sign-in.md.

import type { Actor } from "../../base/actor.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Database } from "../../postgres/database.ts";
import type { Members } from "../members/members.ts";
import type { Users } from "../users/users.ts";
import * as store from "./store.ts";
import { createToken, hashToken, isToken } from "./token.ts";

export type SignInLinks = {
  /**
   * Creates a link for an e-mail address and returns its token. Makes the address's owner system
   * administrator. Invalidates the owner's earlier links.
   */
  create(email: string, actor: Actor): Promise<string>;
  /** Consumes a token and returns the user's id. Fails with SIGN_IN_REFUSED. */
  use(token: string): Promise<string>;
};

export type SignInLinksOptions = {
  readonly database: Database;
  readonly members: Pick<Members, "appointAdministrator">;
  readonly users: Pick<Users, "recordLinkSignIn">;
};

/** Path of links, which have a `?token=` parameter. */
export const linkPath = "/auth/link";

/** Long enough to open a browser, and too short for a later reader of the log. */
export const linkMinutes = 15;

export function createSignInLinks(options: SignInLinksOptions): SignInLinks {
  const { database, members, users } = options;
  return {
    create: (email, actor) =>
      database.transaction(async (sql) => {
        const { userId } = await members.appointAdministrator(email, actor);
        const token = createToken();
        const validMs = linkMinutes * 60_000;
        await store.replaceLinks(sql, { linkHash: hashToken(token), userId, validMs });
        return token;
      }),

    async use(token) {
      const userId = isToken(token)
        ? await store.useLink(database.sql(), hashToken(token))
        : undefined;
      if (userId === undefined) {
        throw new ServiceError(
          "SIGN_IN_REFUSED",
          `This link was used before, is older than ${linkMinutes} minutes, or was followed by a ` +
            "newer one.",
        );
      }
      await users.recordLinkSignIn(userId);
      return userId;
    },
  };
}

/** Returns the address that a person opens. */
export function formatLink(origin: string, token: string): string {
  return `${origin}${linkPath}?token=${token}`;
}
