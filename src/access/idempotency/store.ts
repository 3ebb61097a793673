// SQL of idempotency records. The column project_id has its name from an earlier release; it holds
// the id of any scope or person.

import type { ServiceError } from "../../base/errors.ts";
import { toStorableText } from "../../base/storable-text.ts";
import type { Sql } from "../../postgres/database.ts";

/** One use of a key. `route` is the name of the rpc; `requestHash` distinguishes bodies. */
export type Claim = {
  /** Id of the scope that the caller's key is made for, or of the signed-in person. */
  readonly scopeId: string;
  readonly route: string;
  readonly key: string;
  readonly requestHash: Buffer;
};

/** A record: the answer's bytes, the refusal's parts, or the claim of a running call. */
export type KeptAnswer = {
  readonly request_hash: Buffer;
  /** Bytes of the answer; for a refusal, the bytes of a provider's answer. */
  readonly response: Buffer | null;
  readonly reason: string | null;
  readonly message: string | null;
  /** JSON text of an object. */
  readonly details: string | null;
  /** JSON text of an object: headers of the answer, or of a provider's answer. */
  readonly headers: string | null;
  readonly relayed_status: number | null;
  readonly is_claim: boolean;
};

/** Columns for the outcome of a call. */
export type Outcome = Omit<KeptAnswer, "request_hash" | "is_claim">;

