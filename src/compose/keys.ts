// The part of the object graph that commands on a database share with the service: its keys. Apart
// from core.ts, so that a command does not load the rest.

import { createAudit } from "../access/audit/audit.ts";
import { createAccessChanges } from "../access/changes/changes.ts";
import { createKeyPolicies } from "../access/key-policies/key-policies.ts";
import { createKeys } from "../access/keys/keys.ts";
import type { Logger } from "../base/logger.ts";
import { createScopes } from "../controlplane/scopes/scopes.ts";
import { createOutbox } from "../outbox/outbox.ts";
import type { Database } from "../postgres/database.ts";

/** Cache of keys and sign-ins; no entries for a command. */
export type CallerCache = { readonly cacheEntriesMax: number; readonly cacheAgeMs: number };

/** Disables the cache of callers. */
export const noCallers: CallerCache = { cacheEntriesMax: 0, cacheAgeMs: 0 };

export type KeyOptions = CallerCache & {
  readonly database: Database;
  /** Time between two looks for ended keys, and the logger of their failures. */
  readonly follow?: { readonly pollMs: number; readonly logger: Logger };
  /** Called with the id of each key that is used. */
  readonly onUsed?: (keyId: string) => void;
};

/** Creates the keys of a database, with the services that they need. */
export function createKeyServices({ database, follow, onUsed, ...cache }: KeyOptions) {
  const audit = createAudit(database);
  const changes = createAccessChanges({ database, ...follow });
  const scopes = createScopes(database);
  const outbox = createOutbox(database);
  const policies = createKeyPolicies({ database, changes, audit, scopes });
  const keys = createKeys({
    database,
    changes,
    audit,
    outbox,
    scopes,
    policies,
    ...cache,
    ...(onUsed && { onUsed }),
  });
  return { audit, changes, scopes, outbox, policies, keys };
}
