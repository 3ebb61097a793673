// One-time links, where no identity provider is configured.

import type { Actor } from "../../src/base/actor.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { loadManifest } from "../../src/access/roles/manifest.ts";
import { createSignInLinks, type SignInLinks } from "../../src/access/sign-in/links.ts";
import { createLocalPeople } from "../../src/commands/local-access.ts";
import { givenStarted } from "../support/given.ts";
import { type Browser, type BrowserAnswer, openBrowser } from "../support/browser.ts";
import { startService } from "../support/service.ts";

const email = "admin@localhost";
const actor: Actor = { type: "operator", id: "tester", name: "command line (tester)" };

const service = givenStarted(startService);
let links: SignInLinks;

beforeAll(async () => {
  const { database } = service;
  const people = createLocalPeople(database, await loadManifest(undefined));
  links = createSignInLinks({ database, ...people });
});

function press(
  token: string,
  {
    browser = openBrowser(),
    headers = { origin: service.url },
  }: {
    readonly browser?: Browser;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<BrowserAnswer> {
  return browser.visit(`${service.url}/auth/link`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams({ token }).toString(),
  });
}

const ended =
  "This link was used before, is older than 15 minutes, or was followed by a newer one.";

describe("a one-time link", () => {
  test("shows a button, and pressing it signs the administrator in for three hours", async () => {
    const token = await links.create(email, actor);
    const browser = openBrowser();

    const page = await browser.visit(`${service.url}/auth/link?token=${token}`);
    const pressed = await press(token, { browser });
    const me = await browser.visit(`${service.url}/v1/me`);

    expect(page.status).toBe(200);
    expect(page.text).toContain('<form method="post" action="/auth/link">');
    // With no-referrer, browsers would hide the origin that the button's request is judged by.
    expect(page.headers.get("referrer-policy")).toBe("same-origin");
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self'");
    expect(pressed.status).toBe(303);
    expect(pressed.headers.get("location")).toBe("/app");
    expect(pressed.headers.get("set-cookie")).toMatch(
      /^waggle_session=[\w-]{43}; Max-Age=10800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(JSON.parse(me.text)).toMatchObject({
      data: { type: "user", email, grants: [{ scope_type: "system", permissions: ["*"] }] },
    });
  });

  test("is good once", async () => {
    const token = await links.create(email, actor);
    await press(token);

    const again = await press(token);

    expect(again.status).toBe(400);
    expect(again.text).toContain(ended);
    expect(again.headers.get("set-cookie")).toBeNull();
  });

  test("of which two browsers press the button at once signs one in", async () => {
    const token = await links.create(email, actor);

    const answers = await Promise.all([press(token), press(token), press(token)]);

    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400, 400]);
  });

  test("is not used up by whoever looks at it", async () => {
    const token = await links.create(email, actor);
    const look = () => openBrowser().visit(`${service.url}/auth/link?token=${token}`);
    await look();
    await look();

    expect((await press(token)).status).toBe(303);
  });

  test("is void after fifteen minutes", async () => {
    const token = await links.create(email, actor);
    await service.database.sql()`
      update sign_in_links set expires_at = expires_at - interval '15 minutes'`;

    expect((await press(token)).text).toContain(ended);
  });

  test("is void when there is a newer one", async () => {
    const older = await links.create(email, actor);
    const newer = await links.create(email, actor);

    const answers = [await press(older), await press(newer)];

    expect(answers.map(({ status }) => status)).toEqual([400, 303]);
  });

  test.each([
    { name: "another origin", headers: { origin: "https://evil.example" } },
    { name: "no origin", headers: {} },
  ])("is not used by a form from $name", async ({ headers }) => {
    const token = await links.create(email, actor);

    const foreign = await press(token, { headers });
    const own = await press(token);

    expect([foreign.status, own.status]).toEqual([404, 303]);
  });

  test.each(["", "short", "<script>", "A".repeat(44)])(
    "%j is said to be incomplete",
    async (token) => {
      const query = new URLSearchParams({ token }).toString();

      const page = await openBrowser().visit(`${service.url}/auth/link?${query}`);
      const pressed = await press(token);

      expect([page.status, pressed.status]).toEqual([400, 400]);
      expect(page.text).toContain("This link is incomplete");
      expect(page.text).not.toContain("<script");
    },
  );

  test("is stored as a hash, and audited when it makes an administrator", async () => {
    const token = await links.create("second@localhost", actor);

    const sql = service.database.sql();
    const stored = JSON.stringify(await sql`select * from sign_in_links`);
    const audited = await sql<{ action: string; actorName: string }[]>`
      select action, actor_name as "actorName" from audit_log
      where org_id = '00000000-0000-0000-0000-000000000000'
      order by sequence desc limit 2`;

    expect(stored).not.toContain(token);
    expect(audited).toEqual([
      { action: "member.create", actorName: actor.name },
      { action: "user.create", actorName: actor.name },
    ]);
  });
});

describe("without a provider", () => {
  test("sign-in says how to get a link", async () => {
    const answer = await openBrowser().visit(`${service.url}/auth/sign-in`);

    expect(answer.status).toBe(503);
    expect(answer.text).toContain("No identity provider is configured.");
    expect(answer.text).toContain("<code>waggle sign-in-link</code>");
  });

  test("there is no way back from one", async () => {
    const answer = await openBrowser().visit(`${service.url}/auth/callback?code=x&state=y`);

    expect(answer.status).toBe(404);
  });
});
