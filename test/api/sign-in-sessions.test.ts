// Sign-in sessions: their permissions, and every way in which they end.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createAudit } from "../../src/access/audit/audit.ts";
import { createAccessChanges } from "../../src/access/changes/changes.ts";
import { createPeople, type People } from "../../src/access/people.ts";
import { applyManifest } from "../../src/access/roles/apply-manifest.ts";
import { loadManifest, type Manifest } from "../../src/access/roles/manifest.ts";
import { createLogger } from "../../src/base/logger.ts";
import type { Browser, BrowserAnswer } from "../support/browser.ts";
import type { Account } from "../support/identity-provider.ts";
import { patience } from "../support/patience.ts";
import { startSignIn } from "../support/sign-in.ts";

const accounts: Record<string, Account> = {
  ana: { email: "ana@example.org" },
  bo: { email: "bo@example.org" },
  op: { email: "op@example.org", groups: ["staff", "operators"] },
  one_group: { email: "one@example.org", groups: "operators" },
};
const anOperator = { type: "operator", id: "op", name: "op" } as const;
const builtInPath = new URL("../../src/access/roles/roles.yaml", import.meta.url);

const folder = await mkdtemp(join(tmpdir(), "waggle-roles-"));
const manifestPath = join(folder, "roles.yaml");
const groups = "groups: [{ group: operators, role: system_admin, level: system }]";
const builtIn = await readFile(builtInPath, "utf8");
await writeFile(manifestPath, builtIn.replace("groups: []", groups));
const setup = await startSignIn({ accounts, flags: { "roles-manifest": manifestPath } });

afterAll(async () => {
  await setup.stop();
  await rm(folder, { recursive: true });
});

/** People as another server on the same database has them, with a memory of its own. */
async function givenAnotherServer(): Promise<{ people: People; manifest: Manifest }> {
  const { database } = setup.service;
  const manifest = await loadManifest(manifestPath);
  const changes = createAccessChanges({ database });
  const people = createPeople({
    database,
    changes,
    manifest,
    audit: createAudit(database),
    publicOrigin: setup.origin,
    cacheEntriesMax: 100,
    cacheAgeMs: 60_000,
  });
  changes.follow();
  onTestFinished(() => changes.stop());
  return { people, manifest };
}

const me = (browser: Browser): Promise<BrowserAnswer> => browser.visit(`${setup.origin}/v1/me`);

/** Looks until the session has ended; the memory of the service makes it a moment late. */
async function waitForEnd(browser: Browser): Promise<BrowserAnswer> {
  const look = async () => {
    const answer = await me(browser);
    return answer.status === 200 ? undefined : answer;
  };
  return vi.waitUntil(look, patience);
}

async function giveRole(email: string, role: string): Promise<Response> {
  const { url, projectId, controlPlaneKey } = setup.service;
  return fetch(`${url}/v1/projects/${projectId}/members`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${controlPlaneKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ email, role }),
  });
}

const tokenOf = (browser: Browser): string =>
  browser.cookies(setup.origin).get("waggle_session") ?? "";

function listSessions(browser: Browser, headers: Readonly<Record<string, string>>) {
  return browser.visit(`${setup.origin}/v1/events/schema`, { headers });
}

describe("a signed-in person", () => {
  test("has what groups give, also where the provider names one alone", async () => {
    const grants: unknown[] = [];
    for (const account of ["op", "one_group", "ana"]) {
      const { browser } = await setup.signIn(account);
      const answer = JSON.parse((await me(browser)).text) as { data: { grants: unknown } };
      grants.push(answer.data.grants);
    }

    const everything = [{ scope_type: "system", permissions: ["*"] }];
    expect(grants).toMatchObject([everything, everything, []]);
    expect(grants[2]).toEqual([]);
  });

  test("reads a project where they have a role, and none where they have not", async () => {
    await giveRole("bo@example.org", "project_viewer");
    const { browser } = await setup.signIn("bo");
    const { projectId, otherProject } = setup.service;

    const own = await listSessions(browser, { "x-project-id": projectId });
    const other = await listSessions(browser, { "x-project-id": otherProject.projectId });
    const absent = await browser.visit(`${setup.origin}/no/such/route`);
    const unnamed = await listSessions(browser, {});

    expect(own.status).toBe(200);
    expect(other).toMatchObject({ status: 404, text: absent.text });
    expect(unnamed.status).toBe(400);
    expect(unnamed.text).toContain("x-project-id");
  });

  test("who brings a key too is the key", async () => {
    const { browser } = await setup.signIn("op");
    const authorization = `Bearer ${setup.service.projectKey}`;

    const good = await browser.visit(`${setup.origin}/v1/me`, { headers: { authorization } });
    const bad = await browser.visit(`${setup.origin}/v1/me`, {
      headers: { authorization: "Bearer hh_wrong" },
    });

    expect(JSON.parse(good.text)).toMatchObject({ data: { type: "key", key_kind: "project" } });
    expect(bad.status).toBe(404);
  });

  test.each([
    { name: "another origin", headers: { origin: "https://evil.example" }, want: 404 },
    {
      name: "the same host over another scheme",
      headers: { origin: "https://waggle.test" },
      want: 404,
    },
    { name: "no origin", headers: {}, want: 404 },
    { name: "an origin that browsers hide", headers: { origin: "null" }, want: 404 },
    { name: "the service's own pages", headers: { origin: "http://waggle.test" }, want: 200 },
  ])("writes from $name: $want", async ({ headers, want }) => {
    const { browser } = await setup.signIn("op");

    const answer = await browser.visit(`${setup.origin}/events`, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        "x-project-id": setup.service.projectId,
      },
      body: JSON.stringify({ event: { event_type: "tool", inputs: {} } }),
    });

    expect(answer.status).toBe(want);
  });
});

