// Claims of identity providers, each with its own habits.

import { describe, expect, test } from "vitest";
import {
  assertUsable,
  lacksClaims,
  mergeClaims,
  toIdentity,
} from "../../../src/access/sign-in/identity.ts";

const claims = {
  iss: "https://id.example.org",
  sub: "1",
  exp: 1_000,
  email: "ana@example.org",
  email_verified: true,
};
const options = { groupsClaim: "groups", isEmailTrusted: false };

describe("toIdentity", () => {
  test("takes who it is, until when the token holds, and nothing else", () => {
    const got = toIdentity({ ...claims, email: " Ana@Example.ORG ", name: "Ana" }, options);

    expect(got).toEqual({
      issuer: "https://id.example.org",
      subject: "1",
      email: "ana@example.org",
      name: "Ana",
      groups: [],
      tokenExpiresAtMs: 1_000_000,
    });
  });

  test.each([
    { name: "a list", claim: ["a", "b"], want: ["a", "b"] },
    { name: "one text", claim: "a", want: ["a"] },
    { name: "a list with other things", claim: ["a", 1, null, { b: 1 }], want: ["a"] },
    {
      name: "names that no role can be mapped from",
      claim: ["a\0", "b".repeat(257), "\ud800"],
      want: [],
    },
    { name: "an object", claim: { a: true }, want: [] },
  ])("reads groups from $name", ({ claim, want }) => {
    expect(
      toIdentity({ ...claims, roles: claim }, { ...options, groupsClaim: "roles" }).groups,
    ).toEqual(want);
  });

  test("refuses more groups than anybody is in", () => {
    const groups = Array.from({ length: 1_001 }, (_, index) => `group ${index}`);

    expect(() => toIdentity({ ...claims, groups }, options)).toThrow("more than 1000 groups");
  });

  test.each([
    { name: "no e-mail", email: undefined },
    { name: "an e-mail that is none", email: "ana" },
    { name: "an e-mail with a line break", email: "ana@example.org\nbo@example.org" },
    { name: "a list of e-mails", email: ["ana@example.org"] },
    { name: "a long run of blanks in an e-mail", email: `a${" ".repeat(1_000_000)}b@example.org` },
  ])("refuses $name", ({ email }) => {
    expect(() => toIdentity({ ...claims, email }, options)).toThrow("did not say your e-mail");
  });

  test.each([false, "false", "False", 0, null, "no", []])(
    "refuses an e-mail whose verification is %j, trusted or not",
    (verified) => {
      const said = { ...claims, email_verified: verified };

      for (const isEmailTrusted of [false, true]) {
        expect(() => toIdentity(said, { ...options, isEmailTrusted })).toThrow("is not verified");
      }
    },
  );

  test("takes an e-mail of which nothing is said only where it is trusted", () => {
    const said = { ...claims, email_verified: undefined };

    expect(() => toIdentity(said, options)).toThrow("does not say whether");
    expect(toIdentity(said, { ...options, isEmailTrusted: true }).email).toBe("ana@example.org");
  });

  test.each([
    // Unicode lowers the Kelvin sign to k, and the Angstrom sign to a letter of its own.
    { name: "the Kelvin sign", email: "mi\u212ae@example.org" },
    { name: "a letter beyond A to Z", email: "\u00c9ve@example.org" },
  ])("leaves $name in an e-mail as it is", ({ email }) => {
    expect(toIdentity({ ...claims, email }, options).email).toBe(email);
  });

  test.each(["\u200bana@example.org", "ana@example.org\u202e", "\u00a0ana@example.org"])(
    "refuses an e-mail with a character that nobody sees: %j",
    (email) => {
      expect(() => toIdentity({ ...claims, email }, options)).toThrow("did not say your e-mail");
    },
  );
});

describe("assertUsable", () => {
  const token = { sub: "ana", exp: 2_000, iat: 1_000 };

  test.each([
    { name: "what a provider says", claims: {} },
    { name: "fractions of a second", claims: { exp: 2_000.5, auth_time: 999.25 } },
    { name: "the longest subject", claims: { sub: "~".repeat(255) } },
    { name: "spaces in a subject", claims: { sub: " a b " } },
  ])("takes $name", ({ claims: said }) => {
    expect(() => assertUsable({ ...token, ...said })).not.toThrow();
  });

  test.each([
    { claim: "sub", values: ["", " ", "a".repeat(256), "ä", "a\n", "a\0", 1, null, undefined, []] },
    { claim: "exp", values: [NaN, Infinity, -1, 1e300, 253_402_300_800, "1", null, undefined] },
    { claim: "iat", values: [NaN, Infinity, -1, 1e300, "1", null, undefined] },
    { claim: "auth_time", values: [NaN, Infinity, -1, 1e300, "1", null] },
  ])("refuses a $claim that nothing can be made of", ({ claim, values }) => {
    for (const value of values) {
      expect(() => assertUsable({ ...token, [claim]: value })).toThrow(`its claim "${claim}"`);
    }
  });
});

describe("mergeClaims", () => {
  const bare = { email: "ana@example.org" };

  test("believes userinfo's verification of the token's own e-mail alone", () => {
    const same = mergeClaims(bare, { ...bare, email_verified: true, groups: ["a"] });
    const other = mergeClaims(bare, { email: "eve@example.org", email_verified: true });

    expect(same).toEqual({ ...bare, email_verified: true, groups: ["a"] });
    expect(other).toEqual({ ...bare, email_verified: undefined });
  });

  test("lets the token overrule userinfo", () => {
    const token = { ...bare, email_verified: false };

    expect(mergeClaims(token, { ...bare, email_verified: true })).toEqual(token);
  });
});

test("userinfo is asked where the token does not say whether its e-mail is verified", () => {
  const token = { email: "ana@example.org", groups: [] };

  expect(lacksClaims(token, "groups")).toBe(true);
  expect(lacksClaims({ ...token, email_verified: true }, "groups")).toBe(false);
});
