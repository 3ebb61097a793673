// Two projects: `unit` (pure functions, no database) and `service` (everything else, against one
// real Postgres that test/support/global-setup.ts starts for the run). Read by vitest.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/tidy.test.ts", "test/unit/**/*.test.ts"] },
      },
      {
        extends: true,
        test: {
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: ["test/tidy.test.ts", "test/unit/**"],
          globalSetup: ["test/support/global-setup.ts"],
        },
      },
    ],
  },
});
