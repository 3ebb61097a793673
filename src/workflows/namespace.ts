// Whether a Temporal server answers for a namespace, and adding the search attributes that our
// workflows carry. Called by worker.ts, embedded/temporal.ts and tests.

import { Connection } from "@temporalio/client";
import { searchAttributeNames } from "./search-attributes.ts";

/** INDEXED_VALUE_TYPE_KEYWORD of the API. */
const keywordType = 2;
const callTimeoutMs = 5_000;

/** Opens a connection that tries again at once while the server is starting. */
export function openConnection(address: string): Connection {
  return Connection.lazy({
    address,
    channelArgs: {
      "grpc.initial_reconnect_backoff_ms": 50,
      "grpc.max_reconnect_backoff_ms": 250,
    },
    // The default retries calls by itself, which hides that the server is not there.
    interceptors: [],
  });
}

/** Tells whether the server answers for a namespace. */
export async function isAnswering(connection: Connection, namespace: string): Promise<boolean> {
  try {
    await connection.withDeadline(Date.now() + callTimeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    // Not listening yet, or the namespace is not there yet: both come with time.
    return false;
  }
}

/** Registers the search attributes that a namespace lacks; the rest stay. */
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
