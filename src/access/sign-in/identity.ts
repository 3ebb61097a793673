// Claims of an identity provider → who somebody is. Called by oidc.ts.
// Source: OpenID Connect Core 1.0, 5.1; docs/spec.md, Authentication, 6.

import { ServiceError } from "../../base/errors.ts";
import { parseEmail } from "../users/users.ts";

/** Claims of the ID token and of userinfo. */
export type Claims = Readonly<Record<string, unknown>>;

export type Identity = {
  readonly issuer: string;
  /** Who it is at the issuer, for ever; an e-mail may change hands. */
  readonly subject: string;
  /** Lower case. */
  readonly email: string;
  readonly name: string | undefined;
  readonly groups: readonly string[];
  /** End of the ID token, in Unix milliseconds. */
  readonly tokenExpiresAtMs: number;
};

const groupsMax = 1_000;
const groupLengthMax = 256;

/** Tells whether the ID token leaves open what userinfo may say. */
export function lacksClaims(idToken: Claims, groupsClaim: string): boolean {
  return idToken["email"] === undefined || idToken[groupsClaim] === undefined;
}

/** Fails with SIGN_IN_REFUSED where the e-mail is absent or known to be unverified. */
export function toIdentity(claims: Claims, groupsClaim: string): Identity {
  const { iss, sub, exp, name } = claims;
  return {
    // These three were checked with the token.
    issuer: String(iss),
    subject: String(sub),
    tokenExpiresAtMs: Number(exp) * 1_000,
    email: readEmail(claims),
    name: typeof name === "string" ? name : undefined,
    groups: readGroups(claims[groupsClaim]),
  };
}

function readEmail({ email: text, email_verified: verified }: Claims): string {
  const email = typeof text === "string" ? parseEmail(text) : undefined;
  if (email === undefined) {
    throw refused("The identity provider did not say your e-mail address, which is needed here.");
  }
  // Some providers send the text.
  if (verified === false || verified === "false") {
    throw refused(
      "The identity provider says that your e-mail address is not verified. Verify it there first.",
    );
  }
  return email;
}

function isStorable(text: string): boolean {
  return !/\p{Cc}/u.test(text) && text.isWellFormed();
}

/** A list of names, or one name; of anything else nothing can be made. */
function readGroups(claim: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  const names = items.filter((item) => typeof item === "string");
  if (names.length > groupsMax) {
    throw refused(
      `The identity provider names more than ${groupsMax} groups of yours. It has to be set to ` +
        "send only those that this service's roles are mapped from.",
    );
  }
  return names.filter((group) => group.length <= groupLengthMax && isStorable(group));
}

function refused(message: string): ServiceError {
  return new ServiceError("SIGN_IN_REFUSED", message);
}
