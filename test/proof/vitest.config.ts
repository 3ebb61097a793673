// Tests of `npm run proof` that the suite leaves out, since they take minutes for each kind of key.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/proof/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
  },
});
