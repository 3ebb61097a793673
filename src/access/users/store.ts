// SQL of the people known to the service.

import type { Sql } from "../../postgres/database.ts";

export type UserRow = {
  readonly userId: string;
  /** Lower case. */
  readonly email: string;
  /** Name from the identity provider; null before the first sign-in with one. */
  readonly name: string | null;
  /** Issuer and subject from the identity provider; null before the first sign-in with one. */
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly lastSignInAt: Date | null;
};

function columns(sql: Sql) {
  return sql`
    user_id as "userId",
    email,
    name,
    issuer,
    subject,
    last_sign_in_at as "lastSignInAt"`;
}

/** What tells one person from all others. */
export type UserName =
  | { readonly user_id: string }
  | { readonly email: string }
  | { readonly issuer: string; readonly subject: string };

export async function findUser(sql: Sql, name: UserName): Promise<UserRow | undefined> {
  const [row] = await selectUsers(sql, name);
  return row;
}

/** Locks the row against changed memberships and new sign-ins until the transaction ends. */
export async function lockUser(sql: Sql, name: UserName): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`${selectUsers(sql, name)} for update`;
  return row;
}

function selectUsers(sql: Sql, name: UserName) {
  const conditions = Object.entries(name).map(
    ([column, value]) => sql`and ${sql(column)} = ${value}`,
  );
  return sql<UserRow[]>`select ${columns(sql)} from users where true ${conditions}`;
}

/** Adds a person. Returns undefined if the e-mail is taken. */
export async function insertUser(
  sql: Sql,
  userId: string,
  email: string,
): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    insert into users (user_id, email) values (${userId}, ${email})
    on conflict do nothing
    returning ${columns(sql)}`;
  return row;
}

export type SignedInRow = {
  readonly userId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly name: string | null;
};

/** Stores the identity provider's data; a null name keeps the known one. */
export async function updateSignedIn(sql: Sql, row: SignedInRow): Promise<UserRow | undefined> {
  const [updated] = await sql<UserRow[]>`
    update users set
      issuer = ${row.issuer},
      subject = ${row.subject},
      email = ${row.email},
      name = coalesce(${row.name}, name),
      last_sign_in_at = now()
    where user_id = ${row.userId}
    returning ${columns(sql)}`;
  return updated;
}

/** Removes the link between a person and the identity provider's account. */
export async function clearIdentity(sql: Sql, userId: string): Promise<void> {
  await sql`update users set issuer = null, subject = null where user_id = ${userId}`;
}

export async function updateLastSignIn(sql: Sql, userId: string): Promise<void> {
  await sql`update users set last_sign_in_at = now() where user_id = ${userId}`;
}
