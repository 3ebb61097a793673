// SQL of notifications and their targets, in the control database.

import type { Sealed } from "../access/encryption-keys.ts";
import type { KeyUse } from "../access/rotate-secrets.ts";
import type { Position } from "../base/pages.ts";
import type { ProjectId } from "../base/ids.ts";
import type { JsonObject } from "../base/json.ts";
import type { Sql } from "../postgres/database.ts";
import { isBefore, selectCreatedAtUs } from "../postgres/keyset.ts";
import type { Channel, Role, Targets } from "./target.ts";

export type OwnerKey = { readonly projectId: ProjectId; readonly ownerId: string };

export type TargetsRow = OwnerKey & { readonly targets: Targets; readonly seal: Sealed | null };

export type Attempt = {
  readonly atMs: number;
  /** Null if the target accepted the notification. */
  readonly error: string | null;
  /** Addresses that took a mail which others did not take. */
  readonly reached?: readonly string[];
};

export type NotificationState = "pending" | "delivered" | "failed";

/** Content of a notification. */
export type Notice = {
  /** Such as `alert.triggered`. */
  readonly type: string;
  readonly role: Role;
  /** One line for people, and more lines. */
  readonly title: string;
  readonly body: string;
  /** The same for programs. */
  readonly data: JsonObject;
};

export type NotificationRow = Notice & {
  readonly id: string;
  readonly projectId: ProjectId;
  readonly ownerId: string;
  readonly channel: Channel;
  readonly state: NotificationState;
  readonly attempts: readonly Attempt[];
  readonly createdAt: Date;
  readonly createdAtUs: number;
  readonly deliveredAt: Date | null;
};

type StoredTargets = Omit<TargetsRow, "seal"> & {
  readonly sealed: Uint8Array | null;
  readonly keyId: string | null;
};

function toTargetsRow({ sealed, keyId, ...row }: StoredTargets): TargetsRow {
  return { ...row, seal: sealed === null || keyId === null ? null : { sealed, keyId } };
}

/** Returns the targets of an owner; undefined if it has none, or no longer. */
export async function findTargets(sql: Sql, key: OwnerKey): Promise<TargetsRow | undefined> {
  const [row] = await sql<StoredTargets[]>`
    select
      project_id as "projectId", owner_id as "ownerId", targets, sealed,
      encryption_key_id as "keyId"
    from notification_targets
    where project_id = ${key.projectId} and owner_id = ${key.ownerId}
      and targets::text <> '{}'`;
  return row && toTargetsRow(row);
}

/** Inserts the targets of an owner, or replaces them. */
export async function putTargets(
  sql: Sql,
  { projectId, ownerId, targets, seal }: TargetsRow,
): Promise<void> {
  await sql`
    insert into notification_targets (owner_id, project_id, targets, sealed, encryption_key_id)
    values (
      ${ownerId}, ${projectId}, ${JSON.stringify(targets)}::text::json,
      ${seal?.sealed ?? null}, ${seal?.keyId ?? null}
    )
    on conflict (owner_id) do update set
      targets = excluded.targets,
      sealed = excluded.sealed,
      encryption_key_id = excluded.encryption_key_id
    where notification_targets.project_id = excluded.project_id`;
}

/** Takes the targets from an owner, whose notifications stay. */
export async function clearTargets(sql: Sql, key: OwnerKey): Promise<void> {
  await sql`
    update notification_targets set targets = '{}', sealed = null, encryption_key_id = null
    where project_id = ${key.projectId} and owner_id = ${key.ownerId}`;
}

/** Deletes the targets of an owner with the notifications. */
export async function deleteTargets(sql: Sql, key: OwnerKey): Promise<void> {
  await sql`
    delete from notification_targets
    where project_id = ${key.projectId} and owner_id = ${key.ownerId}`;
}

/** Inserts a notification without attempts; returns false if there is one of this id. */
export async function insertNotification(
  sql: Sql,
  { projectId, ownerId }: OwnerKey,
  notice: Notice & Pick<NotificationRow, "id" | "channel" | "state">,
): Promise<boolean> {
  const rows = await sql`
    insert into notifications (
      notification_id, project_id, owner_id, role, type, channel, title, body, data, state
    )
    values (
      ${notice.id}, ${projectId}, ${ownerId}, ${notice.role}, ${notice.type}, ${notice.channel},
      ${notice.title}, ${notice.body}, ${JSON.stringify(notice.data)}::text::json, ${notice.state}
    )
    on conflict do nothing
    returning 1`;
  return rows.length > 0;
}

