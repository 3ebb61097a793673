// The driver remembers where each statement ran first, which does not keep the first request alive,
// and statements that are over have forgotten their values.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { givenTestDatabase } from "../support/database.ts";

const testDatabase = givenTestDatabase();

const script = new URL("../support/statement-memory.ts", import.meta.url).pathname;

test.each(["transaction", "pool"])(
  "a statement of a %s lets its first request go",
  async (place) => {
    const words = ["--expose-gc", script, testDatabase.url, place];

    const { stdout } = await promisify(execFile)(process.execPath, words);

    expect(stdout.trim()).toBe("forgotten");
  },
);

test.each([
  { name: "succeeded", text: "1", isFailed: false },
  { name: "failed", text: "one", isFailed: true },
])("a statement that $name has forgotten its values", async ({ text, isFailed }) => {
  const statement = testDatabase.database.sql()`select ${text}::text::integer as number`;

  const outcome = await statement.then(
    ([row]) => row?.["number"] as number,
    (error: unknown) => (error as { readonly code: string }).code,
  );

  expect(outcome).toBe(isFailed ? "22P02" : 1);
  expect(Reflect.get(statement, "args")).toEqual([]);
  expect(Reflect.get(statement, "parameters")).toBeNull();
});
