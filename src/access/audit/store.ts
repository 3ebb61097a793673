// SQL of the audit log and of the ends of its chains.

import { isUuid } from "../../base/ids.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import type { AuditColumns } from "./chain.ts";

export type AuditRow = AuditColumns & { readonly previousHash: Buffer; readonly hash: Buffer };

export type Head = { readonly sequence: number; readonly hash: Buffer };

/** Locks the end of a chain, which it creates if needed, and reads the clock after that. */
export async function lockHead(
  sql: Sql,
  orgId: string,
  firstHash: Buffer,
): Promise<Head & { readonly at: string }> {
  const [head] = await sql<(Head & { at: string })[]>`
    insert into audit_heads (org_id, sequence, hash)
    values (${orgId}, 0, ${firstHash})
    on conflict (org_id) do update set sequence = audit_heads.sequence
    returning
      sequence,
      hash,
      to_char(
        clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`;
  if (!head) throw new Error("an upsert returned no row");
  return head;
}

/**
 * Adds rows of one chain, in their order, and makes the last one its end. The caller holds the lock
 * on the end.
 */
export async function insertRows(sql: Sql, rows: readonly AuditRow[]): Promise<void> {
  const end = rows.at(-1);
  if (!end) return;
  const incoming = rows.map(({ previousHash, hash, ...columns }) => ({
    ...columns,
    previousHash: previousHash.toString("hex"),
    hash: hash.toString("hex"),
  }));
  await sql`
    with head as (
      update audit_heads set sequence = ${end.sequence}, hash = ${end.hash}
      where org_id = ${end.orgId}
    )
    insert into audit_log (
      org_id, sequence, at, actor_type, actor_id, actor_name, action,
      scope_level, scope_id, target_type, target_id, before, after, previous_hash, hash)
    select
      "orgId", sequence, at::timestamptz, "actorType", "actorId", "actorName", action,
      "scopeLevel", "scopeId", "targetType", "targetId", before::json, after::json,
      decode("previousHash", 'hex'), decode(hash, 'hex')
    from json_to_recordset(${JSON.stringify(incoming)}::text::json) as incoming (
      "orgId" uuid, sequence bigint, at text,
      "actorType" text, "actorId" text, "actorName" text, action text,
      "scopeLevel" text, "scopeId" uuid, "targetType" text, "targetId" text,
      before text, after text, "previousHash" text, hash text
    )`;
}

/** Maximum payload bytes of one page; a larger row has its own page. */
const pageBytesMax = 16_000_000;

/**
 * A year BC has the digits of a year AD, and `infinity` has none: such times are shown in Postgres'
 * own text form.
 */
const columnsOf = (sql: Sql) => sql`
  org_id as "orgId",
  sequence,
  case when at >= '0001-01-01Z' and at < '10000-01-01Z'
    then to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    else at::text
  end as at,
  actor_type as "actorType",
  actor_id as "actorId",
  actor_name as "actorName",
  action,
  scope_level as "scopeLevel",
  scope_id as "scopeId",
  target_type as "targetType",
  target_id as "targetId",
  before::text,
  after::text,
  previous_hash as "previousHash",
  hash`;