/** Locks the key until the transaction ends; returns false if another transaction holds it. */
export async function tryLock(sql: Sql, claim: Claim): Promise<boolean> {
  const name = JSON.stringify([claim.scopeId, claim.route, claim.key]);
  const [row] = await sql<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`;
  return row?.locked ?? false;
}

export async function findAnswer(sql: Sql, claim: Claim): Promise<KeptAnswer | undefined> {
  const [row] = await sql<KeptAnswer[]>`
    select
      request_hash, response, reason, message, details, headers, relayed_status,
      claimed_until is not null as is_claim
    from idempotency_records
    where project_id = ${claim.scopeId}
      and route = ${claim.route}
      and idempotency_key = ${claim.key}
      and created_at > now() - interval '24 hours'`;
  return row;
}

/** Inserts a record or replaces an expired one of the same key; a live record is left unchanged. */
export async function insertRecord(sql: Sql, claim: Claim, outcome: Outcome): Promise<void> {
  await sql`
    insert into idempotency_records as kept
      (project_id, route, idempotency_key, request_hash, response, reason, message, details)
    values (
      ${claim.scopeId}, ${claim.route}, ${claim.key}, ${claim.requestHash},
      ${outcome.response}, ${outcome.reason}, ${outcome.message}, ${outcome.details}
    )
    on conflict (project_id, route, idempotency_key) do update set
      request_hash = excluded.request_hash,
      response = excluded.response,
      reason = excluded.reason,
      message = excluded.message,
      details = excluded.details,
      headers = null,
      relayed_status = null,
      claimed_until = null,
      created_at = excluded.created_at
    where ${hasExpired(sql)}`;
}

/**
 * Returns the condition that a kept record expired before an inserted one, which is of now. In UTC,
 * so that it is immutable: Citus takes no other condition there.
 */
function hasExpired(sql: Sql) {
  return sql`
    (kept.created_at at time zone 'UTC')
      <= (excluded.created_at at time zone 'UTC') - interval '24 hours'`;
}

/** Identifies one of a key's claims: its end in microseconds. A later claim ends later. */
export type ClaimToken = string;

/** In UTC, so that the expression is immutable: Citus takes no other one in `returning`. */
function tokenOf(sql: Sql) {
  return sql`(extract(epoch from claimed_until at time zone 'UTC') * 1000000)::bigint`;
}

/**
 * Claims a key for `forMs`; undefined if it has a live record. Takes over the expired claim of a
 * call that never ended.
 */
export async function insertClaim(
  sql: Sql,
  claim: Claim,
  forMs: number,
): Promise<ClaimToken | undefined> {
  const [row] = await sql<{ token: ClaimToken }[]>`
    insert into idempotency_records as kept
      (project_id, route, idempotency_key, request_hash, claimed_until)
    values (
      ${claim.scopeId}, ${claim.route}, ${claim.key}, ${claim.requestHash},
      clock_timestamp() + ${forMs}::double precision * interval '1 millisecond'
    )
    on conflict (project_id, route, idempotency_key) do update set
      request_hash = excluded.request_hash,
      response = null,
      reason = null,
      message = null,
      details = null,
      headers = null,
      relayed_status = null,
      created_at = excluded.created_at,
      claimed_until = excluded.claimed_until
    where ${hasExpired(sql)} or kept.claimed_until <= excluded.created_at
    returning ${tokenOf(sql)}::text as token`;
  return row?.token;
}

/** Replaces a claim by an outcome; returns false if the claim was taken over. */
export async function endClaim(
  sql: Sql,
  claim: Claim,
  token: ClaimToken,
  outcome: Outcome,
): Promise<boolean> {
  const { count } = await sql`
    update idempotency_records set
      response = ${outcome.response},
      reason = ${outcome.reason},
      message = ${outcome.message},
      details = ${outcome.details},
      headers = ${outcome.headers},
      relayed_status = ${outcome.relayed_status},
      created_at = now(),
      claimed_until = null
    where project_id = ${claim.scopeId}
      and route = ${claim.route}
      and idempotency_key = ${claim.key}
      and ${tokenOf(sql)} = ${token}::text::bigint`;
  return count > 0;
}

/** Releases a key, unless its claim was taken over. */
export async function deleteClaim(sql: Sql, claim: Claim, token: ClaimToken): Promise<void> {
  await sql`
    delete from idempotency_records
    where project_id = ${claim.scopeId}
      and route = ${claim.route}
      and idempotency_key = ${claim.key}
      and ${tokenOf(sql)} = ${token}::text::bigint`;
}

/** Maximum scopes and persons whose records one call deletes. */
const scopesMax = 10;

/**
 * Deletes at most `rowsMax` expired records, of the oldest ones' scopes and persons: a scope
 * without further writes keeps no expired records. Skips records that another call is deleting.
 */
export async function deleteExpired(sql: Sql, rowsMax: number): Promise<void> {
  const isExpired = sql`created_at < now() - interval '24 hours'`;
  const expired = await sql<{ project_id: string }[]>`
    -- of all projects
    select project_id
    from idempotency_records
    where ${isExpired}
    order by created_at
    limit ${rowsMax}`;
  const scopes = new Set(expired.map(({ project_id }) => project_id));
  for (const scopeId of [...scopes].slice(0, scopesMax)) {
    await sql`
      delete from idempotency_records
      where project_id = ${scopeId} and (route, idempotency_key) in (
        select route, idempotency_key
        from idempotency_records
        where project_id = ${scopeId} and ${isExpired}
        limit ${rowsMax}
        for update skip locked
      )`;
  }
}

/** Maximum length of a stored message. Callers see less of it; some messages repeat the input. */
const messageLengthMax = 4_096;

const nothing: Outcome = {
  response: null,
  reason: null,
  message: null,
  details: null,
  headers: null,
  relayed_status: null,
};

export function outcomeOfAnswer(
  bytes: Uint8Array,
  headers?: Readonly<Record<string, string>>,
): Outcome {
  const text = headers ? JSON.stringify(headers) : null;
  return { ...nothing, response: Buffer.from(bytes), headers: text };
}

export function outcomeOfRefusal({ reason, message, details, relayed }: ServiceError): Outcome {
  const said = toStorableText(message.slice(0, messageLengthMax));
  const refused = { ...nothing, reason, message: said };
  const explained = details ? { ...refused, details: JSON.stringify(details) } : refused;
  if (!relayed) return explained;
  const { body, status, contentType } = relayed;
  const headers = JSON.stringify({ "content-type": contentType });
  return { ...explained, response: Buffer.from(body), headers, relayed_status: status };
}
