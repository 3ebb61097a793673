// Reasons a request fails, and the one table that says what each looks like to a caller.
// Services throw ServiceError; transport/interceptors/errors.ts and transport/rest/error-body.ts
// read the table. Source: docs/spec.md, "Errors"; docs/decisions.md, 8 to 10.

import { Code } from "@connectrpc/connect";

/** RPC code and HTTP status of every reason; the only place either is chosen. */
export const outcomes = {
  /** A field is absent or has the wrong type or value; the message names it. */
  INVALID_ARGUMENT: { code: Code.InvalidArgument, status: 400 },
  /** The body is no JSON, no Protobuf, or cannot be inflated. */
  MALFORMED_BODY: { code: Code.InvalidArgument, status: 400 },
  /** A filter names an unknown field or operator, or its value does not fit. */
  INVALID_FILTER: { code: Code.InvalidArgument, status: 400 },
  /** No event of a batch could be stored; the body lists the causes. */
  BATCH_REJECTED: { code: Code.InvalidArgument, status: 400 },
  /** A page or full tree is past its limit; the message names the calls that have none. */
  ANSWER_TOO_LARGE: { code: Code.InvalidArgument, status: 400 },
  /** Denied and absent are one reason, with one body. */
  NOT_FOUND: { code: Code.NotFound, status: 404 },
  /** Archiving something that has active children, without the flag that archives them too. */
  SCOPE_NOT_EMPTY: { code: Code.FailedPrecondition, status: 409 },
  /** An active sibling has the name. */
  NAME_TAKEN: { code: Code.AlreadyExists, status: 409 },
  /** The person has a role in the scope already. */
  MEMBER_EXISTS: { code: Code.AlreadyExists, status: 409 },
  /** Nobody would be left who may manage the organization's members. */
  LAST_ADMIN: { code: Code.FailedPrecondition, status: 409 },
  /** What is handed on permits more than the caller holds; the message names what. */
  PERMISSION_NOT_HELD: { code: Code.InvalidArgument, status: 400 },
  /** The organization has no data plane yet, so `cluster_id` must say where the first one goes. */
  CLUSTER_REQUIRED: { code: Code.InvalidArgument, status: 400 },
  /** The organization's data planes are on several clusters; `cluster_id` must say which. */
  CLUSTER_AMBIGUOUS: { code: Code.InvalidArgument, status: 400 },
  /** No cluster of this id is configured. */
  CLUSTER_UNKNOWN: { code: Code.InvalidArgument, status: 400 },
  /** A revoked key can be neither revoked again, changed nor deleted. */
  KEY_REVOKED: { code: Code.FailedPrecondition, status: 409 },
  /** A key may not carry a permission; the message names it and says why. */
  PERMISSION_NOT_ALLOWED: { code: Code.InvalidArgument, status: 400 },
  /** Another request with the same Idempotency-Key is still running. */
  IDEMPOTENCY_IN_FLIGHT: { code: Code.Aborted, status: 409 },
  /** The Idempotency-Key was used with another body. */
  IDEMPOTENCY_MISMATCH: { code: Code.InvalidArgument, status: 422 },
  /** The body is over the limit of its class, after inflating. */
  BODY_TOO_LARGE: { code: Code.ResourceExhausted, status: 413 },
  /** The body stalled. */
  BODY_TIMEOUT: { code: Code.DeadlineExceeded, status: 408 },
  /** The key cannot be verified now; try again. */
  KEY_UNVERIFIABLE: { code: Code.Unavailable, status: 503 },
  /** A sign-in that cannot be finished, such as one begun in another browser; begin again. */
  SIGN_IN_REFUSED: { code: Code.InvalidArgument, status: 400 },
  /** No one can sign in now: the identity provider does not answer, or there is none. */
  SIGN_IN_UNAVAILABLE: { code: Code.Unavailable, status: 503 },
  /** Too many bytes in flight; try again. */
  OVERLOADED: { code: Code.Unavailable, status: 503 },
  /** The service stopped before the call was over; try again. */
  SHUTTING_DOWN: { code: Code.Unavailable, status: 503 },
  /** The database does not answer; try again. */
  DATABASE_UNAVAILABLE: { code: Code.Unavailable, status: 503 },
  /** The provider of a model refuses the request; the message is the provider's. */
  PROVIDER_REJECTED: { code: Code.InvalidArgument, status: 400 },
  /** The provider failed, refused the credentials, or broke off. */
  PROVIDER_FAILED: { code: Code.Unavailable, status: 502 },
  /** The provider is at its rate limit; try again. */
  PROVIDER_LIMITED: { code: Code.Unavailable, status: 503 },
  /** The provider did not answer in time. */
  PROVIDER_TIMEOUT: { code: Code.DeadlineExceeded, status: 504 },
  /** Secrets cannot be stored: the operator has named no encryption key. */
  ENCRYPTION_KEY_ABSENT: { code: Code.FailedPrecondition, status: 409 },
  /** Stored secrets do not open; the message names the credentials and the encryption key. */
  CREDENTIAL_UNREADABLE: { code: Code.FailedPrecondition, status: 409 },
  /** The evaluator ran and failed; the message says how, with the traceback of its own code. */
  EVALUATOR_FAILED: { code: Code.InvalidArgument, status: 422 },
  /** No sandbox can be started for an evaluator's code now; try again. */
  SANDBOX_UNAVAILABLE: { code: Code.Unavailable, status: 503 },
  /** Another backfill of the metric has not ended, or as many of the organization run as may. */
  BACKFILL_RUNNING: { code: Code.FailedPrecondition, status: 409 },
  /** A backfill that has ended can be neither paused, resumed nor cancelled. */
  BACKFILL_ENDED: { code: Code.FailedPrecondition, status: 409 },
  /** The call took longer than its deadline, the caller's or the service's own. */
  DEADLINE_EXCEEDED: { code: Code.DeadlineExceeded, status: 504 },
  /** A bug; logged with its cause, answered without a message. */
  INTERNAL: { code: Code.Internal, status: 500 },
} as const satisfies Record<string, { code: Code; status: number }>;

export type Reason = keyof typeof outcomes;

/** Seconds after which a client should try again, on every 503. */
export const retryAfterSeconds = 1;

/** What a provider answered, for a client that speaks the provider's protocol. Holds no secret. */
export type RelayedAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
};

/**
 * A failure with a known reason. `message` reaches the caller for 4xx other than NOT_FOUND, so it
 * names what was wrong and the way out, and holds no secret. `details` are extra members of the
 * JSON error body (BATCH_REJECTED).
 */
export class ServiceError extends Error {
  readonly reason: Reason;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds for `Retry-After`, where somebody else said how long; whole, at least 1. */
  readonly retryAfterSeconds: number | undefined;
  /** Answered in place of our own body where REST errors have OpenAI's shape. */
  readonly relayed: RelayedAnswer | undefined;

  constructor(reason: Reason, message: string, options: ServiceErrorOptions = {}) {
    // A refusal is told to the caller and is no bug, and a batch may have 100,000 of them: their
    // stacks would hold up all other requests for seconds.
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
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number | undefined;
  readonly relayed?: RelayedAnswer | undefined;
};

/** Marks a branch that the types say cannot be reached. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}
