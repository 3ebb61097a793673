// Sign-in through a real identity provider, over real HTTP: redirects there and back, the session
// that follows, and sign-ins that are refused.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadManifest } from "../../src/access/roles/manifest.ts";
import { createLocalPeople } from "../../src/commands/local-access.ts";
import { givenStarted } from "../support/given.ts";
import type { Account } from "../support/identity-provider.ts";
import { type SignInSetup, startSignIn } from "../support/sign-in.ts";

const accounts: Record<string, Account> = {
  ana: { email: "Ana@Example.org", name: "Ana", email_verified: true },
  bo: { email: "bo@example.org" },
  nobody: {},
  unverified: { email: "unverified@example.org", email_verified: false },
  unverified_text: { email: "unverified@example.org", email_verified: "false" },
  unsaid: { email: "unsaid@example.org", email_verified: undefined },
  first_ivy: { email: "ivy@example.org" },
  second_ivy: { email: "ivy@example.org" },
  kelvin: { email: "\u212aim@example.org" },
  kim: { email: "Kim@example.org" },
  other_ana: { email: "ana@example.org" },
};
const threeHoursMs = 3 * 3_600_000;
/** For the clocks of two machines and the time of the test itself. */
const slackMs = 60_000;

const setup = givenStarted(() => startSignIn({ accounts }));

async function expiresAtMsOf(email: string): Promise<number> {
  const [row] = await setup.service.database.sql()<{ expiresAt: Date }[]>`
    select expires_at as "expiresAt"
    from sign_in_sessions
    join users using (user_id)
    where email = ${email}
    order by sign_in_sessions.created_at desc`;
  return row?.expiresAt.getTime() ?? 0;
}

describe("signing in", () => {
  test("leads through the provider back to the path asked for, signed in", async () => {
    const browser = setup.openBrowser("ana");

    const answer = await browser.follow(`${setup.origin}/auth/sign-in?return_to=/v1/me?x=1`);

    expect(answer.url).toBe(`${setup.origin}/v1/me?x=1`);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({
      success: true,
      data: { type: "user", email: "ana@example.org", grants: [] },
    });
  });

  test("asks the provider with PKCE, a state and a nonce, all fresh", async () => {
    const browser = setup.openBrowser();

    const [one, two] = [
      await browser.visit(`${setup.origin}/auth/sign-in`),
      await browser.visit(`${setup.origin}/auth/sign-in`),
    ];

    const [first, second] = [one, two].map(
      ({ headers }) => new URL(headers.get("location") ?? "").searchParams,
    );
    expect(first?.get("code_challenge_method")).toBe("S256");
    expect(first?.get("response_type")).toBe("code");
    expect(first?.get("redirect_uri")).toBe(`${setup.origin}/auth/callback`);
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(first?.get(name)).toMatch(/^[\w-]{43}$/);
      expect(first?.get(name)).not.toBe(second?.get(name));
    }
  });

  test("stores neither the session's token nor the state", async () => {
    const browser = setup.openBrowser("ana");
    const callbackUrl = await setup.callbackUrlOf(browser);
    const state = new URL(callbackUrl).searchParams.get("state") ?? "";
    const sql = setup.service.database.sql();
    const attempts = await sql`select * from sign_in_attempts`;

    await browser.visit(callbackUrl);

    const token = browser.cookies(setup.origin).get("waggle_session") ?? "";
    const sessions = await sql`select * from sign_in_sessions`;
    const text = JSON.stringify([attempts, sessions]);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(attempts.length).toBeGreaterThan(0);
    expect(text).not.toContain(token);
    expect(text).not.toContain(state);
  });

  test("in again ends the session that the browser had", async () => {
    const { browser } = await setup.signIn("ana");
    const before = browser.cookies(setup.origin).get("waggle_session") ?? "";

    await browser.follow(`${setup.origin}/auth/sign-in`);

    const after = browser.cookies(setup.origin).get("waggle_session");
    const cookie = `waggle_session=${before}`;
    const answer = await setup
      .openBrowser()
      .visit(`${setup.origin}/v1/me`, { headers: { cookie } });
    expect(after).not.toBe(before);
    expect(answer.status).toBe(404);
  });

  test("in two tabs at once works in both", async () => {
    const browser = setup.openBrowser("ana");
    const begun = [
      await browser.visit(`${setup.origin}/auth/sign-in`),
      await browser.visit(`${setup.origin}/auth/sign-in`),
    ];

    const places: string[] = [];
    for (const { headers } of begun) {
      places.push((await browser.follow(headers.get("location") ?? "")).url);
    }

    expect(places).toEqual([`${setup.origin}/app`, `${setup.origin}/app`]);
  });
});

