// Masking rules: what detectors, patterns and keys find in texts and values, and which rules are
// refused.

import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { ingestionTimeoutMs } from "../../../src/base/limits.ts";
import { createMask } from "../../../src/tracing/masking/mask.ts";
import {
  compileRules,
  type MaskingRule,
  parseRules,
  type RuleInput,
} from "../../../src/tracing/masking/rules.ts";

function maskOf(rules: readonly RuleInput[]) {
  return createMask(compileRules(parseRules(rules)), "test");
}

const textBy = (rules: readonly RuleInput[], text: string): Promise<string> =>
  maskOf(rules).text(text);

const valueBy = <T extends JsonValue>(rules: readonly RuleInput[], value: T): Promise<T> =>
  maskOf(rules).value(value);

describe("a detector", () => {
  test.each<[MaskingRule["detector"], string, string]>([
    ["email", "write to Jane.Doe+tag@mail.example.co.uk, please", "write to [email], please"],
    ["email", "müller@bücher.example", "[email]"],
    ["email", "?email=jane@x.example&cc=jane%40x.example", "?email=[email]&cc=[email]"],
    ["email", "f('o'brien@x.example')", "f('[email]')"],
    ["email", "आशा@डाक.भारत", "[email]"],
    ["email", String.raw`line\njane@x.example\n`, String.raw`line\n[email]\n`],
    ["phone_number", "call +49 (30) 901820-15 now", "call [phone_number] now"],
    ["phone_number", "+14155550132", "[phone_number]"],
    ["credit_card", "pay 4111 1111 1111 1111 today", "pay [credit_card] today"],
    ["credit_card", "order 12 4111-1111-1111-1111", "order 12 [credit_card]"],
    ["credit_card", "378282246310005, 5555555555554444", "[credit_card], [credit_card]"],
    ["credit_card", String.raw`"card:\n4111111111111111"`, String.raw`"card:\n[credit_card]"`],
    ["credit_card", "2223003122003222, 6011000990139424", "[credit_card], [credit_card]"],
    ["iban", "to DE89 3704 0044 0532 0130 00 SOON", "to [iban] SOON"],
    ["iban", "GB29NWBK60161331926819", "[iban]"],
    ["us_ssn", "ssn 536-90-4399.", "ssn [us_ssn]."],
    ["us_ssn", String.raw`\t536-90-4399`, String.raw`\t[us_ssn]`],
    ["ip_address", "from 203.0.113.7:443", "from [ip_address]:443"],
    ["ip_address", "from 2001:db8::1 and ::1", "from [ip_address] and [ip_address]"],
    ["ip_address", "ipv4:203.0.113.7:443: refused", "ipv4:[ip_address]:443: refused"],
    ["ip_address", "peer:2001:db8::1", "peer:[ip_address]"],
    ["ip_address", String.raw`a\n203.0.113.7\n::1`, String.raw`a\n[ip_address]\n[ip_address]`],
    ["secret", "Bearer sk-proj-abcdefghijklmnop1234", "Bearer [secret]"],
    ["secret", `key hh_fgdp_${"a".repeat(24)}_${"b".repeat(64)}!`, "key [secret]!"],
    ["secret", "AKIAIOSFODNN7EXAMPLE", "[secret]"],
    ["secret", String.raw`key:\nAKIAIOSFODNN7EXAMPLE`, String.raw`key:\n[secret]`],
    ["secret", `tvly-dev-${"a1".repeat(9)}`, "[secret]"],
    ["secret", "t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "t=[secret]"],
    [
      "secret",
      "a -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY----- b",
      "a [secret] b",
    ],
    [
      "url_password",
      "postgres://app:s3cr3t@db.example:5432/x?sslmode=require",
      "postgres://app:[url_password]@db.example:5432/x?sslmode=require",
    ],
    ["url_password", "redis://:p:a!$%40,'w@h", "redis://:[url_password]@h"],
    [
      "url_password",
      "mongodb+srv://u:p@ss@h1:27017,h2:27017/?w=1 x@y.example",
      "mongodb+srv://u:[url_password]@h1:27017,h2:27017/?w=1 x@y.example",
    ],
    [
      "url_password",
      '["https://user:pw@h/a","smtp://me@x.example:pw@h"]',
      '["https://user:[url_password]@h/a","smtp://me@x.example:[url_password]@h"]',
    ],
    [
      "url_password",
      String.raw`"\namqp:\/\/u:p@h\/"`,
      String.raw`"\namqp:\/\/u:[url_password]@h\/"`,
    ],
    ["url_password", "amqp://u:pässwörd😀@h", "amqp://u:[url_password]@h"],
    [
      "url_password",
      "jdbc:mysql://h/d?user=a&PassWord=p@ss&b=1 sqlserver://h;pwd=x;e=1",
      "jdbc:mysql://h/d?user=a&PassWord=[url_password]&b=1 sqlserver://h;pwd=[url_password];e=1",
    ],
  ])("%s finds its kind in %j", async (detector, text, masked) => {
    expect(await textBy([{ detector }], text)).toBe(masked);
  });

  test.each<[MaskingRule["detector"], string]>([
    ["email", "user@localhost, a @ b.example, @handle"],
    ["email", "react@18.2.0, github.com/a/b@v1.2.3, https://medium.example/@user.name/post"],
    ["phone_number", "2026-11-30 10:00:00 +02:00, 0049 30 901820, 1+1=2"],
    ["credit_card", "4111 1111 1111 1112, 1700000000000, 0000 0000 0000 0000"],
    ["credit_card", "1700000000004, 20261130174425, 1700000000000003, 4006381333931"],
    ["credit_card", "01926e5a-7b1c-7d3e-8f00-4111a1111b11"],
    ["iban", "DE89 3704 0044 0532 0130 01, AB12CDEFGHIJKLMNOP"],
    ["us_ssn", "000-12-3456, 666-12-3456, 123-00-4567, 123-45-0000, 1123-45-6789"],
    ["ip_address", "1.2.3, 999.1.1.1, 10:30:00, a::b::c, std::vector, std::dead::beef"],
    ["secret", "sk-short, task-management-of-the-year, eyJ.eyJ.x"],
    ["secret", "pk_order_items_by_customer, npm_config_user_agent, sk-fading-circle-dots"],
    ["url_password", "http://h:8080/a@b, https://u@h/p:q@r, ssh://git@h.example:org/x@y"],
    ["url_password", "http://[2001:db8::1]:80/?a=b@c.example, http://h:80?a=b@c, x://h:1#a@b"],
    ["url_password", "a: b@c.example, password=x, //a:b@c, ?password=&passwords=1, x://:@h"],
  ])("%s leaves %j", async (detector, text) => {
    expect(await textBy([{ detector }], text)).toBe(text);
  });
});

test("a password of a URL is found before a piece of it that another detector finds", async () => {
  const rules = [{ detector: "email" as const }, { detector: "url_password" as const }];

  expect(await textBy(rules, "smtp://u:a!b@h.example c@d.example")).toBe(
    "smtp://u:[url_password]@h.example [email]",
  );
});

test.each(["a://", "a://b:c", "a://:", "a://b:c@", "&password=", "&pwd=a", "a:\\/\\/"])(
  "the detector of passwords in URLs takes linear time for %j again and again",
  async (piece) => {
    const text = piece.repeat(Math.ceil(100_000 / piece.length));
    const masked = await textBy([{ detector: "url_password" }], text);

    // Each password is replaced at most once, so the text grows by the names alone.
    const count = masked.split("[url_password]").length - 1;
    expect(masked.replaceAll("[url_password]", "").length).toBeLessThanOrEqual(text.length);
    expect(count).toBeLessThanOrEqual(text.length / 5);
  },
);

describe("a pattern", () => {
  test("replaces every match by the given text, literally", async () => {
    const rule = { pattern: "EMP-[0-9]{6}", replacement: "$1 & \\0" };

    expect(await textBy([rule], "EMP-000001,EMP-000002 EMP-12")).toBe("$1 & \\0,$1 & \\0 EMP-12");
  });

  test("works on what the rules before it left", async () => {
    const rules = [{ detector: "email" }, { pattern: String.raw`\[email\] x`, replacement: "y" }];

    expect(await textBy(rules, "a@b.example x")).toBe("y");
  });

  test("finds matches at every place of a text of several pieces", async () => {
    const rule = { pattern: String.raw`\bEMP-[0-9]{6}\b`, replacement: "#" };
    for (const length of [65_530, 65_531, 65_535, 65_536, 65_537, 131_070]) {
      const filler = " ".repeat(length);
      const text = `${filler}EMP-000001 xEMP-000002 EMP-000003${filler}EMP-000004`;

      expect((await textBy([rule], text)).trim()).toBe(`# xEMP-000002 #${filler}#`);
    }
  });

  test("sees no beginning of a word where a piece begins", async () => {
    const rule = { pattern: String.raw`\bEMP`, replacement: "#" };
    const text = `${"x".repeat(65_536)}EMP EMP`;

    expect(await textBy([rule], text)).toBe(`${"x".repeat(65_536)}EMP #`);
  });

  test("sees the characters of a text that is JSON, and leaves it JSON", async () => {
    const rule = { pattern: String.raw`\bEMP-[0-9]+ü`, replacement: '"#"' };
    const text = String.raw`{"b":1.0,"a":"is\nEMP-1\u00fc","c":"\u00e9"}`;

    expect(await textBy([rule], text)).toBe(String.raw`{"b":1.0,"a":"is\n\"#\"","c":"\u00e9"}`);
  });

  test("that could run for ever elsewhere ends in linear time", async () => {
    const text = `${"a".repeat(200_000)}b`;

    expect((await textBy([{ pattern: "(a+)+$" }], text)) === text).toBe(true);
  });
});

describe("a key", () => {
  test("has its value replaced at any depth, whatever it is and in any case", async () => {
    const value = {
      user: { Password: "hunter2", name: "Ada" },
      list: [{ PASSWORD: { hash: 1 } }, { password: 12 }, "password"],
    };

    expect(await valueBy([{ key: "password" }], value)).toEqual({
      user: { Password: "[masked]", name: "Ada" },
      list: [{ PASSWORD: "[masked]" }, { password: "[masked]" }, "password"],
    });
  });

  test("is found in a text that is JSON, whose numbers keep their digits", async () => {
    const text = '{"password":"x","id":12345678901234567890,"f":1.0,"a":[{"Password":null}]}';

    expect(await textBy([{ key: "password" }], text)).toBe(
      '{"password":"[masked]","id":12345678901234567890,"f":1.0,"a":[{"Password":"[masked]"}]}',
    );
  });

  test("is found in JSON inside of JSON, and in JSON that breaks off", async () => {
    const inner = JSON.stringify({ n: 1.0, password: ["x", { a: "]" }] });
    const text = `[\n ${JSON.stringify(inner)}, {"password": "hunt`;

    expect(await textBy([{ key: "password" }], text)).toBe(
      `[\n ${JSON.stringify('{"n":1,"password":"[masked]"}')}, {"password": "[masked]"`,
    );
  });

  test.each(['{"password": ', "{password}", "[".repeat(500_000), '{"other": 1 }'])(
    "leaves the text %.20s as it is",
    async (text) => {
      expect(await textBy([{ key: "password" }], text)).toBe(text);
    },
  );

  test("named __proto__ is replaced, too", async () => {
    const value = JSON.parse('{"__proto__":"x","a":1}') as JsonValue;

    expect(JSON.stringify(await valueBy([{ key: "__proto__" }], value))).toBe(
      '{"__proto__":"[masked]","a":1}',
    );
  });
});

describe("long work", () => {
  const counting = async (work: Promise<unknown>) => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await work.finally(() => (isDone = true)).catch(() => undefined);
    return turns;
  };

  test.each<[string, readonly RuleInput[], string]>([
    ["many matches that read far", [{ pattern: "a(.*b)?" }], "a".repeat(4_000)],
    ["JSON in a text", [{ key: "b" }], JSON.stringify(Array.from({ length: 300_000 }, () => "a"))],
    ["private keys", [{ detector: "secret" }], "-----BEGIN PRIVATE KEY-----\n".repeat(1_000)],
  ])("gives others turns: %s", async (_, rules, text) => {
    expect(await counting(textBy(rules, text))).toBeGreaterThan(3);
  });

  test("ends at the deadline", async () => {
    const mask = maskOf([{ pattern: "a(.*b)?" }]);
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + ingestionTimeoutMs + 1);
    onTestFinished(() => now.mockRestore());

    await expect(mask.text("a".repeat(4_000))).rejects.toMatchObject({
      reason: "DEADLINE_EXCEEDED",
    });
  });

  test.each<[string, RuleInput, JsonValue]>([
    ["a text", { pattern: "a", replacement: "b".repeat(100) }, "a".repeat(50_000)],
    ["keys", { key: "a", replacement: "b".repeat(100) }, Array(50_000).fill({ a: 1 }) as JsonValue],
  ])("of replacements in %s is refused past a growth", async (_, rule, value) => {
    await expect(valueBy([rule], value)).rejects.toThrow("4000000 characters longer");
  });
});

