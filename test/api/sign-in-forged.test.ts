// ID tokens with a good signature and unusable claims: a refused sign-in, never a failure of the
// service.

import { afterEach, describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { type Browser, type BrowserAnswer, openBrowser } from "../support/browser.ts";
import { startForgingProvider } from "../support/forging-provider.ts";
import { clientId, clientSecret } from "../support/identity-provider.ts";
import { startService } from "../support/service.ts";

const origin = "http://waggle.test";
const provider = givenStarted(startForgingProvider);
const service = givenStarted(() =>
  startService({
    "public-url": origin,
    "oidc-issuer": provider.issuer,
    "oidc-client-id": clientId,
    "oidc-client-secret": clientSecret,
  }),
);

afterEach(() => provider.forge({}));

/** Signs in with a forged answer of the provider; returns Waggle's answer to the browser. */
async function signIn(): Promise<{ readonly browser: Browser; readonly answer: BrowserAnswer }> {
  const browser = openBrowser({ addresses: { [origin]: service.url } });
  const isBack = (url: string): boolean => url.startsWith(`${origin}/auth/callback`);
  const { url } = await browser.follow(`${origin}/auth/sign-in`, isBack);
  return { browser, answer: await browser.visit(url, { headers: { accept: "application/json" } }) };
}

const text = (value: string): string => JSON.stringify(value);

describe("an ID token", () => {
  test("that is as it should be signs in", async () => {
    const { browser, answer } = await signIn();

    expect(answer.status).toBe(303);
    expect((await browser.visit(`${origin}/v1/me`)).status).toBe(200);
  });

  test.each([
    { name: "an empty sub", claims: { sub: text("") }, because: "sub" },
    { name: "a blank sub", claims: { sub: text("   ") }, because: "sub" },
    { name: "a sub of 256 characters", claims: { sub: text("a".repeat(256)) }, because: "sub" },
    { name: "a sub of megabytes", claims: { sub: text("a".repeat(2_000_000)) }, because: "sub" },
    { name: "a sub beyond ASCII", claims: { sub: text("anä") }, because: "sub" },
    { name: "a sub with NUL", claims: { sub: '"a\\u0000"' }, because: "sub" },
    { name: "a sub with a line break", claims: { sub: text("a\n") }, because: "sub" },
    { name: "an exp beyond every date", claims: { exp: "1e300" }, because: "exp" },
    { name: "an exp beyond every number", claims: { exp: "1e999" }, because: "exp" },
    { name: "an exp in milliseconds of a far year", claims: { exp: "8.64e15" }, because: "exp" },
    { name: "an exp of the year 10000", claims: { exp: "253402300800" }, because: "exp" },
    { name: "an iat beyond every number", claims: { iat: "1e999" }, because: "iat" },
    { name: "an iat before 1970", claims: { iat: "-1" }, because: "iat" },
    {
      name: "an auth_time beyond every date",
      claims: { auth_time: "1e300" },
      because: "auth_time",
    },
  ])("with $name is refused, naming the claim", async ({ claims, because }) => {
    provider.forge(claims);

    const { browser, answer } = await signIn();

    expect(JSON.parse(answer.text)).toEqual({
      success: false,
      statusCode: 400,
      errorCode: "SIGN_IN_REFUSED",
      message: expect.stringContaining(`its claim "${because}" must be`) as string,
    });
    expect(answer.status).toBe(400);
    expect(browser.cookies(origin).has("waggle_session")).toBe(false);
  });

  test.each([
    { name: "without sub", claims: { sub: undefined } },
    { name: "with a sub that is a number", claims: { sub: "17" } },
    { name: "with a sub that is a list", claims: { sub: '["ana"]' } },
    { name: "with a sub that is null", claims: { sub: "null" } },
    { name: "with an auth_time that is text", claims: { auth_time: text("now") } },
    { name: "without exp", claims: { exp: undefined } },
    { name: "with an exp that is text", claims: { exp: text("2099-01-01") } },
    { name: "with an exp that is null", claims: { exp: "null" } },
    { name: "with an exp that has passed", claims: { exp: "1" } },
    { name: "without iat", claims: { iat: undefined } },
    { name: "with an iat that is a list", claims: { iat: "[]" } },
    { name: "with a nonce that is a number", claims: { nonce: "1" } },
  ])("$name is refused by the client library", async ({ claims }) => {
    provider.forge(claims);

    const { answer } = await signIn();

    expect(answer.status).toBe(400);
    expect(answer.text).toContain("could not be verified");
  });

  test.each([
    { name: "an e-mail of 255 characters", email: text(`${"a".repeat(243)}@example.org`) },
    { name: "an e-mail of megabytes", email: text(`${"a".repeat(2_000_000)}@example.org`) },
    { name: "an e-mail that is an object", email: "{}" },
    { name: "an e-mail with half a character", email: '"\\ud800@example.org"' },
  ])("with $name is refused", async ({ email }) => {
    provider.forge({ email });

    const { answer } = await signIn();

    expect(answer.status).toBe(400);
    expect(answer.text).toContain("did not say your e-mail address");
  });

  test.each([
    { name: "of megabytes", given: text("é".repeat(1_000_000)), want: "é".repeat(256) },
    { name: "with NUL and half a character", given: '"A\\u0000na \\ud800"', want: "Ana \ufffd" },
    { name: "that is a number", given: "7", want: null },
  ])("with a name $name signs in, with what can be kept of it", async ({ given, want }) => {
    const email = `${createName()}@example.org`;
    provider.forge({ name: given, sub: text(email), email: text(email) });

    const { answer } = await signIn();

    const [row] = await service.database.sql()<{ name: string | null }[]>`
      select name from users where email = ${email}`;
    expect(answer.status).toBe(303);
    expect(row).toEqual({ name: want });
  });

  test("with the largest of everything signs in, and /v1/me tells the end", async () => {
    const email = `${createName()}@example.org`;
    const [sub, exp] = [text("s".repeat(255)), "253402300799"];
    provider.forge({ sub, exp, auth_time: "253402300799", email: text(email) });

    const { browser, answer } = await signIn();
    const me = await browser.visit(`${origin}/v1/me`);

    expect(answer.status).toBe(303);
    expect(JSON.parse(me.text)).toMatchObject({
      data: { email, expires_at: expect.stringMatching(/^9999-12-31T23:59:59/) as string },
    });
  });
});

let names = 0;
function createName(): string {
  names += 1;
  return `person-${names}`;
}
