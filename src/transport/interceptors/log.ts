// One log line and one metrics observation per call, over every protocol and also for a call that
// ended early. Never bodies, keys or messages.

import type { DescMethod } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextKey,
  type Interceptor,
} from "@connectrpc/connect";
import { outcomes, type Reason, ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import {
  type Ingested,
  ingestedKey,
  principalKey,
  requestIdKey,
  scopeKey,
} from "../../access/call.ts";
import { isProject } from "../../access/scope.ts";
import type { Actor } from "../../base/actor.ts";
import type { ProjectId } from "../../base/ids.ts";
import { accessRuleOf } from "../access-rules.ts";
import { publicMessageOf, serviceErrorOf } from "./errors.ts";

/** One finished call for the metrics. `reason` is `OK`, `CANCELED` or the error's. */
export type CallObservation = {
  readonly rpc: string;
  readonly protocol: string;
  readonly reason: string;
  readonly ms: number;
  /** Set if the call writes events to a known project. */
  readonly ingestion?: CallIngestion | undefined;
};

export type CallIngestion = Ingested & {
  readonly projectId: ProjectId;
  readonly actor: Actor;
};

export type CallLog = {
  /** Records the end of a call. Further calls do nothing: outer layers see the same end again. */
  end(call: CallEnd): void;
};

export type CallEnd = {
  readonly method: DescMethod;
  readonly protocol: string;
  readonly values: ContextValues;
  readonly startedAtMs: number;
  /** Undefined if the call succeeded. */
  readonly error: unknown;
};

const isLoggedKey = createContextKey(false, { description: "the call has its log line" });
export const protocolKey = createContextKey("", { description: "protocol of the call" });

/** Returns the name of an rpc, such as `waggle.v1.EventService/CreateEvent`. */
export function rpcNameOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

export function createCallLog(
  logger: Logger,
  observe: (call: CallObservation) => void = () => undefined,
): CallLog {
  return {
    end({ method, protocol, values, startedAtMs, error }) {
      if (values.get(isLoggedKey)) return;
      values.set(isLoggedKey, true);
      const actor = values.get(principalKey)?.actor;
      const scope = values.get(scopeKey);
      const reason = reasonOf(error);
      const ms = Math.round((performance.now() - startedAtMs) * 1e3) / 1e3;
      const rpc = rpcNameOf(method);
      const ingestion = accessRuleOf(method).isIngestion ? ingestionOf(values, error) : undefined;
      observe({ rpc, protocol, reason, ms, ingestion });
      const line = {
        rpc,
        protocol,
        reason,
        ms,
        ...(actor && { [actor.type === "user" ? "user_id" : "key_id"]: actor.id }),
        ...(scope && { [`${scope.level}_id`]: scope.id }),
        request_id: values.get(requestIdKey),
      };
      const isOurs = reason !== "OK" && reason !== "CANCELED" && outcomes[reason].status >= 500;
      if (isOurs) logger.warn(line, "call");
      else logger.info(line, "call");
    },
  };
}

/**
 * Returns what became of the events of a call; undefined if its caller or project is unknown. A
 * denied call counts for the project of its key.
 */
function ingestionOf(values: ContextValues, error: unknown): CallIngestion | undefined {
  const principal = values.get(principalKey);
  if (!principal) return undefined;
  const scope = values.get(scopeKey) ?? (principal.kind === "user" ? undefined : principal.root);
  if (!scope || !isProject(scope)) return undefined;
  const { projectId } = scope;
  const { actor } = principal;
  const noted = values.get(ingestedKey);
  if (error === undefined) return { projectId, actor, ...(noted ?? oneStored) };
  const known = serviceErrorOf(error);
  const { reason, message, details } = known;
  // The caller of a batch reads the causes; of a denial only that nothing was found.
  const causes = reason === "BATCH_REJECTED" ? (details?.["errors"] as readonly string[]) : [];
  const isDenied = reason === "NOT_FOUND";
  const said = causes[0] ?? (isDenied ? message : publicMessageOf(known));
  return { projectId, actor, stored: 0, rejected: causes.length, message: said || undefined };
}

const oneStored: Ingested = { stored: 1, rejected: 0, message: undefined };

/**
 * Returns the reason for the log: `OK` without an error, and `CANCELED` for a client that left,
 * which does not count as a failure.
 */
export function reasonOf(error: unknown): Reason | "OK" | "CANCELED" {
  if (error === undefined) return "OK";
  if (error instanceof ConnectError && error.code === Code.Canceled) return "CANCELED";
  return serviceErrorOf(error).reason;
}

/** Returns the outermost interceptor. A stream ends with its last message. */
export function createLogInterceptor(callLog: CallLog): Interceptor {
  return (next) => async (request) => {
    const startedAtMs = performance.now();
    const values = request.contextValues;
    const protocol = values.get(protocolKey);
    const end = (error: unknown): void =>
      callLog.end({ method: request.method, protocol, values, startedAtMs, error });
    try {
      const response = await next(request);
      if (response.stream) {
        return { ...response, message: watchStream(response.message, request.signal, end) };
      }
      end(undefined);
      return response;
    } catch (error) {
      end(error);
      throw error;
    }
  };
}

/** Error of a stream whose client left. */
const left = new ConnectError("the client left", Code.Canceled);

/**
 * Returns the messages of a stream and calls `end` once when the stream is over: with undefined
 * after a clean end, with its error, or with the reason if its call ended first. `signal` is
 * aborted when the call ends. The stream's own end after that does not count, and a stream that
 * waits for a client that left may never end.
 */
export function watchStream<T>(
  messages: AsyncIterable<T>,
  signal: AbortSignal,
  end: (error: unknown) => void,
): AsyncIterable<T> {
  let isEnded = false;
  const endOnce = (error: unknown): void => {
    signal.removeEventListener("abort", onAbort);
    if (!isEnded) end(error);
    isEnded = true;
  };
  const onAbort = (): void => endOnce(causeOf(signal.reason));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return passOn(messages, endOnce);
}

async function* passOn<T>(
  messages: AsyncIterable<T>,
  end: (error: unknown) => void,
): AsyncIterable<T> {
  try {
    // `yield*` also passes failed writes inwards, to the mapping of errors.
    yield* messages;
    end(undefined);
  } catch (error) {
    end(error);
    throw error;
  } finally {
    // A stream that is returned early skips the lines above.
    end(left);
  }
}

/** Returns the error of an ended call: its deadline, the shutdown, or a lost connection. */
function causeOf(reason: unknown): unknown {
  const isDeadline = reason instanceof ConnectError && reason.code === Code.DeadlineExceeded;
  return isDeadline || reason instanceof ServiceError ? reason : left;
}
