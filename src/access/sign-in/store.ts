// SQL of sign-ins: attempts at the identity provider, one-time links, sessions.

import type { Sql } from "../../postgres/database.ts";

export type AttemptRow = {
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
};

export type NewAttempt = AttemptRow & {
  readonly stateHash: Buffer;
  readonly browserHash: Buffer;
};

/** Deletes at most `limit` attempts older than `ageMs`. */
export async function deleteOldAttempts(sql: Sql, ageMs: number, limit: number): Promise<void> {
  await sql`
    delete from sign_in_attempts
    where state_hash in (
      select state_hash
      from sign_in_attempts
      where created_at < now() - ${ageMs} * interval '1 millisecond'
      order by created_at
      limit ${limit}
      for update skip locked
    )`;
}

/** Deletes at most `limit` attempts, all older than the newest `max`. */
export async function deleteSurplusAttempts(sql: Sql, max: number, limit: number): Promise<void> {
  // The inner query takes no locks: with an offset it would lock every skipped row.
  await sql`
    delete from sign_in_attempts
    where state_hash in (
      select state_hash
      from sign_in_attempts
      where state_hash in (
        select state_hash
        from sign_in_attempts
        order by created_at desc
        offset ${max}
        limit ${limit}
      )
      for update skip locked
    )`;
}

export async function insertAttempt(sql: Sql, attempt: NewAttempt): Promise<void> {
  await sql`
    insert into sign_in_attempts (state_hash, browser_hash, nonce, code_verifier, return_to)
    values (
      ${attempt.stateHash},
      ${attempt.browserHash},
      ${attempt.nonce},
      ${attempt.codeVerifier},
      ${attempt.returnTo}
    )`;
}

/** Deletes and returns an attempt if it belongs to this browser and is young enough. */
export async function takeAttempt(
  sql: Sql,
  {
    stateHash,
    browserHash,
    ageMsMax,
  }: Pick<NewAttempt, "stateHash" | "browserHash"> & {
    readonly ageMsMax: number;
  },
): Promise<AttemptRow | undefined> {
  const [row] = await sql<AttemptRow[]>`
    delete from sign_in_attempts
    where state_hash = ${stateHash}
      and browser_hash = ${browserHash}
      and created_at > now() - ${ageMsMax} * interval '1 millisecond'
    returning nonce, code_verifier as "codeVerifier", return_to as "returnTo"`;
  return row;
}

export type NewLink = {
  readonly linkHash: Buffer;
  readonly userId: string;
  readonly validMs: number;
};

/** Adds a link and deletes the user's earlier links and all expired links. */
export async function replaceLinks(sql: Sql, link: NewLink): Promise<void> {
  await sql`
    delete from sign_in_links
    where user_id = ${link.userId} or expires_at <= now()`;
  await sql`
    insert into sign_in_links (link_hash, user_id, expires_at)
    values (
      ${link.linkHash},
      ${link.userId},
      now() + ${link.validMs} * interval '1 millisecond'
    )`;
}

/** Marks a link as used and returns the id of its user; undefined if it is not valid. */
export async function useLink(sql: Sql, linkHash: Buffer): Promise<string | undefined> {
  const [row] = await sql<{ userId: string }[]>`
    update sign_in_links
    set used_at = now()
    where link_hash = ${linkHash}
      and used_at is null
      and expires_at > now()
    returning user_id as "userId"`;
  return row?.userId;
}

export type NewSession = {
  readonly sessionHash: Buffer;
  readonly userId: string;
  readonly groups: readonly string[];
  readonly expiresAtMs: number;
};

export async function insertSession(sql: Sql, session: NewSession): Promise<void> {
  await sql`
    insert into sign_in_sessions (session_hash, user_id, groups, expires_at)
    values (
      ${session.sessionHash},
      ${session.userId},
      ${[...session.groups]},
      ${new Date(session.expiresAtMs)}
    )`;
}

/** Deletes at most `limit` expired sessions. */
export async function deleteExpiredSessions(sql: Sql, limit: number): Promise<void> {
  await sql`
    delete from sign_in_sessions
    where session_hash in (
      select session_hash
      from sign_in_sessions
      where expires_at <= now()
      order by expires_at
      limit ${limit}
      for update skip locked
    )`;
}

export type SessionRow = {
  readonly userId: string;
  readonly email: string;
  readonly groups: readonly string[];
  readonly expiresAt: Date;
};

export async function findSession(sql: Sql, sessionHash: Buffer): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    select user_id as "userId", email, groups, expires_at as "expiresAt"
    from sign_in_sessions
    join users using (user_id)
    where session_hash = ${sessionHash}
      and expires_at > now()`;
  return row;
}

/** Deletes a session; returns whether it existed. */
export async function deleteSession(sql: Sql, sessionHash: Buffer): Promise<boolean> {
  const rows = await sql`
    delete from sign_in_sessions
    where session_hash = ${sessionHash}
    returning 1`;
  return rows.length > 0;
}

/**
 * Deletes sessions of a user that are older than the newest `max`; returns their hashes in
 * hexadecimal.
 */
export async function deleteSurplusSessions(
  sql: Sql,
  userId: string,
  max: number,
): Promise<readonly string[]> {
  const rows = await sql<{ hash: string }[]>`
    delete from sign_in_sessions
    where session_hash in (
      select session_hash
      from sign_in_sessions
      where session_hash in (
        select session_hash
        from sign_in_sessions
        where user_id = ${userId}
        order by created_at desc, session_hash
        offset ${max}
        limit ${max}
      )
      for update skip locked
    )
    returning encode(session_hash, 'hex') as hash`;
  return rows.map(({ hash }) => hash);
}

/** Deletes every session of these users and returns their hashes, in hexadecimal. */
export async function deleteSessionsOfUsers(
  sql: Sql,
  userIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ hash: string }[]>`
    delete from sign_in_sessions
    where user_id = any(${[...userIds]}::uuid[])
    returning encode(session_hash, 'hex') as hash`;
  return rows.map(({ hash }) => hash);
}
