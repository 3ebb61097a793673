// The attempts of a notification and the log of them, over a real receiver. Source: docs/alerts.md,
// "Delivery".

import { beforeAll, expect, test } from "vitest";
import { createEncryptionKeys } from "../../src/access/encryption-keys.ts";
import { createAddressGuard } from "../../src/base/address-guard.ts";
import { createUuid } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { findProject, createScopes } from "../../src/controlplane/scopes/scopes.ts";
import {
  createNotifications,
  type Notifications,
  type NotificationsOptions,
} from "../../src/notifications/notifications.ts";
import * as store from "../../src/notifications/store.ts";
import { createOutbox } from "../../src/outbox/outbox.ts";
import { givenStarted } from "../support/given.ts";
import { startMailReceiver, startReceiver } from "../support/alerts.ts";
import { givenTestDatabase } from "../support/database.ts";
import { givenAProject } from "../support/project.ts";

const testDatabase = givenTestDatabase();
const receiver = givenStarted(startReceiver);
const mail = givenStarted(startMailReceiver);
let parts: NotificationsOptions;
let notifications: Notifications;

beforeAll(async () => {
  const { database } = testDatabase;
  parts = {
    database,
    outbox: createOutbox(database),
    mail: { url: mail.url, from: "alerts@waggle.example" },
    keys: createEncryptionKeys([{ id: "test", key: Buffer.alloc(32, 7) }]),
    addressGuard: createAddressGuard({ privateHosts: [receiver.host] }),
    members: { findInside: () => Promise.resolve([]) },
  };
  notifications = createNotifications(parts);
});

async function givenAnOwner(channel = "WEBHOOK", metadata: JsonObject = { url: receiver.url }) {
  const { database } = testDatabase;
  const { projectId } = await givenAProject(database, `p ${createUuid()}`);
  const project = await findProject(createScopes(database), projectId);
  if (!project) throw new Error("the project is absent");
  const owner = { project, id: createUuid() };
  const critical = { channel, metadata, userIds: [] };
  const checked = await notifications.check("targets", project, { critical });
  await database.transaction(() => notifications.put(owner, { checked }));
  return owner;
}

const notice: store.Notice = {
  type: "alert.triggered",
  role: "critical",
  title: "A",
  body: "b",
  data: {},
};

/** Appends a notification and returns the input of its attempts. */
async function append(owner: Awaited<ReturnType<typeof givenAnOwner>>, said = notice) {
  const id = await testDatabase.database.transaction(() =>
    notifications.append(owner, { ...said, actor: "a test" }),
  );
  const { projectId, orgId } = owner.project;
  return { projectId, orgId, notificationId: id ?? "", title: "A", actor: "a test" };
}

test("pauses grow from 5 s to a day, and the eleventh attempt is the last", async () => {
  const owner = await givenAnOwner();
  const input = await append(owner);
  receiver.answer(...Array.from({ length: 11 }, () => 503));

  const got = [];
  for (let attempt = 0; attempt < 12; attempt += 1) got.push(await notifications.attempt(input));

  const pauses = got.flatMap((one) => (one.kind === "again" ? [one.pauseMs / 1_000] : []));
  expect(pauses).toEqual([5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  expect(got.slice(10)).toEqual([
    { kind: "failed", attempts: 11 },
    { kind: "failed", attempts: 11 },
  ]);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(receiver.received).toHaveLength(11);
});

test("the log names the channel of the last attempt", async () => {
  const owner = await givenAnOwner();
  const { project } = owner;
  const input = await append(owner);
  const page = { limit: 1, after: undefined };
  receiver.answer(503);
  await notifications.attempt(input);
  const before = await notifications.list(owner, page);
  const critical = { channel: "SLACK", metadata: { url: receiver.url }, userIds: [] };
  const checked = await notifications.check("targets", project, { critical });
  await testDatabase.database.transaction(() => notifications.put(owner, { checked }));

  await notifications.attempt(input);

  const after = await notifications.list(owner, page);
  expect(before.items).toMatchObject([{ channel: "WEBHOOK", state: "pending" }]);
  expect(after.items).toMatchObject([{ channel: "SLACK", state: "delivered" }]);
});

test("a mail that an address puts off is sent again to that address alone", async () => {
  const input = await append(
    await givenAnOwner("EMAIL", { emails: ["ops@A.example", "later@busy.example"] }),
  );
  mail.mails.length = 0;

  const first = await notifications.attempt(input);
  const second = await notifications.attempt(input);

  expect(first).toMatchObject({ kind: "again", attempts: 1 });
  expect(second).toEqual({ kind: "delivered", attempts: 2 });
  expect(mail.mails.map(({ to }) => to)).toEqual([["ops@a.example"], ["later@busy.example"]]);
});

test("a mail that one of its addresses refuses has failed, and says so", async () => {
  const emails = ["nobody@refused.example", "ops@a.example"];
  const owner = await givenAnOwner("EMAIL", { emails });
  mail.mails.length = 0;

  const got = await notifications.attempt(await append(owner));

  const { items } = await notifications.list(owner, { limit: 1, after: undefined });
  expect(got).toEqual({ kind: "failed", attempts: 1 });
  expect(items[0]?.attempts).toMatchObject([
    { error: "the mail server refused 1 of 2 addresses (status 550)" },
  ]);
  expect(mail.mails.map(({ to }) => to)).toEqual([["ops@a.example"]]);
});

test("a test that is cut off has failed, since nothing sends it again", async () => {
  const owner = await givenAnOwner("EMAIL", { emails: ["ops@a.example"] });
  const members = { findInside: () => Promise.reject(new Error("cut off")) };
  const cutOff = createNotifications({ ...parts, members });

  await expect(cutOff.test(owner, notice)).rejects.toThrow("cut off");
  const got = await notifications.test(owner, notice);

  const { items } = await notifications.list(owner, { limit: 2, after: undefined });
  expect(got).toMatchObject({ state: "delivered", attempts: [{ error: null }] });
  expect(items.map(({ state, attempts }) => [state, attempts.length])).toEqual([
    ["delivered", 1],
    ["failed", 0],
  ]);
});

test("names make no links and mentions in Slack", async () => {
  const owner = await givenAnOwner("SLACK");
  receiver.received.length = 0;

  await notifications.attempt(await append(owner, { ...notice, title: "<!channel> R&D" }));

  const bodies = receiver.received.map(({ body }) => JSON.parse(body) as unknown);
  expect(bodies).toEqual([{ text: "*&lt;!channel&gt; R&amp;D*\nb" }]);
});

test("the log keeps the newest notifications, and those that wait", async () => {
  const owner = await givenAnOwner();
  const key = { projectId: owner.project.projectId, ownerId: owner.id };
  const sql = testDatabase.database.sql();
  const ids = Array.from({ length: 6 }, () => createUuid());
  const waiting = { ...notice, channel: "WEBHOOK", state: "pending" } as const;
  for (const id of ids) await store.insertNotification(sql, key, { ...waiting, id });
  for (const id of ids.slice(1)) {
    const attempt = { atMs: Date.now(), error: null };
    const sent = { attempt, state: "delivered", channel: "WEBHOOK" } as const;
    await store.addAttempt(sql, { ...key, id }, sent);
  }

  await store.deleteOldNotifications(sql, key, 3);

  const left = await store.listNotifications(sql, key, { limit: 10, after: undefined });
  expect(left.map(({ id }) => id)).toEqual([...ids.slice(3).toReversed(), ids[0]]);
});