test("a value with nothing to mask is returned itself, and what is masked is counted", async () => {
  const value = { a: ["no", { b: 1, c: null, d: true }] };
  expect(await valueBy([{ detector: "email" }, { key: "x" }], value)).toBe(value);

  const mask = maskOf([{ detector: "email" }, { key: "x" }]);
  await mask.value({ a: "a@b.example, c@d.example", x: 1 });
  expect(mask.replaced()).toBe(3);
});

describe("rules are refused", () => {
  test.each<[string, readonly RuleInput[]]>([
    ["rules[0]: needs exactly one of detector, pattern and key", [{}]],
    [
      "rules[1]: needs exactly one of detector, pattern and key",
      [{ key: "a" }, { key: "a", pattern: "b" }],
    ],
    ["rules[0].detector: must be one of email, phone_number", [{ detector: "name" }]],
    ["rules[0].key: is empty", [{ key: "" }]],
    ["rules[0].key: must be at most 256 characters", [{ key: "k".repeat(257) }]],
    ["rules[0].pattern: must be a regular expression of RE2", [{ pattern: "(a" }]],
    ["rules[0].pattern: must be a regular expression of RE2", [{ pattern: String.raw`(a)\1` }]],
    ["rules[0].pattern: must be at most 500 characters", [{ pattern: "a".repeat(501) }]],
    ["rules[0].pattern: repeats too much", [{ pattern: "a{400}" }]],
    ["rules[0].pattern: matches the empty text", [{ pattern: "a*" }]],
    ["rules[0].pattern: is empty", [{ pattern: "" }]],
    ["rules[0].pattern: is empty", [{ pattern: " " }]],
    ["rules[0].pattern: must be one line", [{ pattern: "a\nb" }]],
    ["rules[0].pattern: must hold neither NUL", [{ pattern: "a\0" }]],
    ["rules[0].key: must hold neither NUL nor half", [{ key: "a\ud800" }]],
    ["rules[0].replacement: must hold neither NUL", [{ key: "a", replacement: "\0" }]],
    ["rules[0].key: must be one line", [{ key: "a\r" }]],
    ["rules[0].replacement: must be at most 100", [{ key: "a", replacement: "r".repeat(101) }]],
    ["rules: has more than 50 rules", Array.from({ length: 51 }, () => ({ key: "a" }))],
    ["rules: has more than 20 patterns", Array.from({ length: 21 }, () => ({ pattern: "a" }))],
  ])("%s", (fault, rules) => {
    expect(() => parseRules(rules)).toThrow(fault);
  });
});
