// Notifications of alerts and budgets: written in the transaction of the change that they tell of,
// delivered by a workflow at least once under one id, with a log of every attempt.
// Source: docs/alerts.md; docs/decisions.md, 48.3.

import type { EncryptionKeys } from "../access/encryption-keys.ts";
import type { Members } from "../access/members/members.ts";
import type { ProjectScope } from "../access/scope.ts";
import type { AddressGuard } from "../base/address-guard.ts";
import { refuse, ServiceError } from "../base/errors.ts";
import { createFairPlaces } from "../base/fair-places.ts";
import { createUuid } from "../base/ids.ts";
import { type Page, type PageOptions, toPage } from "../base/pages.ts";
import {
  deliveriesMax,
  deliveriesOfProjectMax,
  notificationsKept,
  testNotificationsMax,
} from "../base/tenant-limits.ts";
import { deliverNotificationEntry, type DeliverNotificationInput } from "../outbox/entry.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { Database } from "../postgres/database.ts";
import { type MailServer, sendMail } from "./mail.ts";
import * as store from "./store.ts";
import type { NotificationRow, Notice, OwnerKey, TargetsRow } from "./store.ts";
import { type PutTargets, putTargets, type StoredTargets, tryOpen } from "./sealed-targets.ts";
import { type CheckedTargets, parseTargets, type TargetInputs, type Targets } from "./target.ts";
import { postJson, type PostOutcome, signWebhook } from "./webhook.ts";

/** An owner of targets, such as an alert. */
export type Owner = { readonly project: ProjectScope; readonly id: string };

/** State of a notification after an attempt. */
export type Delivery =
  | { readonly kind: "delivered" | "failed" | "gone"; readonly attempts: number }
  | { readonly kind: "again"; readonly attempts: number; readonly pauseMs: number };

export type Notifications = {
  /**
   * Checks the targets that a request asks for. Throws INVALID_ARGUMENT naming the field below
   * `path`. To be called outside a transaction, since it asks name servers.
   */
  check(path: string, project: ProjectScope, given: TargetInputs): Promise<CheckedTargets>;
  /**
   * Stores the targets of an owner in the ambient transaction; without `checked`, those before
   * stay. Throws ENCRYPTION_KEY_ABSENT if they have secrets and there is no key.
   */
  put(owner: Owner, options: PutTargets): Promise<StoredTargets>;
  /** Returns the targets of an owner; undefined if it has none. */
  find(owner: Owner): Promise<Targets | undefined>;
  /** Takes the targets from an owner, whose notifications stay, in the ambient transaction. */
  clear(owner: Owner): Promise<void>;
  /** Deletes the targets of an owner with its notifications, in the ambient transaction. */
  delete(owner: Owner): Promise<void>;
  /**
   * Asks for a notification in the ambient transaction. Returns its id; undefined if the owner has
   * no target of this role, or has the notification.
   */
  append(owner: Owner, asked: AskedNotice): Promise<string | undefined>;
  /**
   * Makes the next attempt of a notification. Safe to repeat: a notification that was sent, but not
   * recorded, is sent again under the same id.
   */
  attempt(input: DeliverNotificationInput): Promise<Delivery>;
  /**
   * Sends a notification once, now. Throws INVALID_ARGUMENT if the owner has no target of its role,
   * and TEST_LIMITED.
   */
  test(owner: Owner, notice: Notice): Promise<NotificationRow>;
  /** Lists the notifications of an owner, newest first. */
  list(owner: Owner, page: PageOptions): Promise<Page<NotificationRow>>;
};

/** A notification to send, and who is named as the reason of its workflow. */
export type AskedNotice = Notice & {
  readonly actor: string;
  /** UUID that the same notification always has; default: a new one. */
  readonly notificationId?: string;
};

export type NotificationsOptions = {
  /** The control database. */
  readonly database: Database;
  readonly outbox: Outbox;
  readonly keys: EncryptionKeys;
  readonly addressGuard: AddressGuard;
  /** Undefined if the operator has set none. */
  readonly mail: MailServer | undefined;
  readonly members: Pick<Members, "findInside">;
};

