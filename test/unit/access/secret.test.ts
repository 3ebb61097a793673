// The text of API keys: shapes that published clients check, masks and headers.

import { describe, expect, test } from "vitest";
import {
  createSecret,
  hashSecret,
  maskSecret,
  parseBearer,
} from "../../../src/access/keys/secret.ts";

describe("createSecret", () => {
  test.each([
    { kind: "project", want: /^hh_[A-Za-z0-9]{40}$/ },
    { kind: "project_read_only", want: /^hh_[A-Za-z0-9]{40}$/ },
    { kind: "ingestion", want: /^hh_ingst_[A-Za-z0-9]{24}_[A-Za-z0-9_-]{64}$/ },
  ] as const)("gives $kind keys the shape that clients check", ({ kind, want }) => {
    expect(createSecret(kind)).toMatch(want);
  });

  test("gives another key each time", () => {
    const secrets = new Set(Array.from({ length: 100 }, () => createSecret("project")));

    expect(secrets.size).toBe(100);
  });
});

describe("maskSecret", () => {
  test.each([
    { kind: "project", secret: "hh_abcdefghij", want: "hh_abcd…" },
    { kind: "ingestion", secret: "hh_ingst_abcdefghij", want: "hh_ingst_abcd…" },
  ] as const)("shows four characters of a $kind key", ({ kind, secret, want }) => {
    expect(maskSecret(secret, kind)).toBe(want);
  });
});

describe("hashSecret", () => {
  test("is SHA-256", () => {
    expect(hashSecret("abc").toString("hex")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });
});

describe("parseBearer", () => {
  test.each([
    { name: "takes the key", header: "Bearer hh_x", want: "hh_x" },
    { name: "ignores the scheme's case", header: "bEARER hh_x", want: "hh_x" },
    { name: "allows spaces around", header: "Bearer   hh_x ", want: "hh_x" },
    { name: "refuses another scheme", header: "Basic hh_x", want: "" },
    { name: "refuses a bare key", header: "hh_x", want: "" },
    { name: "refuses two words", header: "Bearer hh_x hh_y", want: "" },
    { name: "refuses a scheme alone", header: "Bearer", want: "" },
    { name: "answers nothing for no header", header: undefined, want: "" },
  ])("$name", ({ header, want }) => {
    expect(parseBearer(header)).toBe(want);
  });
});
