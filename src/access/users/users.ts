// People: known by e-mail from the moment somebody gives them a role, and by what the identity
// provider calls them from their first sign-in on. Called by members/members.ts and sign-in.
// Source: docs/spec.md, Authentication, 6.

import { emailLengthMax, personNameLengthMax } from "../../base/field-limits.ts";
import { randomUUID } from "node:crypto";
import { ServiceError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import type { Audit } from "../audit/audit.ts";
import type { Actor } from "../principal.ts";
import { systemScope } from "../scope.ts";
import * as store from "./store.ts";
import type { UserRow } from "./store.ts";

export type User = UserRow;

/** Who the identity provider says signs in. */
export type Identity = {
  readonly issuer: string;
  readonly subject: string;
  /** One that the provider has verified: it opens what others gave to this e-mail. */
  readonly email: string;
  readonly name: string | undefined;
};

export type Users = {
  /** Returns a person; an id that is no UUID is nobody's. */
  find(userId: string): Promise<User | undefined>;
  /** Returns who has an e-mail, in whatever case it is written. */
  findByEmail(email: string): Promise<User | undefined>;
  /**
   * Returns who has an e-mail, and makes a person of one that is new. Inside a transaction the
   * person is then locked: nobody else changes the memberships, and no sign-in begins.
   *
   * Fails with INVALID_ARGUMENT, naming `email`, when the text is none.
   */
  ensure(email: string, actor: Actor): Promise<User>;
  /** Locks a person as `ensure` does. */
  lock(userId: string): Promise<User | undefined>;
  /**
   * Returns who signs in through the identity provider. At the first time this is whoever has the
   * e-mail and has not signed in so before, or somebody new; from then on it is whoever the
   * provider called so before, and the e-mail follows the provider's unless somebody else has it.
   *
   * Undefined when the e-mail is of somebody whom the provider calls something else: the sign-in
   * is to be refused, since an address may have changed hands and its owner's roles may not.
   */
  recordSignIn(identity: Identity): Promise<User | undefined>;
  /**
   * Forgets, in the ambient transaction, who the identity provider says that a person is: the next
   * sign-in with the e-mail is the first again. For providers that were replaced.
   */
  release(user: User, actor: Actor): Promise<void>;
  /** Notes that somebody signed in without an identity provider. */
  recordLinkSignIn(userId: string): Promise<void>;
};

export type UsersOptions = {
  readonly database: Database;
  readonly audit: Pick<Audit, "append">;
};

/** Without what nobody sees: controls, zero-width characters, marks that turn the text around. */
const emailPattern = /^[^\s@\p{Cc}\p{Cf}\p{Cs}]+@[^\s@\p{Cc}\p{Cf}\p{Cs}]+$/u;
/** Each attempt that ends without a result saw somebody else make the same person. */
const attemptsMax = 3;
/** Postgres manual, appendix A. */
const uniqueViolation = "23505";

/**
 * Returns an e-mail as it is stored, or undefined when the text is none. Only A to Z are lowered:
 * Unicode's rules make `k` of the Kelvin sign too, and so one person's address of another's.
 */
export function parseEmail(text: string): string | undefined {
  const trimmed = text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  const email = trimmed.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return email.length <= emailLengthMax && emailPattern.test(email) ? email : undefined;
}

export function createUsers(options: UsersOptions): Users {
  const { database } = options;

  return {
    async find(userId) {
      return isUuid(userId) ? store.findUser(database.sql(), userId) : undefined;
    },

    async findByEmail(text) {
      const email = parseEmail(text);
      return email === undefined ? undefined : store.findByEmail(database.sql(), email);
    },

    async lock(userId) {
      return isUuid(userId) ? store.lockUser(database.sql(), userId) : undefined;
    },

    ensure(text, actor) {
      const email = parseEmail(text);
      if (email === undefined) {
        throw new ServiceError("INVALID_ARGUMENT", "email: must be an e-mail address");
      }
      return database.transaction(() => ensureUser(options, email, actor));
    },

    async recordSignIn(identity) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await database.transaction(() => recordSignIn(options, identity));
        } catch (error) {
          // Another sign-in of the account, or whoever gave its e-mail a role, was there first.
          const isFinal = attempt === attemptsMax || database.isInTransaction();
          if (isFinal || !isTakenMeanwhile(error)) throw error;
        }
      }
    },

    async release({ userId, issuer, subject, email }, actor) {
      await store.clearIdentity(database.sql(), userId);
      await options.audit.append({
        actor,
        scope: systemScope,
        action: "user.update",
        target: { type: "user", id: userId },
        before: { issuer, subject, email },
        after: { issuer: null, subject: null, email },
      });
    },

    recordLinkSignIn: (userId) => store.updateLastSignIn(database.sql(), userId),
  };
}

/** Returns the person with an e-mail, locked. */
async function ensureUser(
  { database, audit }: UsersOptions,
  email: string,
  actor: Actor | undefined,
): Promise<User> {
  const sql = database.sql();
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const known = await store.lockByEmail(sql, email);
    if (known) return known;
    // Other tenants see it when they add the person, so it does not tell since when we know them.
    const user = await store.insertUser(sql, randomUUID(), email);
    if (!user) continue;
    await audit.append({
      actor: actor ?? actorOf(user),
      scope: systemScope,
      action: "user.create",
      target: { type: "user", id: user.userId },
      after: { email },
    });
    return user;
  }
  throw new Error("a user's e-mail was taken and free again, several times");
}

async function recordSignIn(options: UsersOptions, identity: Identity): Promise<User | undefined> {
  const { database, audit } = options;
  const sql = database.sql();
  const { issuer, subject } = identity;
  const email = parseEmail(identity.email);
  if (email === undefined) return undefined;
  const known = await store.lockByIdentity(sql, issuer, subject);
  const user = known ?? (await ensureUser(options, email, undefined));
  if (!known && user.subject !== null) {
    // Somebody else's, or our own that another sign-in has bound a moment ago.
    return user.issuer === issuer && user.subject === subject ? user : undefined;
  }
  const isTaken = user.email !== email && (await store.findByEmail(sql, email)) !== undefined;
  const after = { issuer, subject, email: isTaken ? user.email : email };
  const name = storableName(identity.name);
  const updated = await store.updateSignedIn(sql, { userId: user.userId, ...after, name });
  if (!updated) throw new Error("a locked user went away");
  const before = { issuer: user.issuer, subject: user.subject, email: user.email };
  if (before.subject === null || before.email !== after.email) {
    await audit.append({
      actor: actorOf(updated),
      scope: systemScope,
      action: "user.update",
      target: { type: "user", id: user.userId },
      before,
      after,
    });
  }
  return updated;
}

function isTakenMeanwhile(error: unknown): boolean {
  return (error as { code?: unknown }).code === uniqueViolation;
}

/** Whoever signs in makes the record of themselves. */
function actorOf({ userId, email }: User): Actor {
  return { type: "user", id: userId, name: email };
}

/** What Postgres takes of a name that came from elsewhere. */
function storableName(name: string | undefined): string | null {
  const text = (name ?? "")
    .toWellFormed()
    .replaceAll("\0", "")
    .trim()
    .slice(0, personNameLengthMax);
  return text === "" ? null : text.toWellFormed();
}