describe("what a signed-in person is answered", () => {
  test.each([
    ["/v1/me"],
    ["/waggle.v1.MeService/GetMe?connect=v1&encoding=json&message=%7B%7D"],
    ["/no/such/page"],
  ])("is kept by no cache: %s", async (path) => {
    const { browser } = await setup.signIn("ana");

    const answer = await browser.visit(setup.origin + path);

    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
});

describe("a session ends", () => {
  test("at its time, also where it is remembered", async () => {
    const { browser } = await setup.signIn("ana");
    await setup.service.database.sql()`
      update sign_in_sessions set expires_at = now() + interval '1 second'`;

    const before = await me(browser);
    const after = await waitForEnd(browser);

    expect(before.status).toBe(200);
    expect(after.status).toBe(404);
  });

  test("at its time for a server that has not seen it yet", async () => {
    const { browser } = await setup.signIn("ana");
    await setup.service.database.sql()`
      update sign_in_sessions set expires_at = now() - interval '1 millisecond'`;

    expect((await me(browser)).status).toBe(404);
  });

  test("at sign-out, on every server", async () => {
    const { people } = await givenAnotherServer();
    const { browser } = await setup.signIn("ana");
    const token = tokenOf(browser);
    await me(browser);
    await people.signIns.authenticate(token);

    const answer = await browser.visit(`${setup.origin}/auth/sign-out`, {
      method: "POST",
      headers: { origin: setup.origin },
    });

    const cookie = `waggle_session=${token}`;
    const again = await setup.openBrowser().visit(`${setup.origin}/v1/me`, { headers: { cookie } });
    expect(answer).toMatchObject({ status: 200, text: '{"success":true}' });
    expect(browser.cookies(setup.origin).has("waggle_session")).toBe(false);
    expect(again.status).toBe(404);
    await vi.waitUntil(
      () =>
        people.signIns.authenticate(token).then(
          () => false,
          (error: unknown) => (error as { reason?: string }).reason === "NOT_FOUND",
        ),
      patience,
    );
  });

  test.each([
    { name: "another origin", headers: { origin: "https://evil.example" } },
    { name: "no origin", headers: {} },
  ])("not by a sign-out from $name", async ({ headers }) => {
    const { browser } = await setup.signIn("ana");

    const answer = await browser.visit(`${setup.origin}/auth/sign-out`, {
      method: "POST",
      headers,
    });

    expect(answer.status).toBe(404);
    expect((await me(browser)).status).toBe(200);
  });

  test("when a membership changes; signing in again brings what it allows", async () => {
    const { browser } = await setup.signIn("ana");
    const { browser: untouched } = await setup.signIn("op");
    await me(browser);

    const given = await giveRole("ana@example.org", "project_member");
    const ended = await me(browser);
    const back = await browser.follow(`${setup.origin}/auth/sign-in?return_to=/v1/me`);

    expect(given.status).toBe(200);
    expect(ended.status).toBe(404);
    expect(JSON.parse(back.text)).toMatchObject({
      data: { grants: [{ scope_type: "project", scope_id: setup.service.projectId }] },
    });
    expect((await me(untouched)).status).toBe(200);
  });

  test("when the manifest changes one of the person's groups, and of nobody else", async () => {
    const { browser } = await setup.signIn("op");
    const { browser: untouched } = await setup.signIn("ana");
    await me(browser);
    const { database } = setup.service;
    const { people, manifest } = await givenAnotherServer();

    await applyManifest(
      { ...manifest, groups: [] },
      {
        database,
        audit: createAudit(database),
        endSignIns: (userIds) => people.signIns.endOfUsers(userIds),
        permissions: [],
        logger: createLogger("silent"),
      },
    );

    expect((await waitForEnd(browser)).status).toBe(404);
    expect((await me(untouched)).status).toBe(200);
  });

  test("when the same person has begun 200 since, on every server", async () => {
    const { people } = await givenAnotherServer();
    const { userId } = await people.users.ensure("many@example.org", anOperator);
    const signIn = { userId, groups: [], expiresAtMs: Date.now() + 3_600_000 };
    const first = await people.signIns.create(signIn);
    const second = await people.signIns.create(signIn);
    const statusOf = async (token: string) => {
      const headers = { cookie: `waggle_session=${token}` };
      return (await fetch(`${setup.service.url}/v1/me`, { headers })).status;
    };
    const before = await statusOf(first);

    for (let count = 0; count < 199; count += 1) await people.signIns.create(signIn);

    await vi.waitFor(async () => expect(await statusOf(first)).toBe(404), patience);
    expect([before, await statusOf(second)]).toEqual([200, 200]);
  });

  test("with many others of the same person at once", async () => {
    const { browser } = await setup.signIn("ana");
    const { database } = setup.service;
    const { people } = await givenAnotherServer();
    const user = await people.users.findByEmail("ana@example.org");
    const userId = user?.userId ?? "";
    const expiresAtMs = Date.now() + 3_600_000;
    for (let count = 0; count < 101; count += 1) {
      await people.signIns.create({ userId, groups: [], expiresAtMs });
    }
    await me(browser);

    await database.transaction(() => people.signIns.endOfUsers([userId]));

    const left = await database.sql()`select 1 from sign_in_sessions where user_id = ${userId}`;
    expect((await waitForEnd(browser)).status).toBe(404);
    expect(left).toHaveLength(0);
  });
});
