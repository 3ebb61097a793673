// Settings of sign-in: whole or not at all.

import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";

const whole = {
  "public-url": "https://waggle.example.org",
  "oidc-issuer": "https://id.example.org/realm",
  "oidc-client-id": "waggle",
  "oidc-client-secret": "a secret",
};

describe("readConfig", () => {
  test("has no provider, and an administrator of this machine, by default", () => {
    const { oidc, publicUrl, adminEmail } = readConfig({}, {});

    expect({ oidc, publicUrl, adminEmail }).toEqual({
      oidc: undefined,
      publicUrl: undefined,
      adminEmail: "admin@localhost",
    });
  });

  test("takes a provider with what to ask it for", () => {
    const { oidc, publicUrl } = readConfig(
      { ...whole, "public-url": "https://Waggle.example.org:443/" },
      { WAGGLE_OIDC_SCOPES: "openid, email groups", WAGGLE_OIDC_GROUPS_CLAIM: "roles" },
    );

    expect(publicUrl).toBe("https://waggle.example.org");
    expect(oidc).toEqual({
      issuer: "https://id.example.org/realm",
      clientId: "waggle",
      clientSecret: "a secret",
      scopes: ["openid", "email", "groups"],
      groupsClaim: "roles",
      isEmailTrusted: false,
    });
  });

  test("takes a public URL alone", () => {
    expect(readConfig({ "public-url": "http://waggle.lan:8080" }, {}).publicUrl).toBe(
      "http://waggle.lan:8080",
    );
  });

  test("repeats no password that somebody wrote into the public URL", () => {
    const flags = { "public-url": "https://me:secret@waggle.example.org" };

    expect(() => readConfig(flags, {})).toThrow(/^WAGGLE_PUBLIC_URL [^@]*$/);
  });

  test.each(Object.keys(whole))("refuses a provider without %s, by name", (name) => {
    const flags = Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name));
    const variable = `WAGGLE_${name.toUpperCase().replaceAll("-", "_")}`;

    expect(() => readConfig(flags, {})).toThrow(`also needs ${variable} (--${name})`);
  });

  test.each([
    "http://id.example.org",
    "http://127.0.0.1.example.org",
    "http://127.example.org",
    "https://id.example.org?realm=a",
    "https://me:secret@id.example.org",
    "id.example.org",
  ])("refuses the issuer %s", (issuer) => {
    expect(() => readConfig({ ...whole, "oidc-issuer": issuer }, {})).toThrow(
      /^WAGGLE_OIDC_ISSUER \(--oidc-issuer\) must be an https URL(?!.*secret)/,
    );
  });

  test.each(["http://127.0.0.1:9000", "http://localhost/realm", "http://[::1]:9000"])(
    "takes the issuer %s of this machine",
    (issuer) => {
      expect(readConfig({ ...whole, "oidc-issuer": issuer }, {}).oidc?.issuer).toBe(issuer);
    },
  );

  test.each([
    { flags: { "public-url": "https://waggle.example.org/path" }, want: "WAGGLE_PUBLIC_URL" },
    { flags: { "public-url": "ftp://waggle.example.org" }, want: "WAGGLE_PUBLIC_URL" },
    { flags: { "public-url": "https://me@waggle.example.org" }, want: "WAGGLE_PUBLIC_URL" },
    { flags: { "oidc-scopes": "email profile" }, want: "must include openid" },
    { flags: { "admin-email": "admin" }, want: "WAGGLE_ADMIN_EMAIL" },
  ])("refuses $flags", ({ flags, want }) => {
    expect(() => readConfig(flags, {})).toThrow(want);
  });
});
