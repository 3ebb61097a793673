// Sign-in when the identity provider is away, answers what does not hold, or has not been told of
// us; and when too many sign in at once.

import { describe, expect, onTestFinished, test } from "vitest";
import { createIdentityProvider } from "../../src/access/sign-in/oidc.ts";
import { clientId, startIdentityProvider } from "../support/identity-provider.ts";
import { type SignInSetup, startSignIn, type StartSignInOptions } from "../support/sign-in.ts";

async function givenSignIn(options: StartSignInOptions = {}): Promise<SignInSetup> {
  const setup = await startSignIn(options);
  onTestFinished(() => setup.stop());
  return setup;
}

const accounts = { ana: { email: "ana@example.org" } };

/** Starts another provider where the first one was, with keys of its own. */
async function restartProvider({ provider, origin }: SignInSetup): Promise<void> {
  const redirectUri = `${origin}/auth/callback`;
  const again = await startIdentityProvider({ redirectUri, accounts, port: provider.port });
  onTestFinished(() => again.stop());
}

describe("with the provider away", () => {
  test("sign-in says so, the rest works, and the provider's return is noticed", async () => {
    const setup = await givenSignIn();
    await setup.provider.stop();
    const browser = setup.openBrowser("ana");
    const headers = { accept: "application/json" };
    const signInUrl = `${setup.origin}/auth/sign-in?return_to=/v1/me`;

    const page = await browser.visit(signInUrl);
    const json = await browser.visit(signInUrl, { headers });
    const ready = await browser.visit(`${setup.origin}/readyz`);
    const attempts = await setup.service.database.sql()`select 1 from sign_in_attempts`;
    await restartProvider(setup);
    const back = await browser.follow(signInUrl);

    expect(page.status).toBe(503);
    expect(page.text).toContain("The identity provider does not answer as it should");
    expect(page.headers.get("retry-after")).toBe("1");
    expect(JSON.parse(json.text)).toEqual({
      success: false,
      statusCode: 503,
      errorCode: "SIGN_IN_UNAVAILABLE",
    });
    expect(ready.status).toBe(200);
    expect(attempts).toHaveLength(0);
    expect(back.status).toBe(200);
  });

  test("on the way back nobody is signed in", async () => {
    const setup = await givenSignIn();
    const browser = setup.openBrowser("ana");
    const url = await setup.callbackUrlOf(browser);
    await setup.provider.stop();

    const answer = await browser.visit(url);

    expect(answer.status).toBe(503);
    expect(browser.cookies(setup.origin).has("waggle_session")).toBe(false);
  });
});

describe("an answer of the provider", () => {
  test("signed with a key that it has not published is refused", async () => {
    const setup = await givenSignIn({ accounts });
    // From here on its key is known, under the name that the next provider's key has too.
    await setup.signIn("ana");
    await setup.provider.stop();
    await restartProvider(setup);
    const browser = setup.openBrowser("ana");

    const answer = await browser.visit(await setup.callbackUrlOf(browser));

    expect(answer.status).toBe(400);
    expect(answer.text).toContain("could not be verified");
  });

  test("that does not know our secret tells nobody of it", async () => {
    const setup = await givenSignIn({ flags: { "oidc-client-secret": "a wrong secret" } });
    const browser = setup.openBrowser("ana");

    const answer = await browser.visit(await setup.callbackUrlOf(browser));

    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain("invalid_client");
    expect(answer.text).not.toContain("secret");
  });
});

test("the log says what the provider said, without a secret or a code", async () => {
  const redirectUri = "http://waggle.test/auth/callback";
  const running = await startIdentityProvider({ redirectUri, accounts });
  onTestFinished(() => running.stop());
  const logged: unknown[] = [];
  const provider = createIdentityProvider({
    issuer: running.issuer,
    clientId,
    clientSecret: "not-the-secret",
    scopes: ["openid"],
    groupsClaim: "groups",
    isEmailTrusted: false,
    logger: { warn: (...entry: unknown[]) => void logged.push(entry) },
  });
  const query = new URLSearchParams({ code: "the-code", state: "the-state", iss: running.issuer });
  const expected = { state: "the-state", nonce: "the-nonce", codeVerifier: "v".repeat(43) };

  const work = provider.getIdentity(new URL(`${redirectUri}?${query.toString()}`), expected);

  await expect(work).rejects.toMatchObject({ reason: "SIGN_IN_UNAVAILABLE" });
  expect(JSON.stringify(logged)).toContain("invalid_client");
  expect(JSON.stringify(logged)).not.toMatch(/not-the-secret|the-code|the-nonce|vvv/);
});

test("of more than 20,000 open attempts the oldest make room, and people sign in", async () => {
  const setup = await givenSignIn();
  const sql = setup.service.database.sql();
  const browser = setup.openBrowser("ana");
  const callbackUrl = await setup.callbackUrlOf(browser);
  await sql`
    insert into sign_in_attempts (
      state_hash, browser_hash, nonce, code_verifier, return_to, created_at
    )
    select sha256(n::text::bytea), ''::bytea, '', '', '/', now() - interval '5 minutes'
    from generate_series(1, 20000) as n`;

  const begun = await setup.openBrowser().visit(`${setup.origin}/auth/sign-in`);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from sign_in_attempts`;
  const back = await browser.visit(callbackUrl);

  expect(begun.status).toBe(303);
  expect(row?.count).toBe(20_000);
  expect(back.status).toBe(303);
});
