// Projects of tests, read by vitest:
// - `unit`: pure functions, no database.
// - `service`: the service and its stores in the test's process. Files share a process and what it
//   imported, which takes longer than most of their tests.
// - `process`: tests that start processes or replace modules; each file has its own process.
// - `browser`: the web app in a real browser.
// - `alone`: tests that bound time or memory, or wait for work that yields to everything else. They
//   run after all others, one file at a time.
// `service`, `process` and `browser` share four workers, more than the machine has cores, because
// many files wait.
// All use one Postgres, which test/support/global-setup.ts starts.

import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

// Read by Node: compiled code of packages, for the workers; src/main.ts keeps its own there.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled");

const units = ["test/tidy.test.ts", "test/unit/**/*.test.ts"];
const alone = [
  "test/process/limits-*.test.ts",
  "test/sandbox/{escape-limits,processes}.test.ts",
  "test/api/{connections,limits}.test.ts",
];
const processes = [
  "test/{clients,process,sandbox,workflows}/**/*.test.ts",
  "test/api/unread-generations.test.ts",
];
const browsers = ["test/browser/**/*.test.ts"];

export default defineConfig({
  test: {
    // These limits end what hangs. They say nothing of speed: a busy machine may need a minute.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    globalSetup: ["test/support/global-setup.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: units,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "service",
          include: ["test/**/*.test.ts"],
          // `npm run proof` runs test/proof by a configuration of its own.
          exclude: [...units, ...processes, ...alone, ...browsers, "test/proof/**"],
          isolate: false,
          maxWorkers: 4,
          maxConcurrency: 16,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "process",
          include: processes,
          exclude: alone,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: browsers,
          isolate: false,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: alone,
          maxWorkers: 1,
          maxConcurrency: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
