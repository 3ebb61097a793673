// docs/limits.md against the code: every limit is on the page with its value and its setting, and
// nothing else is.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as fieldLimits from "../../src/base/field-limits.ts";
import * as requestLimits from "../../src/base/limits.ts";
import * as tenantLimits from "../../src/base/tenant-limits.ts";
import { settings } from "../../src/config.ts";

const limits = { ...requestLimits, ...tenantLimits, ...fieldLimits };

type Row = { readonly name: string; readonly value: number; readonly setting: string };

const page = readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8");

const rows: readonly Row[] = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => {
    const [, name = "", value = "", , , setting = ""] = line.split("|").map((cell) => cell.trim());
    const unquoted = (text: string) => text.replaceAll("`", "");
    const number = Number(value.replaceAll(",", ""));
    return { name: unquoted(name), value: number, setting: unquoted(setting) };
  });

/** Limits by name; those of a group as `group.name`. */
function flatten(values: object, prefix = ""): readonly (readonly [string, unknown])[] {
  return Object.entries(values).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "object" && value !== null
      ? flatten(value, `${prefix}${name}.`)
      : [[prefix + name, value] as const],
  );
}

/** Settings that are numbers and no limits: ports. */
const noLimits: ReadonlySet<string> = new Set(["port", "operator-port"]);

const fallbacks = new Map(
  settings
    .filter(({ flag, fallback }) => /^\d+$/.test(fallback) && !noLimits.has(flag))
    .map(({ flag, fallback }) => [flag, Number(fallback)]),
);

test("the page has every limit of the three lists of base, with its value", () => {
  const want = flatten(limits).map(([name, value]) => ({ name, value }));

  const got = want.map(({ name }) => ({
    name,
    value: rows.find((row) => row.name === name)?.value,
  }));
  expect(got).toEqual(want);
});

test("the page has every setting that is a number, with its default", () => {
  const want = [...fallbacks].map(([name, value]) => ({ name, value }));

  const got = want.map(({ name }) => ({
    name,
    value: rows.find((row) => row.setting === name)?.value,
  }));
  expect(got).toEqual(want);
});

test("the page has no limit that the code has not, and none twice", () => {
  const known = new Set([...flatten(limits).map(([name]) => name), ...fallbacks.keys()]);
  const names = rows.map(({ name }) => name);

  expect(names.filter((name) => !known.has(name))).toEqual([]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
