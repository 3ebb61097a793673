// Converts claims of an identity provider to a person's identity. Source: OpenID Connect Core 1.0,
// 2, 5.1; docs/spec.md, Authentication, 6.

import { groupLengthMax, groupsMax } from "../../base/field-limits.ts";
import { ServiceError } from "../../base/errors.ts";
import { parseEmail } from "../users/users.ts";

/** Claims of the ID token and of userinfo. */
export type Claims = Readonly<Record<string, unknown>>;

export type Identity = {
  readonly issuer: string;
  /** Permanent id of the account at the issuer, unlike an e-mail. 1 to 255 ASCII characters. */
  readonly subject: string;
  /** Lower case. */
  readonly email: string;
  readonly name: string | undefined;
  readonly groups: readonly string[];
  /** Expiry of the ID token, in Unix milliseconds. */
  readonly tokenExpiresAtMs: number;
};

export type IdentityOptions = {
  /** Name of the claim that lists the person's groups. */
  readonly groupsClaim: string;
  /** Whether to treat an e-mail as verified if the provider does not say whether it is. */
  readonly isEmailTrusted: boolean;
};

/** Tells whether the ID token lacks claims that userinfo may have. */
export function lacksClaims(idToken: Claims, groupsClaim: string): boolean {
  const wanted = ["email", "email_verified", groupsClaim];
  return wanted.some((name) => idToken[name] === undefined);
}

/**
 * Merges the claims of userinfo into those of the ID token. The token is signed, so its claims win;
 * `email_verified` of userinfo counts only for the same e-mail.
 */
export function mergeClaims(idToken: Claims, more: Claims): Claims {
  const isOfOther = idToken["email"] !== undefined && idToken["email"] !== more["email"];
  return { ...more, ...(isOfOther && { email_verified: undefined }), ...idToken };
}

/**
 * Throws SIGN_IN_REFUSED, naming the claim, if a claim of a verified ID token is invalid. `sub`
 * must have 1 to 255 ASCII characters; `exp`, `iat` and `auth_time` must be seconds from 1970 up to
 * the year 10000.
 */
export function assertUsable(idToken: Claims): void {
  const { sub, exp, iat, auth_time: authTime } = idToken;
  readSubject(sub);
  readTimeMs("exp", exp);
  readTimeMs("iat", iat);
  if (authTime !== undefined) readTimeMs("auth_time", authTime);
}

/**
 * Returns the identity in the claims. Fails with SIGN_IN_REFUSED like `assertUsable`, and if the
 * e-mail is missing or not verified.
 */
export function toIdentity(
  claims: Claims,
  { groupsClaim, isEmailTrusted }: IdentityOptions,
): Identity {
  const { iss, sub, exp, name } = claims;
  return {
    // The OIDC client has compared the issuer with the configured one.
    issuer: String(iss),
    subject: readSubject(sub),
    tokenExpiresAtMs: readTimeMs("exp", exp),
    email: readEmail(claims, isEmailTrusted),
    name: typeof name === "string" ? name : undefined,
    groups: readGroups(claims[groupsClaim]),
  };
}

/**
 * `sub` has at most 255 ASCII characters and must not be blank. Source: OpenID Connect Core 1.0, 2.
 */
const subjectPattern = /^(?=.*[^ ])[\x20-\x7e]{1,255}$/;

/** Unix milliseconds of the year 10000, the end of Protobuf's and many clients' times. */
const timeMsMax = Date.UTC(10_000, 0, 1);

function readSubject(claim: unknown): string {
  if (typeof claim === "string" && subjectPattern.test(claim)) return claim;
  throw unusable("sub", "text of 1 to 255 ASCII characters");
}

/** Reads a NumericDate: seconds since 1970, fractions allowed. */
function readTimeMs(name: string, claim: unknown): number {
  const ms = typeof claim === "number" ? claim * 1_000 : NaN;
  // False for NaN.
  if (ms >= 0 && ms < timeMsMax) return ms;
  throw unusable(name, "a number of seconds since 1970, before the year 10000");
}

function unusable(name: string, what: string): ServiceError {
  return refused(
    `The identity provider sent an ID token that cannot be used here: its claim "${name}" must ` +
      `be ${what}. The administrator of the identity provider can put that right.`,
  );
}

const unverified =
  "The identity provider says that your e-mail address is not verified. Verify it there first.";
const unsaid =
  "The identity provider does not say whether your e-mail address is verified. The operator of " +
  "this service can set it to accept such addresses as verified.";

function readEmail(
  { email: text, email_verified: verified }: Claims,
  isEmailTrusted: boolean,
): string {
  const email = typeof text === "string" ? parseEmail(text) : undefined;
  if (email === undefined) {
    throw refused(
      "The identity provider did not say your e-mail address, which is needed here: one address " +
        "of at most 254 characters.",
    );
  }
  // Some providers send text instead of a boolean.
  if (verified === true || verified === "true") return email;
  if (verified === undefined && isEmailTrusted) return email;
  if (verified !== undefined) throw refused(unverified);
  throw refused(unsaid);
}

function isStorable(text: string): boolean {
  return !/\p{Cc}/u.test(text) && text.isWellFormed();
}

/** Reads a list of names or one name; other values count as no groups. */
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
