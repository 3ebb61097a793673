// Whether a Temporal server answers, and the search attributes our workflows carry. Called by
// embedded/temporal.ts and the tests; works on any Temporal where the caller may administer it.

import { Connection } from "@temporalio/client";

/** What operators look for workflows by; each holds one word, such as an organization's id. */
export const searchAttributeNames = ["WaggleOrganization", "WaggleScope", "WaggleActor"] as const;

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
