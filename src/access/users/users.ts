// People: known by e-mail from their first role on, and by the identity provider's account from
// their first sign-in on. Source: docs/spec.md, Authentication, 6.

import type { Actor } from "../../base/actor.ts";
import { emailLengthMax, personNameLengthMax } from "../../base/field-limits.ts";
import { randomUUID } from "node:crypto";
import { refuse } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import { isUniqueViolation } from "../../postgres/faults.ts";
import type { Audit } from "../audit/audit.ts";
import { systemScope } from "../scope.ts";
import * as store from "./store.ts";
import type { UserRow } from "./store.ts";

export type User = UserRow;

/** Account that signs in, according to the identity provider. */
export type Identity = {
  readonly issuer: string;
  readonly subject: string;
  /**
   * An e-mail that the provider has verified: it gives access to all roles granted to this e-mail.
   */
  readonly email: string;
  readonly name: string | undefined;
};

export type Users = {
  /** Returns the person with an e-mail, in upper or lower case. */
  findByEmail(email: string): Promise<User | undefined>;
  /**
   * Returns the person with an e-mail, and creates a new person if there is none. Inside a
   * transaction the person is then locked: no other transaction changes the memberships, and no
   * sign-in begins.
   *
   * Fails with INVALID_ARGUMENT, naming `email`, if the text is not an e-mail address.
   */
  ensure(email: string, actor: Actor): Promise<User>;
  /** Locks a person like `ensure`; undefined if there is none. */
  lock(userId: string): Promise<User | undefined>;
  /**
   * Returns the person who signs in through the identity provider. At the first sign-in this is the
   * person with the e-mail who has no account of the provider yet, or a new person. Later it is the
   * person of this account; the e-mail then follows the provider's, unless another person has it.
   *
   * Returns undefined if the e-mail belongs to a person with another account: the sign-in must be
   * refused, since an address may have a new owner, who must not get the old owner's roles.
   */
  recordSignIn(identity: Identity): Promise<User | undefined>;
  /**
   * Removes, in the ambient transaction, the link between a person and the provider's account: the
   * next sign-in with the e-mail counts as the first. For replaced identity providers.
   */
  release(user: User, actor: Actor): Promise<void>;
  /** Records a sign-in without an identity provider. */
  recordLinkSignIn(userId: string): Promise<void>;
};

export type UsersOptions = {
  readonly database: Database;
  readonly audit: Pick<Audit, "append">;
};

/** Excludes invisible characters: controls, zero-width characters and direction marks. */
const emailPattern = /^[^\s@\p{Cc}\p{Cf}\p{Cs}]+@[^\s@\p{Cc}\p{Cf}\p{Cs}]+$/u;
/**
 * Maximum attempts. Each one fails only if another transaction created the same person meanwhile.
 */
const attemptsMax = 3;

/**
 * Returns an e-mail in its stored form, or undefined if the text is not one. Only A to Z become
 * lower case: Unicode's rules would also turn the Kelvin sign into `k`, and so one person's address
 * into another's.
 */
export function parseEmail(text: string): string | undefined {
  // First, because the trimming takes quadratic time on a run of blanks.
  if (text.length > emailLengthMax) return undefined;
  const trimmed = text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  const email = trimmed.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return emailPattern.test(email) ? email : undefined;
}

export function createUsers(options: UsersOptions): Users {
  const { database } = options;

  return {
    async findByEmail(text) {
      const email = parseEmail(text);
      return email === undefined ? undefined : store.findUser(database.sql(), { email });
    },

    async lock(userId) {
      return isUuid(userId) ? store.lockUser(database.sql(), { user_id: userId }) : undefined;
    },

    ensure(text, actor) {
      const email = parseEmail(text);
      if (email === undefined) refuse("email", "must be an e-mail address");
      return database.transaction(() => ensureUser(options, email, actor));
    },

    async recordSignIn(identity) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await database.transaction(() => recordSignIn(options, identity));
        } catch (error) {
          // Another sign-in of the account, or a role granted to its e-mail, committed first.
          const isFinal = attempt === attemptsMax || database.isInTransaction();
          if (isFinal || !isUniqueViolation(error)) throw error;
        }
      }
    },

    async release({ userId, issuer, subject, email }, actor) {
      await store.clearIdentity(database.sql(), userId);
      const before = { issuer, subject, email };
      const after = { issuer: null, subject: null, email };
      await auditUser(options, actor, { action: "user.update", userId, before, after });
    },

    recordLinkSignIn: (userId) => store.updateLastSignIn(database.sql(), userId),
  };
}

/** Returns the person with an e-mail, locked; creates the person if needed. */
async function ensureUser(
  options: UsersOptions,
  email: string,
  actor: Actor | undefined,
): Promise<User> {
  const sql = options.database.sql();
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const known = await store.lockUser(sql, { email });
    if (known) return known;
    // A random id without a time: other tenants see it when they add the person, and a time would
    // tell them when the person was created.
    const user = await store.insertUser(sql, randomUUID(), email);
    if (!user) continue;
    const { userId } = user;
    const created = { action: "user.create", userId, after: { email } };
    await auditUser(options, actor ?? actorOf(user), created);
    return user;
  }
  throw new Error("a user's e-mail was taken and free again, several times");
}

async function recordSignIn(options: UsersOptions, identity: Identity): Promise<User | undefined> {
  const sql = options.database.sql();
  const { issuer, subject } = identity;
  const email = parseEmail(identity.email);
  if (email === undefined) return undefined;
  const known = await store.lockUser(sql, { issuer, subject });
  const user = known ?? (await ensureUser(options, email, undefined));
  if (!known && user.subject !== null) {
    // Linked to another account, or to this one by a concurrent sign-in.
    return user.issuer === issuer && user.subject === subject ? user : undefined;
  }
  const isTaken = user.email !== email && (await store.findUser(sql, { email })) !== undefined;
  const after = { issuer, subject, email: isTaken ? user.email : email };
  const name = storableName(identity.name);
  const updated = await store.updateSignedIn(sql, { userId: user.userId, ...after, name });
  if (!updated) throw new Error("a locked user went away");
  const before = { issuer: user.issuer, subject: user.subject, email: user.email };
  if (before.subject === null || before.email !== after.email) {
    const { userId } = user;
    await auditUser(options, actorOf(updated), { action: "user.update", userId, before, after });
  }
  return updated;
}

type UserState = Readonly<Record<string, string | null>>;

type UserChange = {
  readonly action: string;
  readonly userId: string;
  readonly before?: UserState;
  readonly after: UserState;
};

function auditUser({ audit }: UsersOptions, actor: Actor, { userId, ...change }: UserChange) {
  const target = { type: "user", id: userId };
  return audit.append({ actor, scope: systemScope, target, ...change });
}

/** Returns the person as the actor: people who sign in create their own record. */
function actorOf({ userId, email }: User): Actor {
  return { type: "user", id: userId, name: email };
}

/** Control characters, ends of lines, and marks that turn the direction of the text around. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Returns a name from the identity provider, where people choose it, as one printable line, for
 * lists and terminals; null if it is empty. NUL is taken out, other unprintable characters become a
 * blank.
 */
function storableName(name: string | undefined): string | null {
  const text = (name ?? "")
    .toWellFormed()
    .replaceAll("\0", "")
    .replaceAll(unprintable, " ")
    .trim()
    .slice(0, personNameLengthMax);
  return text === "" ? null : text.toWellFormed();
}