/** Conditions on rows; absent ones are met by every row. */
export type AuditFilter = {
  /** Id of the actor, or a part of its name; both in any case. */
  readonly actor?: string | undefined;
  /** The action, or with `*` at its end the beginning of it. */
  readonly action?: string | undefined;
  /** Kind of the changed resource, or its id or that of the scope of the change in any case. */
  readonly resource?: string | undefined;
  /** Bounds of the time, both inclusive, Unix milliseconds. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
};

/** Returns up to `limit` rows of a chain below a sequence that match the filter, newest first. */
export async function listRowsBelow(
  sql: Sql,
  orgId: string,
  options: {
    readonly below: number;
    /** The first row that is compared with the filter. */
    readonly from: number;
    readonly filter: AuditFilter | undefined;
    readonly limit: number;
  },
): Promise<readonly AuditRow[]> {
  const { below, from, filter, limit } = options;
  return listRows(sql, orgId, {
    where: sql`sequence < ${below} and sequence >= ${from} and ${matches(sql, filter ?? {})}`,
    order: sql`sequence desc`,
    limit,
  });
}

function matches(sql: Sql, { actor, action, resource, fromMs, toMs }: AuditFilter): Fragment {
  const conditions = [
    actor !== undefined &&
      sql`(
        lower(actor_id) = lower(${actor}) or strpos(lower(actor_name), lower(${actor})) > 0
      )`,
    action !== undefined &&
      (action.endsWith("*")
        ? sql`starts_with(action, ${action.slice(0, -1)})`
        : sql`action = ${action}`),
    resource !== undefined &&
      sql`(
        target_type = ${resource} or lower(target_id) = lower(${resource})
        or ${isInside(sql, resource)}
      )`,
    fromMs !== undefined && sql`at >= to_timestamp(${fromMs}::double precision / 1000)`,
    toMs !== undefined && sql`at <= to_timestamp(${toMs}::double precision / 1000)`,
  ].filter((condition) => condition !== false);
  return conditions.reduce((all, condition) => sql`${all} and ${condition}`, sql`true`);
}

/** Whether a change was in a scope or in one inside it, archived ones included. */
function isInside(sql: Sql, scopeId: string): Fragment {
  if (!isUuid(scopeId)) return sql`false`;
  return sql`(
    org_id = ${scopeId} or scope_id = ${scopeId}
    or scope_id in (select workspace_id from workspaces where dataplane_id = ${scopeId})
    or scope_id in (
      select project_id
      from projects
      join workspaces using (workspace_id)
      where workspaces.workspace_id = ${scopeId} or workspaces.dataplane_id = ${scopeId}
    )
  )`;
}

/** Returns up to `limit` rows of a chain above a sequence, oldest first. */
export async function listRowsAbove(
  sql: Sql,
  orgId: string,
  { above, limit }: { readonly above: number; readonly limit: number },
): Promise<readonly AuditRow[]> {
  return listRows(sql, orgId, { where: sql`sequence > ${above}`, order: sql`sequence`, limit });
}

async function listRows(
  sql: Sql,
  orgId: string,
  page: { readonly where: Fragment; readonly order: Fragment; readonly limit: number },
): Promise<readonly AuditRow[]> {
  const { where, order, limit } = page;
  return sql<AuditRow[]>`
    select ${columnsOf(sql)}
    from (
      select *, coalesce(sum(
        coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)
      ) over (order by ${order} rows between unbounded preceding and 1 preceding), 0) as bytes
      from (
        select * from audit_log
        where org_id = ${orgId} and ${where}
        order by ${order}
        limit ${limit}
      ) as page
    ) as page
    where bytes < ${pageBytesMax}
    order by ${order}`;
}

/** Returns the sequence of the `count`th row below a sequence; undefined if there are fewer. */
export async function findSequenceBack(
  sql: Sql,
  orgId: string,
  { below, count }: { readonly below: number; readonly count: number },
): Promise<number | undefined> {
  const [row] = await sql<{ sequence: number }[]>`
    select sequence from audit_log
    where org_id = ${orgId} and sequence < ${below}
    order by sequence desc
    offset ${count - 1} limit 1`;
  return row?.sequence;
}

/** Returns the recorded end of a chain and the number of its last row, from one snapshot. */
export async function getEnd(
  sql: Sql,
  orgId: string,
): Promise<{ readonly head: Head | undefined; readonly lastSequence: number }> {
  const [row] = await sql<
    { sequence: number | null; hash: Buffer | null; lastSequence: number | null }[]
  >`
    select
      head.sequence,
      head.hash,
      (select max(sequence) from audit_log where org_id = ${orgId}) as "lastSequence"
    from (select 1) as one
    left join audit_heads as head on head.org_id = ${orgId}`;
  const { sequence = null, hash = null, lastSequence = null } = row ?? {};
  const head = sequence === null || hash === null ? undefined : { sequence, hash };
  return { head, lastSequence: lastSequence ?? 0 };
}

/**
 * Returns the next chain in order of ids; the first if `orgId` is undefined. Every organization has
 * a chain, so that a chain that was removed as a whole is still checked.
 */
export async function findChainAfter(
  sql: Sql,
  orgId: string | undefined,
): Promise<string | undefined> {
  const isAfter = orgId === undefined ? sql`true` : sql`org_id > ${orgId}`;
  const [row] = await sql<{ orgId: string }[]>`
    select org_id as "orgId"
    from (
      (select org_id from audit_heads where ${isAfter} order by org_id limit 1)
      union all
      (select org_id from audit_log where ${isAfter} order by org_id limit 1)
      union all
      (select org_id from organizations where ${isAfter} order by org_id limit 1)
    ) as chains
    order by org_id
    limit 1`;
  return row?.orgId;
}

/** Tells whether the chain's organization exists or has left any rows. */
export async function hasChain(sql: Sql, orgId: string): Promise<boolean> {
  const [row] = await sql<{ isThere: boolean }[]>`
    select exists (select 1 from audit_heads where org_id = ${orgId})
      or exists (select 1 from audit_log where org_id = ${orgId})
      or exists (select 1 from organizations where org_id = ${orgId}) as "isThere"`;
  return row?.isThere ?? false;
}

/** Returns the name of an organization, archived or not. */
export async function findOrgName(sql: Sql, orgId: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select name from organizations where org_id = ${orgId}`;
  return row?.name;
}

/** Returns the id of the organization with a name: the active one, or else the last archived. */
export async function findOrgId(sql: Sql, name: string): Promise<string | undefined> {
  const [row] = await sql<{ orgId: string }[]>`
    select org_id as "orgId" from organizations
    where name = ${name}
    order by archived_at desc nulls first
    limit 1`;
  return row?.orgId;
}
