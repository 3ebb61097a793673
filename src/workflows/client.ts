// Client of the configured Temporal server (a cluster or Temporal Cloud): starts workflows of the
// outbox, reads their state, and cancels or terminates them.

import { readFile } from "node:fs/promises";
import { Client, Connection, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { isGrpcServiceError, WorkflowNotFoundError } from "@temporalio/client";
import type { ConnectionOptions, WorkflowExecutionInfo } from "@temporalio/client";
import { OperatorError } from "../base/operator-error.ts";
import type { TemporalConfig } from "../config.ts";
import type { OutboxEntry } from "../outbox/entry.ts";
import type { WorkflowStarter } from "../outbox/relay.ts";
import { describeWork } from "./describe-work.ts";
import { ensureSchedules } from "./schedules.ts";
import { scopeKey, searchAttributesOf } from "./search-attributes.ts";
import { taskQueue } from "./task-queues.ts";

/** Address of a Temporal server and the options of its connection. */
export type TemporalTarget = Omit<TemporalConfig, "address" | "cliPath" | "uiUrl"> & {
  readonly address: string;
};

/** State of a workflow; `absent` if Temporal does not know it or has deleted it. */
export type WorkflowState = "running" | "completed" | "failed" | "absent";

export type WorkflowClient = WorkflowStarter & {
  /** Lazy connection, which reconnects after failures. */
  readonly connection: Connection;
  /** Describes the namespace; returns the reason if it is unavailable, else undefined. */
  findFault(): Promise<string | undefined>;
  getState(workflowId: string): Promise<WorkflowState>;
  /**
   * Returns ids of up to `limit` running workflows on a scope, except of the given types. Temporal
   * lists a new workflow a few moments after its start.
   */
  listRunning(
    scopeId: string,
    options: { readonly exceptTypes: readonly string[]; readonly limit: number },
  ): Promise<readonly string[]>;
  /** Requests cancellation of a workflow; has no effect if it has ended. */
  cancel(workflowId: string): Promise<void>;
  /** Terminates a workflow that did not react to `cancel`. */
  terminate(workflowId: string, reason: string): Promise<void>;
  /** Creates the schedules of our workflows, or brings them up to date. */
  ensureSchedules(): Promise<void>;
  close(): Promise<void>;
};

const callTimeoutMs = 10_000;

/** TLS settings in the form of the Temporal client and worker. */
export type TemporalTls = NonNullable<ConnectionOptions["tls"]>;

/** Reads the configured certificates. Fails with OperatorError naming the variable. */
export async function readTls(target: TemporalTarget): Promise<TemporalTls> {
  const { tls, apiKey, clientCertPath, clientKeyPath, serverCaCertPath } = target;
  const paths = [clientCertPath, clientKeyPath, serverCaCertPath];
  const isOn = tls ?? [apiKey, ...paths].some((one) => one !== undefined);
  if (!isOn) return false;
  if ((clientCertPath === undefined) !== (clientKeyPath === undefined)) {
    throw new OperatorError(
      "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH go together: set both",
    );
  }
  const serverRootCACertificate = await readPem(
    "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
    serverCaCertPath,
  );
  const crt = await readPem("TEMPORAL_TLS_CLIENT_CERT_PATH", clientCertPath);
  const key = await readPem("TEMPORAL_TLS_CLIENT_KEY_PATH", clientKeyPath);
  return {
    ...(serverRootCACertificate && { serverRootCACertificate }),
    ...(crt && key && { clientCertPair: { crt, key } }),
  };
}

async function readPem(variable: string, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new OperatorError(`${variable} names ${path}, which cannot be read (${code ?? "?"})`, {
      cause,
    });
  }
}

export async function createWorkflowClient(target: TemporalTarget): Promise<WorkflowClient> {
  const { address, namespace, apiKey } = target;
  const connection = Connection.lazy({
    address,
    tls: await readTls(target),
    ...(apiKey !== undefined && { apiKey }),
    // Short, so that a restarted server is found soon.
    channelArgs: { "grpc.max_reconnect_backoff_ms": 5_000 },
    // The default interceptor retries calls, which would hide that Temporal is unavailable.
    interceptors: [],
  });
  const client = new Client({ connection, namespace });
  const { workflow } = client;
  const within = <T>(call: () => Promise<T>) =>
    connection.withDeadline(Date.now() + callTimeoutMs, call);

  return {
    connection,

    async start(entry) {
      try {
        await within(() => startWithAttributes(entry));
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },

    async findFault() {
      try {
        await within(() => connection.workflowService.describeNamespace({ namespace }));
        return undefined;
      } catch (error) {
        return isGrpcServiceError(error) ? error.details : (error as Error).message;
      }
    },

    async getState(workflowId) {
      try {
        return toState(await within(() => workflow.getHandle(workflowId).describe()));
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return "absent";
        throw error;
      }
    },

    listRunning: (scopeId, { exceptTypes, limit }) =>
      within(async () => {
        const query = [
          `${scopeKey.name} = ${quote(scopeId)}`,
          "ExecutionStatus = 'Running'",
          ...exceptTypes.map((type) => `WorkflowType != ${quote(type)}`),
        ].join(" AND ");
        const ids: string[] = [];
        for await (const { workflowId } of workflow.list({ query, pageSize: limit })) {
          ids.push(workflowId);
          if (ids.length === limit) break;
        }
        return ids;
      }),

    cancel: (workflowId) => unlessEnded(within(() => workflow.getHandle(workflowId).cancel())),

    terminate: (workflowId, reason) =>
      unlessEnded(within(() => workflow.getHandle(workflowId).terminate(reason))),

    ensureSchedules: () => within(() => ensureSchedules(client)),

    close: () => connection.close(),
  };

  async function startWithAttributes(entry: OutboxEntry): Promise<void> {
    const options = {
      taskQueue,
      workflowId: entry.workflowId,
      args: [entry.input],
      // Also after its end: a relay that died before it marked the start starts the entry again.
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      ...describeWork(entry.workflowType, entry.input),
    } as const;
    const typedSearchAttributes = searchAttributesOf(entry);
    try {
      await workflow.start(entry.workflowType, { ...options, typedSearchAttributes });
    } catch (error) {
      // The work matters more than the search attributes; worker.ts logged how to add them.
      if (!isAboutSearchAttributes(error)) throw error;
      await workflow.start(entry.workflowType, options);
    }
  }
}

/** Returns whether Temporal refused a call because the namespace lacks search attributes. */
export function isAboutSearchAttributes(error: unknown): boolean {
  const { cause } = error as Error;
  const fault = isGrpcServiceError(error) ? error : cause;
  return (
    isGrpcServiceError(fault) &&
    /search attribute|Waggle(Scope|Org|Actor|Evaluator)/i.test(fault.details)
  );
}

async function unlessEnded(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

function toState({ status }: Pick<WorkflowExecutionInfo, "status">): WorkflowState {
  if (status.name === "COMPLETED") return "completed";
  return status.name === "RUNNING" || status.name === "CONTINUED_AS_NEW" ? "running" : "failed";
}

/** Quotes an id or a workflow type. Both are ours and contain no quotes; anything else is a bug. */
function quote(value: string): string {
  if (!/^[\w-]+$/.test(value)) throw new Error("not an id or a workflow type");
  return `'${value}'`;
}
