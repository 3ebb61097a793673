// The setting of the encryption keys.

import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { anEncryptionKey } from "../../support/credentials.ts";

const key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

function read(value: string) {
  return readConfig({}, { WAGGLE_ENCRYPTION_KEYS: value }).encryptionKeys;
}

describe("encryption-keys", () => {
  test("are none by default, and else in the order of the text", () => {
    const [a, b] = [anEncryptionKey("a"), anEncryptionKey("2024-06_b")];

    const got = read(` ${a.text} ,${b.text},`);

    expect(read("")).toEqual([]);
    expect(got.map(({ id }) => id)).toEqual(["a", "2024-06_b"]);
    expect(got.map((one) => Buffer.from(one.key).equals(one.id === "a" ? a.key : b.key))).toEqual([
      true,
      true,
    ]);
  });

  test.each([
    { name: "a key without an id", value: key, want: "must be id:key" },
    { name: "an id without a key", value: "main:", want: "must be id:key" },
    { name: "an empty id", value: `:${key}`, want: "must be id:key" },
    { name: "an id of other characters", value: `a.b:${key}`, want: "must be id:key" },
    { name: "a long id", value: `${"a".repeat(65)}:${key}`, want: "must be id:key" },
    { name: "a short key", value: "main:MDEyMzQ1Njc4OTAxMjM0NQ==", want: "must be id:key" },
    { name: "no base64", value: `main:${key.replace("M", "*")}`, want: "must be id:key" },
    { name: "a part too many", value: `main:${key}:x`, want: "must be id:key" },
    { name: "the second of two", value: `main:${key},${key}`, want: "number 2 is none" },
    { name: "one id twice", value: `main:${key},main:${key}`, want: "not name one id twice" },
    {
      name: "too many",
      value: Array.from({ length: 17 }, (_, index) => `k${index}:${key}`).join(","),
      want: "must be at most 16 keys",
    },
  ])("that are $name are refused, without the key", ({ value, want }) => {
    expect(() => read(value)).toThrow("WAGGLE_ENCRYPTION_KEYS (--encryption-keys) must ");
    expect(() => read(value)).toThrow(want);
    expect(() => read(value)).not.toThrow("MDEyMz");
  });
});
