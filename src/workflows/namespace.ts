// Checks whether a Temporal server serves a namespace, and adds the search attributes of our
// workflows.

import { Connection } from "@temporalio/client";
import { searchAttributeNames } from "./search-attributes.ts";

/** INDEXED_VALUE_TYPE_KEYWORD of the API. */
const keywordType = 2;
const callTimeoutMs = 5_000;

/** Opens a connection that reconnects quickly while the server starts. */
export function openConnection(address: string): Connection {
  return Connection.lazy({
    address,
    channelArgs: {
      "grpc.initial_reconnect_backoff_ms": 50,
      "grpc.max_reconnect_backoff_ms": 250,
    },
    // The default interceptor retries calls, which would hide that the server is unavailable.
    interceptors: [],
  });
}

/** Returns whether the server serves a namespace. */
export async function isAnswering(connection: Connection, namespace: string): Promise<boolean> {
  try {
    await connection.withDeadline(Date.now() + callTimeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    // The server does not listen yet, or the namespace does not exist yet: the caller asks again.
    return false;
  }
}

/** Adds the search attributes that a namespace lacks. */
export async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
): Promise<void> {
  const deadline = Date.now() + callTimeoutMs;
  const { operatorService } = connection;
  await connection.withDeadline(deadline, async () => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    const missing = searchAttributeNames.filter((name) => !(name in customAttributes));
    if (missing.length === 0) return;
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, keywordType])),
    });
  });
}
