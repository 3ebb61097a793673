// Builds the code of the workflows: `npm run build`, and the child process of `bundle.ts`. Writes
// into a file beside the real one and moves it at the end, so that no reader meets half of a build.

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { bundlePath } from "./bundle.ts";

// The service that waits for this build has ended.
process.on("disconnect", () => process.exit(1));

const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL("workflows.ts", import.meta.url)),
  logger: new DefaultLogger("ERROR"),
});
const work = `${bundlePath}-${process.pid}`;
mkdirSync(dirname(bundlePath), { recursive: true });
writeFileSync(work, code);
renameSync(work, bundlePath);
process.exit(0);
