// Names the tenant of a call, so that its transactions count for its organization's share of the
// database connections. Runs behind authorize, which finds the scope.
// Source: docs/limits.md, "Time and turns in Postgres".

import type { Interceptor } from "@connectrpc/connect";
import type { Principal } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";
import { currentTenant, type Tenant } from "../../base/tenant.ts";
import { principalKey, scopeKey } from "../../access/call.ts";

export const tenantInterceptor: Interceptor = (next) => (request) => {
  const principal = request.contextValues.get(principalKey);
  if (!principal) return next(request);
  const tenant = tenantOf(principal, request.contextValues.get(scopeKey));
  return currentTenant.run(tenant, () => next(request));
};

/**
 * Returns the tenant of a call. A key counts for the organization that it is made for, also in
 * organizations that it created; otherwise each of those would give it a further share. A person
 * counts for the organization of the scope, and has a share of his own in all of them together.
 */
export function tenantOf(principal: Principal, scope: Scope | undefined): Tenant {
  return principal.kind === "user"
    ? { owner: principal.actor.id, organization: scope?.orgId }
    : { owner: principal.root.id, organization: principal.root.orgId };
}