/** Pauses after the attempts, in seconds. Source: the Standard Webhooks specification. */
const pausesSeconds = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/** Wait for a place among the deliveries of a process; then the workflow steps aside. */
const placeWaitMs = 2_000;
const asideMs = 5_000;
const minuteMs = 60_000;

export function createNotifications(options: NotificationsOptions): Notifications {
  const { database, outbox, keys, addressGuard, mail, members } = options;
  const places = createFairPlaces({
    max: deliveriesMax,
    orgMax: deliveriesMax / 2,
    projectMax: deliveriesOfProjectMax,
    waitMs: placeWaitMs,
    waitersMax: 1_000,
    refusal: "too many notifications are being sent",
  });

  async function write(
    row: NotificationRow,
    targetsRow: TargetsRow | undefined,
    orgId: string,
  ): Promise<PostOutcome> {
    const target = targetsRow?.targets[row.role];
    if (!targetsRow || !target) return { error: "it has no target any more", isFinal: true };
    if (target.channel === "EMAIL") {
      if (!mail) return { error: "the operator has set no mail server" };
      const found = await members.findInside(orgId, target.userIds);
      const to = [...new Set([...target.emails, ...found.map(({ email }) => email)])];
      if (to.length === 0) return { error: "none of its members is left", isFinal: true };
      const reached = row.attempts.flatMap((attempt) => attempt.reached ?? []);
      const left = to.filter((address) => !reached.includes(address));
      if (left.length === 0) return { error: null };
      return sendMail(mail, { id: row.id, to: left, subject: row.title, text: row.body });
    }
    const secrets = tryOpen(keys, targetsRow);
    if (secrets === undefined) return { error: "its secret cannot be opened; set it again" };
    const url = secrets.urls?.[row.role];
    if (url === undefined) return { error: "it has no address any more", isFinal: true };
    if (target.channel === "SLACK") {
      return postJson(addressGuard, { url, body: JSON.stringify({ text: slackTextOf(row) }) });
    }
    const body = JSON.stringify(payloadOf(row));
    const signature = { id: row.id, atMs: Date.now(), body };
    const headers = signWebhook(secrets.signingSecret ?? "", signature);
    return postJson(addressGuard, { url, headers, body });
  }

  /** Runs work in a place among the deliveries of this process. Throws OVERLOADED without one. */
  async function inPlace<T>(
    { orgId, projectId }: Pick<ProjectScope, "orgId" | "projectId">,
    work: () => Promise<T>,
  ): Promise<T> {
    const leave = await places.enter({ orgId, projectId });
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Sends a notification once and records it. */
  async function send(row: NotificationRow, orgId: string, isLast: boolean): Promise<PostOutcome> {
    const targetsRow = await store.findTargets(database.sql(), keyOf(row));
    const { error, reached, isFinal = false } = await write(row, targetsRow, orgId);
    const state = error === null ? "delivered" : isFinal || isLast ? "failed" : "pending";
    const attempt = { atMs: Date.now(), error, ...(reached && { reached }) };
    // The target may have changed since the notification was asked for, or since the last attempt.
    const { channel } = targetsRow?.targets[row.role] ?? row;
    await store.addAttempt(database.sql(), row, { attempt, state, channel });
    return { error, isFinal: state !== "pending" };
  }

  async function insert(
    owner: Owner,
    { id, state, ...notice }: Notice & Pick<NotificationRow, "id" | "state">,
  ): Promise<string | undefined> {
    const key = { projectId: owner.project.projectId, ownerId: owner.id };
    const sql = database.sql();
    const target = (await store.findTargets(sql, key))?.targets[notice.role];
    if (!target) return undefined;
    const row = { ...notice, id, state, channel: target.channel };
    if (!(await store.insertNotification(sql, key, row))) return undefined;
    await store.deleteOldNotifications(sql, key, notificationsKept);
    return id;
  }

  return {
    check: (path, project, given) =>
      parseTargets(path, given, {
        addressGuard,
        hasMail: mail !== undefined,
        findMembers: async (userIds) =>
          (await members.findInside(project.orgId, userIds)).map(({ userId }) => userId),
      }),

    put: ({ project, id }, given) =>
      putTargets(
        { sql: database.sql(), keys },
        { projectId: project.projectId, ownerId: id },
        given,
      ),

    async find({ project, id }) {
      const key = { projectId: project.projectId, ownerId: id };
      return (await store.findTargets(database.sql(), key))?.targets;
    },

    async clear({ project, id }) {
      await store.clearTargets(database.sql(), { projectId: project.projectId, ownerId: id });
    },

    async delete({ project, id }) {
      await store.deleteTargets(database.sql(), { projectId: project.projectId, ownerId: id });
    },

    async append(owner, { actor, notificationId = createUuid(), ...notice }) {
      const id = await insert(owner, { ...notice, id: notificationId, state: "pending" });
      if (id === undefined) return undefined;
      const { projectId, orgId } = owner.project;
      const { title } = notice;
      await outbox.append(
        deliverNotificationEntry({ projectId, orgId, notificationId: id, title, actor }),
      );
      return id;
    },

    async attempt({ projectId, orgId, notificationId }) {
      const row = await store.findNotification(database.sql(), projectId, notificationId);
      if (!row) return { kind: "gone", attempts: 0 };
      const made = row.attempts.length;
      if (row.state !== "pending") return { kind: row.state, attempts: made };
      const pauseMs = (pausesSeconds[made] ?? 0) * 1_000;
      try {
        const outcome = await inPlace({ orgId, projectId }, () =>
          send(row, orgId, made >= pausesSeconds.length),
        );
        const attempts = made + 1;
        if (outcome.error === null) return { kind: "delivered", attempts };
        return outcome.isFinal
          ? { kind: "failed", attempts }
          : { kind: "again", attempts, pauseMs };
      } catch (error) {
        if (!(error instanceof ServiceError && error.reason === "OVERLOADED")) throw error;
        return { kind: "again", attempts: made, pauseMs: asideMs };
      }
    },

    test: (owner, notice) =>
      inPlace(owner.project, async () => {
        const { projectId, orgId } = owner.project;
        const row = await database.transaction(async (sql) => {
          if ((await store.addTest(sql, projectId)) > testNotificationsMax) {
            const limit = `a project may send ${testNotificationsMax} tests an hour`;
            const retryAfterSeconds = (5 * minuteMs) / 1_000;
            throw new ServiceError("TEST_LIMITED", `${limit}; wait a while`, {
              retryAfterSeconds,
            });
          }
          // Failed until the target takes it: if this process ends, no other one sends the test.
          const id = await insert(owner, { ...notice, id: createUuid(), state: "failed" });
          const inserted = id && (await store.findNotification(sql, projectId, id));
          return inserted || refuse("kind", `there is no target for ${notice.role}`);
        });
        await send(row, orgId, true);
        return (await store.findNotification(database.sql(), projectId, row.id)) ?? row;
      }),

    async list({ project, id }, page) {
      const key = { projectId: project.projectId, ownerId: id };
      const rows = await database.readInTurn(project.projectId, (sql) =>
        store.listNotifications(sql, key, { ...page, limit: page.limit + 1 }),
      );
      return toPage("notifications", rows, page.limit);
    },
  };
}

function keyOf({ projectId, ownerId }: NotificationRow): OwnerKey {
  return { projectId, ownerId };
}

function payloadOf({ type, createdAt, data }: NotificationRow) {
  return { type, timestamp: createdAt.toISOString(), data };
}

/** Replaces what Slack would take as a link or a mention, such as `<!channel>`. */
function slackTextOf({ title, body }: NotificationRow): string {
  const text = `*${title}*\n${body}`;
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
