// A running service as the command line calls it: its address, and a file with a project's key.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { givenAMetricProject } from "./metrics.ts";
import { startService } from "./service.ts";

/** Starts a service with a project, and a folder with its key, which has room for other files. */
export async function startForCommands() {
  const service = await startService();
  const project = await givenAMetricProject(service);
  const folder = await mkdtemp(join(tmpdir(), "waggle-commands-"));
  const keyFile = join(folder, "key");
  await writeFile(keyFile, project.key);
  return {
    service,
    project,
    folder,
    keyFile,
    async stop() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
