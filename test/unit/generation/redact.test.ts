// Secrets of a connection in what its provider says.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor } from "../../../src/generation/providers/redact.ts";
import { connectionOf } from "./connections.ts";

const secret = 'sk-proj-a+b/c=d"9876543210';
const redact = redactor(connectionOf({ secrets: { api_key: secret } }));
const message = (text: string) => redact.message(text);
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("redactor", () => {
  test.each([
    { name: "as it is", text: `Bearer ${secret} is bad`, want: "Bearer [redacted] is bad" },
    { name: "twice", text: `${secret}${secret}`, want: "[redacted][redacted]" },
    { name: "in a URL", text: `?key=${encodeURIComponent(secret)}&x`, want: "?key=[redacted]&x" },
    { name: "in JSON", text: JSON.stringify({ k: secret }), want: '{"k":"[redacted]"}' },
    { name: "in base64", text: Buffer.from(secret).toString("base64"), want: "[redacted]" },
    {
      name: "in base64 behind other bytes",
      text: base64(`bees:${secret}`),
      want: /^Ym.{0,6}\[redacted\].{0,3}$/,
    },
    {
      name: "in a URL in small letters",
      text: "sk-proj-a%2bb%2fc%3dd%229876543210",
      want: "[redacted]",
    },
    {
      name: "in JSON of PHP",
      text: JSON.stringify(secret).replace("/", "\\/"),
      want: '"[redacted]"',
    },
    { name: "in hexadecimal", text: Buffer.from(secret).toString("hex"), want: "[redacted]" },
    { name: "cut short", text: `key ${secret.slice(0, 20)}`, want: "key [redacted]" },
    { name: "with stars", text: "key sk-proj-****3210.", want: "key [redacted]." },
    { name: "with dots", text: "key sk-p...3210 is", want: "key [redacted] is" },
  ])("takes a secret out $name", ({ text, want }) => {
    const got = message(text).replace(/=+$/, "");

    if (typeof want === "string") expect(got).toBe(want);
    else expect(got).toMatch(want);
  });

  test("takes out every secret, the longer of two that begin alike too", () => {
    const secrets = { access_key_id: "AKIA1234", secret_access_key: "AKIA1234andmore" };

    const got = redactor(connectionOf({ secrets })).message("AKIA1234andmore, AKIA1234");

    expect(got).toBe("[redacted], [redacted]");
  });

  test("leaves no secret in any text", () => {
    const printable = fc.string({ minLength: 4, maxLength: 60, unit: "grapheme-ascii" });
    fc.assert(
      fc.property(printable, fc.string(), fc.string(), (key, before, after) => {
        // The stub itself may hold such a key, or begin or end one.
        fc.pre(!/[[\]]|^[redact]+$/.test(key));
        const its = redactor(connectionOf({ secrets: { api_key: key } }));

        expect(its.message(before + key + after)).not.toContain(key);
      }),
    );
  });

  test("cuts a message to 2,000 characters, not inside of one", () => {
    const got = message(`${"a".repeat(1_998)}😀${"b".repeat(10)}`);

    expect(got).toBe(`${"a".repeat(1_998)}…`);
    expect(message("a".repeat(2_000))).toBe("a".repeat(2_000));
  });

  test("cuts after secrets are out, so that no half of one stays", () => {
    const got = message("a".repeat(1_990) + secret);

    expect(got).not.toContain("sk-");
  });

  // Each took the square of its length, in which nothing else ran: minutes here.
  test.each([
    { name: "the beginning of a secret", key: "abcd-efgh", unit: "abcd" },
    { name: "nearly all of a long secret", key: "a".repeat(8_192), unit: `${"a".repeat(8_000)}b` },
  ])("is not held up by a text that repeats $name", ({ key, unit }) => {
    const its = redactor(connectionOf({ secrets: { api_key: key } }));
    const text = unit.repeat(4_000_000 / unit.length);

    expect(its.message(`${key}. ${text}`)).toMatch(/^\[redacted\]\. /);
    expect(its.body(Buffer.from(text.slice(0, 1_000_000))).length).toBeLessThanOrEqual(1_000_000);
  });

  test("leaves no half of a secret where a long text is cut", () => {
    const words = `${secret} `.repeat(10_000);

    expect(message(words)).not.toContain("sk-");
  });

  test("leaves a body as it is but for secrets", () => {
    const text = JSON.stringify({ error: { message: `${secret} ${"é".repeat(3_000)}` } });

    const got = Buffer.from(redact.body(Buffer.from(text))).toString();

    expect(JSON.parse(got)).toEqual({
      error: { message: `[redacted] ${"é".repeat(3_000)}` },
    });
  });

  test("leaves texts alone where there is no secret", () => {
    const bytes = Uint8Array.of(0xff, 0x00);
    const its = redactor(connectionOf());

    expect(its.message("sk-a")).toBe("sk-a");
    expect(its.body(bytes)).toBe(bytes);
  });
});
