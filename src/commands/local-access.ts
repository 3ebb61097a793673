// Keys and people for commands, which work on a database without serving requests, and the operator
// as the actor.

import { userInfo } from "node:os";
import { createAudit } from "../access/audit/audit.ts";
import { createAccessChanges } from "../access/changes/changes.ts";
import { createKeyPolicies } from "../access/key-policies/key-policies.ts";
import { createKeys } from "../access/keys/keys.ts";
import type { Keys } from "../access/keys/keys.ts";
import type { LocalCreator } from "../access/keys/new-key.ts";
import { createPeople } from "../access/people.ts";
import type { People } from "../access/people.ts";
import type { Manifest } from "../access/roles/manifest.ts";
import { createScopes } from "../controlplane/scopes/scopes.ts";
import { createOutbox } from "../outbox/outbox.ts";
import type { Database } from "../postgres/database.ts";

/** Disables the cache of callers, because a command has none. */
const noMemory = { cacheEntriesMax: 0, cacheAgeMs: 0 };

/** Creates access to the keys of a database. */
export function createLocalKeys(database: Database): Keys {
  const audit = createAudit(database);
  const changes = createAccessChanges({ database });
  const scopes = createScopes(database);
  const policies = createKeyPolicies({ database, changes, audit, scopes });
  const outbox = createOutbox(database);
  return createKeys({ database, changes, audit, outbox, scopes, policies, ...noMemory });
}

/** Creates access to the people of a database, without sign-in. */
export function createLocalPeople(database: Database, manifest: Manifest): People {
  return createPeople({
    database,
    manifest,
    audit: createAudit(database),
    changes: createAccessChanges({ database }),
    publicOrigin: undefined,
    ...noMemory,
  });
}

/** Returns the person at the command line as an actor for the audit log. */
export function findOperator(): LocalCreator {
  const id = accountName();
  return { kind: "operator", actor: { type: "operator", id, name: `command line (${id})` } };
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // The account has no name in a container that runs with an arbitrary uid.
    return `uid ${process.getuid?.() ?? "?"}`;
  }
}