describe("the session's cookie over http", () => {
  test("is HttpOnly and SameSite=Lax, and ends when the session does", async () => {
    const { answer } = await setup.signIn("ana");

    const [cookie = ""] = answer.headers.getSetCookie();
    const expiresAtMs = await expiresAtMsOf("ana@example.org");
    const maxAge = Number(/Max-Age=(\d+)/.exec(cookie)?.[1]);
    expect(cookie).toMatch(
      /^waggle_session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(Math.abs(Date.now() + maxAge * 1_000 - expiresAtMs)).toBeLessThan(slackMs);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("stands for a session of three hours where the token ends sooner", async () => {
    await setup.signIn("bo");

    const lastsMs = (await expiresAtMsOf("bo@example.org")) - Date.now();

    expect(Math.abs(lastsMs - threeHoursMs)).toBeLessThan(slackMs);
  });
});

describe("with an https address and a token of six hours in userinfo alone", () => {
  let secure: SignInSetup;

  beforeAll(async () => {
    secure = await startSignIn({
      origin: "https://waggle.test",
      accounts: { cy: { email: "cy@example.org" } },
      isTokenFull: false,
      idTokenSeconds: 6 * 3_600,
    });
  });

  afterAll(async () => {
    await secure.stop();
  });

  test("cookies are Secure and bound to the host, and the session lasts as the token", async () => {
    const browser = secure.openBrowser("cy");
    const begun = await browser.visit(`${secure.origin}/auth/sign-in`);
    const { answer } = await secure.signIn("cy");

    const cookies = [begun, answer].flatMap(({ headers }) => headers.getSetCookie());
    const maxAge = Number(/Max-Age=(\d+)/.exec(cookies[1] ?? "")?.[1]);
    expect(cookies[0]).toMatch(
      /^__Host-waggle_sign_in=.*; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(cookies[1]).toMatch(
      /^__Host-waggle_session=.*; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(Math.abs(maxAge - 6 * 3_600)).toBeLessThan(60);
    expect(secure.provider.asked).toContain("/me");
  });

  test("a cookie of the bare name is not looked at", async () => {
    const { browser } = await secure.signIn("cy");
    const token = browser.cookies(secure.origin).get("__Host-waggle_session") ?? "";
    const visitWith = (cookie: string) =>
      secure.openBrowser().visit(`${secure.origin}/v1/me`, { headers: { cookie } });

    const bare = await visitWith(`waggle_session=${token}`);
    const prefixed = await visitWith(`__Host-waggle_session=${token}`);

    expect([bare.status, prefixed.status]).toEqual([404, 200]);
  });
});

describe("a sign-in is refused", () => {
  async function refusalOf(url: string, browser = setup.openBrowser()): Promise<string> {
    const answer = await browser.visit(url);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(browser.cookies(setup.origin).has("waggle_session")).toBe(false);
    return answer.text;
  }

  const ended = "begun in another browser, was finished before, or took longer";

  test("without a state", async () => {
    expect(await refusalOf(`${setup.origin}/auth/callback?code=x`)).toContain(ended);
  });

  test("with a state that nobody gave out", async () => {
    const browser = setup.openBrowser("ana");
    const url = new URL(await setup.callbackUrlOf(browser));
    url.searchParams.set("state", "A".repeat(43));

    expect(await refusalOf(url.href, browser)).toContain(ended);
  });

  test("with the state of another browser, which can still go on itself", async () => {
    const browser = setup.openBrowser("ana");
    const url = await setup.callbackUrlOf(browser);
    const other = setup.openBrowser("ana");
    await other.visit(`${setup.origin}/auth/sign-in`);

    const text = await refusalOf(url, other);
    const own = await browser.visit(url);

    expect(text).toContain(ended);
    expect(own.status).toBe(303);
  });

  test("with a state that was used before", async () => {
    const { browser } = await setup.signIn("ana");
    const again = setup.openBrowser("ana");
    const url = await setup.callbackUrlOf(again);
    await again.visit(url);

    const answer = await again.visit(url);

    expect(browser.cookies(setup.origin).size).toBe(2);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(ended);
  });

  test("with a code that was used before, under a fresh state", async () => {
    const browser = setup.openBrowser("ana");
    const used = await setup.callbackUrlOf(browser);
    await browser.visit(used);
    const fresh = setup.openBrowser("ana");
    const url = new URL(await setup.callbackUrlOf(fresh));
    url.searchParams.set("code", new URL(used).searchParams.get("code") ?? "");

    const text = await refusalOf(url.href, fresh);

    expect(text).toContain("no longer takes the code");
  });

  test("after ten minutes", async () => {
    const browser = setup.openBrowser("ana");
    const url = await setup.callbackUrlOf(browser);
    await setup.service.database.sql()`
      update sign_in_attempts set created_at = now() - interval '10 minutes 1 second'`;

    expect(await refusalOf(url, browser)).toContain(ended);
  });

  test.each(["nonce", "code_verifier"])("when the %s is not the one begun with", async (column) => {
    const browser = setup.openBrowser("ana");
    const url = await setup.callbackUrlOf(browser);
    const sql = setup.service.database.sql();
    await sql`update sign_in_attempts set ${sql({ [column]: "A".repeat(43) })}`;

    expect(await refusalOf(url, browser)).toMatch(/could not be verified|no longer takes the code/);
  });

  test("when the provider refuses", async () => {
    const browser = setup.openBrowser();
    const url = await setup.callbackUrlOf(browser);

    expect(await refusalOf(url, browser)).toContain("refused the sign-in: access_denied");
  });

  test("when the answer says another issuer", async () => {
    const browser = setup.openBrowser("ana");
    const url = new URL(await setup.callbackUrlOf(browser));
    url.searchParams.set("iss", "https://evil.example");

    expect(await refusalOf(url.href, browser)).toContain("could not be verified");
  });

  test.each([
    { account: "nobody", because: "did not say your e-mail" },
    { account: "unverified", because: "is not verified" },
    { account: "unverified_text", because: "is not verified" },
    { account: "unsaid", because: "does not say whether" },
  ])("for $account: $because", async ({ account, because }) => {
    const browser = setup.openBrowser(account);
    const url = await setup.callbackUrlOf(browser);

    expect(await refusalOf(url, browser)).toContain(because);
  });

  test("for an e-mail that another account of the provider signed in with", async () => {
    await setup.signIn("ana");
    const browser = setup.openBrowser("other_ana");
    const url = await setup.callbackUrlOf(browser);

    expect(await refusalOf(url, browser)).toContain("another account of the identity provider");
  });

  test("for that e-mail until it is released, which ends the sign-ins of before", async () => {
    const { browser: before } = await setup.signIn("first_ivy");
    const { browser: refused } = await setup.signIn("second_ivy");
    const people = createLocalPeople(setup.service.database, await loadManifest(undefined));
    await people.members.release("Ivy@example.org", { type: "operator", id: "op", name: "op" });

    const { browser: after } = await setup.signIn("second_ivy");
    const { browser: again } = await setup.signIn("first_ivy");

    const statuses = [];
    for (const browser of [before, refused, after, again]) {
      statuses.push((await browser.visit(`${setup.origin}/v1/me`)).status);
    }
    expect(statuses).toEqual([404, 404, 200, 404]);
  });

  test("for nobody whose e-mail only looks like another's: they are two people", async () => {
    const [kelvin, kim] = [await setup.signIn("kelvin"), await setup.signIn("kim")];
    const ids = [];
    for (const { browser } of [kelvin, kim]) {
      const { text } = await browser.visit(`${setup.origin}/v1/me`);
      ids.push((JSON.parse(text) as { data: { id: string } }).data.id);
    }

    expect(new Set(ids).size).toBe(2);
  });

  test("as JSON for whoever asks for that", async () => {
    const headers = { accept: "application/json" };

    const answer = await setup.openBrowser().visit(`${setup.origin}/auth/callback`, { headers });

    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      success: false,
      statusCode: 400,
      errorCode: "SIGN_IN_REFUSED",
    });
  });
});

describe("return_to", () => {
  test.each([
    { name: "another host", returnTo: "//evil.example" },
    { name: "another host behind a backslash", returnTo: "/\\evil.example" },
    { name: "backslashes alone", returnTo: "\\\\evil.example" },
    { name: "another origin", returnTo: "https://evil.example/" },
    { name: "a tab, which browsers leave out", returnTo: "/\t/evil.example" },
    { name: "a line break, which browsers leave out", returnTo: "/\n//evil.example" },
    { name: "a script", returnTo: "javascript:alert(1)" },
    { name: "no path", returnTo: "evil.example" },
    { name: "more than anybody needs", returnTo: `/${"a".repeat(2_000)}` },
  ])("that is $name is refused before the provider is asked", async ({ returnTo }) => {
    const query = new URLSearchParams({ return_to: returnTo }).toString();

    const answer = await setup.openBrowser().visit(`${setup.origin}/auth/sign-in?${query}`);

    expect(answer.status).toBe(400);
    expect(answer.headers.get("location")).toBeNull();
    expect(answer.text).toContain("return_to: must be a path of this service");
  });
});

describe("pages", () => {
  test("may do nothing but be read", async () => {
    const { headers, text } = await setup.openBrowser().visit(`${setup.origin}/auth/callback`);

    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; .*frame-ancestors 'none'/,
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(text).toContain('<a href="/auth/sign-in">');
    expect(text).not.toContain("<script");
  });

  test.each([
    ["POST", "/auth/sign-in"],
    ["POST", "/auth/callback"],
    ["GET", "/auth/sign-out"],
    ["HEAD", "/auth/sign-in"],
    ["GET", "/auth/link?token=x"],
    ["POST", "/auth/link"],
    ["GET", "/auth/"],
  ])("%s %s is the fixed 404", async (method, path) => {
    const browser = setup.openBrowser();

    const answer = await browser.visit(setup.origin + path, { method });
    const absent = await browser.visit(`${setup.origin}/no/such/page`, { method });

    expect(answer.status).toBe(404);
    expect(answer.text).toBe(absent.text);
  });
});
