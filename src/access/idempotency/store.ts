// SQL of idempotency records. Called by idempotency.ts, always inside its transaction. The column
// project_id keeps the name it was released with; it holds the id of any scope or person.

import type { ServiceError } from "../../base/errors.ts";
import { toStorableText } from "../../base/storable-text.ts";
import type { Sql } from "../../postgres/database.ts";

/** One use of a key. `route` is the rpc's name; `requestHash` tells bodies apart. */
export type Claim = {
  /** Where the caller's key is rooted, or the signed-in person. */
  readonly scopeId: string;
  readonly route: string;
  readonly key: string;
  readonly requestHash: Buffer;
};

/** A record: either the answer's bytes or the refusal's parts. */
export type KeptAnswer = {
  readonly request_hash: Buffer;
  readonly response: Buffer | null;
  readonly reason: string | null;
  readonly message: string | null;
  /** JSON text of an object. */
  readonly details: string | null;
};

/** Takes the key's lock until the transaction ends, or returns false when another one holds it. */
export async function tryLock(sql: Sql, claim: Claim): Promise<boolean> {
  const name = JSON.stringify([claim.scopeId, claim.route, claim.key]);
  const [row] = await sql<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`;
  return row?.locked ?? false;
}

export async function findAnswer(sql: Sql, claim: Claim): Promise<KeptAnswer | undefined> {
  const [row] = await sql<KeptAnswer[]>`
    select request_hash, response, reason, message, details
    from idempotency_records
    where project_id = ${claim.scopeId}
      and route = ${claim.route}
      and idempotency_key = ${claim.key}
      and created_at > now() - interval '24 hours'`;
  return row;
}

export async function insertAnswer(sql: Sql, claim: Claim, response: Uint8Array): Promise<void> {
  await insertRecord(sql, claim, response, null);
}

export async function insertRefusal(sql: Sql, claim: Claim, refusal: ServiceError): Promise<void> {
  await insertRecord(sql, claim, null, refusal);
}

/** Replaces an expired record of the same key; a live one stays as it is. */
async function insertRecord(
  sql: Sql,
  claim: Claim,
  response: Uint8Array | null,
  refusal: ServiceError | null,
): Promise<void> {
  const details = refusal?.details ? JSON.stringify(refusal.details) : null;
  await sql`
    insert into idempotency_records as kept
      (project_id, route, idempotency_key, request_hash, response, reason, message, details)
    values (
      ${claim.scopeId}, ${claim.route}, ${claim.key}, ${claim.requestHash},
      ${response && Buffer.from(response)}, ${refusal?.reason ?? null},
      ${refusal ? toStorableText(refusal.message.slice(0, messageLengthMax)) : null}, ${details}
    )
    on conflict (project_id, route, idempotency_key) do update set
      request_hash = excluded.request_hash,
      response = excluded.response,
      reason = excluded.reason,
      message = excluded.message,
      details = excluded.details,
      created_at = now()
    where kept.created_at <= now() - interval '24 hours'`;
}

/**
 * Deletes at most `rowsMax` expired records, the oldest first, whoever they were of: those of a
 * scope that writes no more are deleted by others. Skips those that others delete.
 */
export async function deleteExpired(sql: Sql, rowsMax: number): Promise<void> {
  await sql`
    delete from idempotency_records
    where (project_id, route, idempotency_key) in (
      select project_id, route, idempotency_key
      from idempotency_records
      where created_at < now() - interval '24 hours'
      order by created_at
      limit ${rowsMax}
      for update skip locked
    )`;
}

/** More than callers are told of a message; some repeat what was sent. */
const messageLengthMax = 4_096;
