// The tenant of a call. Work that the call begins in a database takes turns as this tenant, however
// deep in the call it begins. Source: docs/limits.md, "Time and turns in Postgres".

import { AsyncLocalStorage } from "node:async_hooks";

export type Tenant = {
  /** Id of the person, or of the scope that the key is made for. */
  readonly owner: string;
  /** Undefined for a person's call about no organization. */
  readonly organization: string | undefined;
};

/** Tenant of the current call; without a value for the service's own work. */
export const currentTenant = new AsyncLocalStorage<Tenant>();
