// Error reasons, and the one table of their RPC codes and HTTP statuses. Services throw
// ServiceError; transport/interceptors/errors.ts and transport/rest/error-body.ts read the table.
// Source: docs/spec.md, "Errors"; docs/decisions.md, 8.1, 9, 10.

import { Code } from "@connectrpc/connect";

/** RPC code and HTTP status of every reason; the only place either is chosen. */
export const outcomes = {
  /**
   * A field is absent or has the wrong type or value; the message names it. If the value is the
   * name of a field that no event has, `unrecorded_field` is that name.
   */
  INVALID_ARGUMENT: { code: Code.InvalidArgument, status: 400 },
  /** The body is not JSON or Protobuf, or cannot be inflated. */
  MALFORMED_BODY: { code: Code.InvalidArgument, status: 400 },
  /**
   * A filter names an unknown field or operator, or its value does not fit. If no event has the
   * field, `unrecorded_field` is its name.
   */
  INVALID_FILTER: { code: Code.InvalidArgument, status: 400 },
  /** No event of a batch could be stored; the body lists the causes. */
  BATCH_REJECTED: { code: Code.InvalidArgument, status: 400 },
  /** A page or full tree is over its limit; the message names the calls without a limit. */
  ANSWER_TOO_LARGE: { code: Code.InvalidArgument, status: 400 },
  /** Denied and absent: one reason with one body. */
  NOT_FOUND: { code: Code.NotFound, status: 404 },
  /** The scope to archive has active children, and the flag that archives them too is not set. */
  SCOPE_NOT_EMPTY: { code: Code.FailedPrecondition, status: 409 },
  /** An active sibling already has this name. */
  NAME_TAKEN: { code: Code.AlreadyExists, status: 409 },
  /** The person already has a role in the scope. */
  MEMBER_EXISTS: { code: Code.AlreadyExists, status: 409 },
  /** The change would leave the organization without a person who may manage its members. */
  LAST_ADMIN: { code: Code.FailedPrecondition, status: 409 },
  /** The caller lacks a permission that it would grant or take away; the message names it. */
  PERMISSION_NOT_HELD: { code: Code.InvalidArgument, status: 400 },
  /**
   * The organization has no data plane yet, so `cluster_id` must name the cluster of the first one.
   */
  CLUSTER_REQUIRED: { code: Code.InvalidArgument, status: 400 },
  /** The organization's data planes are on several clusters; `cluster_id` must name one. */
  CLUSTER_AMBIGUOUS: { code: Code.InvalidArgument, status: 400 },
  /** No cluster of this id is configured. */
  CLUSTER_UNKNOWN: { code: Code.InvalidArgument, status: 400 },
  /** A revoked key cannot be revoked again, changed or deleted. */
  KEY_REVOKED: { code: Code.FailedPrecondition, status: 409 },
  /** A key may not carry a permission; the message names the permission and the reason. */
  PERMISSION_NOT_ALLOWED: { code: Code.InvalidArgument, status: 400 },
  /** Another request with the same Idempotency-Key is still running. */
  IDEMPOTENCY_IN_FLIGHT: { code: Code.Aborted, status: 409 },
  /** The Idempotency-Key was used with another body. */
  IDEMPOTENCY_MISMATCH: { code: Code.InvalidArgument, status: 422 },
  /** The body, after inflating, is over the limit of its class. */
  BODY_TOO_LARGE: { code: Code.ResourceExhausted, status: 413 },
  /** The body stalled. */
  BODY_TIMEOUT: { code: Code.DeadlineExceeded, status: 408 },
  /** The key cannot be verified now; try again. */
  KEY_UNVERIFIABLE: { code: Code.Unavailable, status: 503 },
  /**
   * The sign-in cannot be finished, for example because it began in another browser; begin again.
   */
  SIGN_IN_REFUSED: { code: Code.InvalidArgument, status: 400 },
  /** Sign-in is not available: the identity provider does not answer, or none is configured. */
  SIGN_IN_UNAVAILABLE: { code: Code.Unavailable, status: 503 },
  /** Too many bytes in flight; try again. */
  OVERLOADED: { code: Code.Unavailable, status: 503 },
  /** The service stopped before the call ended; try again. */
  SHUTTING_DOWN: { code: Code.Unavailable, status: 503 },
  /** The database does not answer; try again. */
  DATABASE_UNAVAILABLE: { code: Code.Unavailable, status: 503 },
  /** A budget of the project or of the key is spent; the message names it and its renewal. */
  BUDGET_EXHAUSTED: { code: Code.ResourceExhausted, status: 429 },
  /** The project or the key has a budget of this period already. */
  BUDGET_EXISTS: { code: Code.AlreadyExists, status: 409 },
  /** The project has sent its maximum of test notifications within an hour. */
  TEST_LIMITED: { code: Code.ResourceExhausted, status: 429 },
  /** The event of a queue has no free place for the caller, or the caller has reviewed it. */
  ITEM_TAKEN: { code: Code.FailedPrecondition, status: 409 },
  /** The model's provider refuses the request; the message is the provider's. */
  PROVIDER_REJECTED: { code: Code.InvalidArgument, status: 400 },
  /** The provider failed, refused the credentials or closed the connection early. */
  PROVIDER_FAILED: { code: Code.Unavailable, status: 502 },
  /** The provider is at its rate limit; try again. */
  PROVIDER_LIMITED: { code: Code.Unavailable, status: 503 },
  /** The provider did not answer in time. */
  PROVIDER_TIMEOUT: { code: Code.DeadlineExceeded, status: 504 },
  /** Secrets cannot be stored: the operator has not configured an encryption key. */
  ENCRYPTION_KEY_ABSENT: { code: Code.FailedPrecondition, status: 409 },
  /**
   * Stored secrets cannot be decrypted; the message names the credentials and the encryption key.
   */
  CREDENTIAL_UNREADABLE: { code: Code.FailedPrecondition, status: 409 },
  /** The evaluator ran and failed; the message has the error, `traceback` the lines of its code. */
  EVALUATOR_FAILED: { code: Code.InvalidArgument, status: 422 },
  /** No sandbox can be started for an evaluator's code now; try again. */
  SANDBOX_UNAVAILABLE: { code: Code.Unavailable, status: 503 },
  /**
   * Another backfill of the metric has not ended, or the organization runs its maximum of
   * backfills.
   */
  BACKFILL_RUNNING: { code: Code.FailedPrecondition, status: 409 },
  /** The backfill has ended, so it cannot be paused, resumed or cancelled. */
  BACKFILL_ENDED: { code: Code.FailedPrecondition, status: 409 },
  /** The run was executed before, or the organization has its maximum of executions. */
  EXECUTION_RUNNING: { code: Code.FailedPrecondition, status: 409 },
  /** The execution has ended, or nothing of it is left to run. */
  EXECUTION_ENDED: { code: Code.FailedPrecondition, status: 409 },
  /** The call took longer than its deadline, set by the caller or by the service. */
  DEADLINE_EXCEEDED: { code: Code.DeadlineExceeded, status: 504 },
  /** The API has this, but the service does not yet. */
  NOT_IMPLEMENTED: { code: Code.Unimplemented, status: 501 },
  /** A bug; logged with its cause, answered without a message. */
  INTERNAL: { code: Code.Internal, status: 500 },
} as const satisfies Record<string, { code: Code; status: number }>;

