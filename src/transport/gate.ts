// The gate: authenticates the caller and checks its kind from the headers, before any byte of the
// body is read. RPC protocols, REST and OTLP over HTTP all pass through it.
// Source: docs/decisions.md, 14, 35.

import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import type { Authenticator, Credentials } from "../access/authenticate.ts";
import type { Principal } from "../access/principal.ts";
import { ServiceError } from "../base/errors.ts";
import { accessRuleOf, assertKindAllowed } from "./access-rules.ts";
import { credentialsKey, principalKey } from "../access/call.ts";
import type { CallLog } from "./interceptors/log.ts";

export type GateCall = {
  readonly method: DescMethod;
  readonly protocol: string;
  readonly credentials: Credentials;
  /** Context of the call, in which the gate sets the principal and its credentials. */
  readonly values: ContextValues;
};

/** Throws NOT_FOUND on every denial, and KEY_UNVERIFIABLE if the key cannot be verified now. */
export type Gate = (call: GateCall) => Promise<void>;

export type GateOptions = {
  readonly authenticate: Authenticator;
  /** Whether each organization gets its data plane automatically. */
  readonly isAssignmentAutomatic: boolean;
};

export function createGate(options: GateOptions, callLog: CallLog): Gate {
  const { authenticate, isAssignmentAutomatic } = options;
  return async ({ method, protocol, credentials, values }) => {
    const rule = accessRuleOf(method);
    if (rule.keyKinds === undefined) {
      if (rule.knowsPeople) values.set(principalKey, await findPerson(authenticate, credentials));
      return;
    }
    const startedAtMs = performance.now();
    try {
      const principal = await authenticate(credentials);
      values.set(principalKey, principal);
      values.set(credentialsKey, credentials);
      assertKindAllowed(rule, principal);
      if (rule.isManualOnly && isAssignmentAutomatic) {
        throw new ServiceError("NOT_FOUND", "data planes are assigned automatically");
      }
    } catch (error) {
      callLog.end({ method, protocol, values, startedAtMs, error });
      throw error;
    }
  };
}

/** Returns the signed-in person; undefined for all others, also if a sign-in cannot be checked. */
async function findPerson(
  authenticate: Authenticator,
  credentials: Credentials,
): Promise<Principal | undefined> {
  if (credentials.cookie === undefined || credentials.authorization !== undefined) return undefined;
  try {
    return await authenticate(credentials);
  } catch (error) {
    // An ended sign-in must not hide how people sign in.
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
