// Claims of identity providers, each with its own habits.

import { describe, expect, test } from "vitest";
import { toIdentity } from "../../../src/access/sign-in/identity.ts";

const claims = { iss: "https://id.example.org", sub: "1", exp: 1_000, email: "ana@example.org" };

describe("toIdentity", () => {
  test("takes who it is, until when the token holds, and nothing else", () => {
    const got = toIdentity({ ...claims, email: " Ana@Example.ORG ", name: "Ana" }, "groups");

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
    expect(toIdentity({ ...claims, roles: claim }, "roles").groups).toEqual(want);
  });

  test("refuses more groups than anybody is in", () => {
    const groups = Array.from({ length: 1_001 }, (_, index) => `group ${index}`);

    expect(() => toIdentity({ ...claims, groups }, "groups")).toThrow("more than 1000 groups");
  });

  test.each([
    { name: "no e-mail", email: undefined },
    { name: "an e-mail that is none", email: "ana" },
    { name: "an e-mail with a line break", email: "ana@example.org\nbo@example.org" },
    { name: "a list of e-mails", email: ["ana@example.org"] },
  ])("refuses $name", ({ email }) => {
    expect(() => toIdentity({ ...claims, email }, "groups")).toThrow("did not say your e-mail");
  });

  test.each([false, "false"])("refuses an e-mail whose verification is %j", (verified) => {
    expect(() => toIdentity({ ...claims, email_verified: verified }, "groups")).toThrow(
      "is not verified",
    );
  });
});