export type Reason = keyof typeof outcomes;

/** Seconds after which a client should try again, on every 503. */
export const retryAfterSeconds = 1;

/** The provider's answer, for a client that speaks the provider's protocol. Holds no secret. */
export type RelayedAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
};

/**
 * A failure with a known reason. `message` reaches the caller for 4xx other than NOT_FOUND, so it
 * names the fault and the way out, and holds no secret. `details` are extra members of the JSON
 * error body (BATCH_REJECTED; `unrecorded_field` of INVALID_ARGUMENT and INVALID_FILTER).
 */
export class ServiceError extends Error {
  readonly reason: Reason;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds for `Retry-After` if another service set them; whole, at least 1. */
  readonly retryAfterSeconds: number | undefined;
  /** Answer sent instead of our own body if REST errors have OpenAI's shape. */
  readonly relayed: RelayedAnswer | undefined;

  constructor(reason: Reason, message: string, options: ServiceErrorOptions = {}) {
    // A refusal is an answer to the caller and no bug. A batch may have 100,000 refusals, and their
    // stacks would delay all other requests for seconds.
    const { stackTraceLimit } = Error;
    if (outcomes[reason].status < 500) Error.stackTraceLimit = 0;
    super(message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "ServiceError";
    this.reason = reason;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.relayed = options.relayed;
  }
}

export type ServiceErrorOptions = {
  readonly cause?: unknown;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly relayed?: RelayedAnswer | undefined;
};

/** Marks a branch that is unreachable according to the types. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}

/** Throws INVALID_ARGUMENT naming a field by its path; `details` as of ServiceError. */
export function refuse(
  field: string,
  fault: string,
  details?: ServiceErrorOptions["details"],
): never {
  throw new ServiceError("INVALID_ARGUMENT", `${field}: ${fault}`, details ? { details } : {});
}
