// A separate namespace for a test file, on the Temporal server of the test run.

import { randomBytes } from "node:crypto";
import { msToTs } from "@temporalio/common/lib/time.js";
import { inject } from "vitest";
import { openConnection, registerSearchAttributes } from "../../src/workflows/namespace.ts";
import type { SharedTemporal } from "./temporal-server.ts";

export type TestTemporal = {
  readonly address: string;
  /** Namespace that is empty except for our search attributes. */
  readonly namespace: string;
  /** Deletes the namespace from the server. Stop workers first. */
  stop(): Promise<void>;
};

/**
 * Starts the server unless it runs, and creates a namespace; call `stop` in afterAll. If no server
 * is available, the answer is the reason: report it with `sayMissing` and skip.
 */
export async function startTestTemporal(): Promise<
  (TestTemporal & { readonly missing?: never }) | { readonly missing: string }
> {
  const response = await fetch(inject("temporalStarterUrl"));
  const shared = (await response.json()) as SharedTemporal;
  if (shared.missing !== undefined) return shared;
  const { address } = shared;
  const namespace = `test-${randomBytes(6).toString("hex")}`;
  const connection = openConnection(address);
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs("1 day"),
    });
    await registerSearchAttributes(connection, namespace);
  } finally {
    await connection.close();
  }
  return {
    address,
    namespace,
    async stop() {
      const last = openConnection(address);
      try {
        await last.operatorService.deleteNamespace({ namespace });
      } finally {
        await last.close();
      }
    },
  };
}
