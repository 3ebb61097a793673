// A sandbox as the service has it, for tests. All tests share the service's snapshot, which takes
// seconds to make; its name is a hash of its inputs, so a changed guest has another snapshot.

import type { Owner } from "../../src/base/fair-places.ts";
import { sandboxCacheFolder } from "../../src/commands/sandbox.ts";
import { createPythonSandbox } from "../../src/evaluation/runner/python/sandbox.ts";
import type { PythonSandbox, SandboxLimits } from "../../src/evaluation/runner/python/sandbox.ts";

export const defaultLimits: SandboxLimits = {
  wallMs: 10_000,
  memoryBytes: 512 * 1_048_576,
  outputBytes: 1_000_000,
  codeBytes: 100_000,
};

/** Where the setup of the run made the snapshot. */
export const sharedCacheFolder = sandboxCacheFolder();

/** Milliseconds that a test gives `startSandbox`, on a machine that has much else to do. */
export const startMs = 120_000;

/** Returns an owner of works that is an organization of its own. */
export function anOwner(name: string): Owner {
  return { orgId: `organization ${name}`, projectId: `project ${name}` };
}

/** Returns once the sandbox has its snapshot. */
export async function startSandbox(limits: Partial<SandboxLimits> = {}): Promise<PythonSandbox> {
  const sandbox = createPythonSandbox({
    limits: { ...defaultLimits, ...limits },
    // Two of them for one project: one that a test file keeps open, and the test's own.
    processesMax: 4,
    idleMin: 1,
    cacheFolder: sharedCacheFolder,
    logger: { info() {}, warn() {} },
  });
  await sandbox.inspect("result = 1");
  return sandbox;
}