function selectNotifications(sql: Sql) {
  return sql`
    select
      notification_id as id, project_id as "projectId", owner_id as "ownerId", role, type, channel,
      title, body, data, state, attempts, created_at as "createdAt", delivered_at as "deliveredAt",
      ${selectCreatedAtUs(sql, "created_at")}
    from notifications`;
}

export async function findNotification(
  sql: Sql,
  projectId: string,
  id: string,
): Promise<NotificationRow | undefined> {
  const [row] = await sql<NotificationRow[]>`
    ${selectNotifications(sql)}
    where project_id = ${projectId} and notification_id = ${id}`;
  return row;
}

/** Returns notifications of an owner, newest first. */
export async function listNotifications(
  sql: Sql,
  { projectId, ownerId }: OwnerKey,
  { limit, after }: { readonly limit: number; readonly after: Position | undefined },
): Promise<readonly NotificationRow[]> {
  return sql<NotificationRow[]>`
    ${selectNotifications(sql)}
    where project_id = ${projectId} and owner_id = ${ownerId}
      and ${isBefore(sql, ["created_at", "notification_id"], after)}
    order by created_at desc, notification_id desc
    limit ${limit}`;
}

/** Adds an attempt, over a channel, to a notification that was not delivered. */
export async function addAttempt(
  sql: Sql,
  { projectId, id }: Pick<NotificationRow, "projectId" | "id">,
  {
    attempt,
    state,
    channel,
  }: { readonly attempt: Attempt } & Pick<NotificationRow, "state" | "channel">,
): Promise<void> {
  await sql`
    update notifications
    set channel = ${channel},
      attempts = (attempts::jsonb || ${JSON.stringify([attempt])}::text::jsonb)::json,
      state = ${state},
      delivered_at = case when ${state} = 'delivered' then clock_timestamp() end
    where project_id = ${projectId} and notification_id = ${id} and state <> 'delivered'`;
}

/** Deletes all but the newest notifications of an owner; those that wait stay. */
export async function deleteOldNotifications(
  sql: Sql,
  { projectId, ownerId }: OwnerKey,
  kept: number,
): Promise<void> {
  await sql`
    delete from notifications
    where project_id = ${projectId} and owner_id = ${ownerId} and state <> 'pending'
      and (created_at, notification_id) <= (
        select created_at, notification_id from notifications
        where project_id = ${projectId} and owner_id = ${ownerId}
        order by created_at desc, notification_id desc
        offset ${kept} limit 1
      )`;
}

/** Records a test of a target; returns the number of the project's tests within an hour. */
export async function addTest(sql: Sql, projectId: string): Promise<number> {
  await sql`
    delete from test_notifications
    where project_id = ${projectId} and at <= clock_timestamp() - interval '1 hour'`;
  await sql`insert into test_notifications (project_id) values (${projectId})`;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from test_notifications where project_id = ${projectId}`;
  return row?.count ?? 0;
}

/** Returns the number of targets under each encryption key. */
export async function countByKey(sql: Sql): Promise<readonly KeyUse[]> {
  return sql<KeyUse[]>`
    -- of all projects
    select encryption_key_id as "keyId", count(*)::integer as count
    from notification_targets
    where encryption_key_id is not null
    group by encryption_key_id
    order by encryption_key_id`;
}

/** Locks targets that are sealed under another key, in the order of their owners' ids. */
export async function lockOthersThan(
  sql: Sql,
  keyId: string,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<readonly TargetsRow[]> {
  const rows = await sql<StoredTargets[]>`
    -- of all projects
    select
      project_id as "projectId", owner_id as "ownerId", targets, sealed,
      encryption_key_id as "keyId"
    from notification_targets
    where encryption_key_id <> ${keyId} and owner_id > ${afterId}
    order by owner_id
    limit ${limit}
    for update`;
  return rows.map(toTargetsRow);
}

/** Replaces the encrypted form of unchanged secrets. */
export async function updateSeal(sql: Sql, ownerId: string, seal: Sealed): Promise<void> {
  await sql`
    -- of all projects
    update notification_targets set sealed = ${seal.sealed}, encryption_key_id = ${seal.keyId}
    where owner_id = ${ownerId}`;
}
