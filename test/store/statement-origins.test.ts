// The driver remembers where each statement ran first; that does not keep the first request alive.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const script = new URL("../support/statement-origins.ts", import.meta.url).pathname;

test.each(["transaction", "pool"])(
  "a statement of a %s lets its first request go",
  async (place) => {
    const words = ["--expose-gc", script, testDatabase.url, place];

    const { stdout } = await promisify(execFile)(process.execPath, words);

    expect(stdout.trim()).toBe("forgotten");
  },
);
