// Keys and people for commands, which work on a database without serving requests, and the operator
// as the actor.

import { userInfo } from "node:os";
import { createAudit } from "../access/audit/audit.ts";
import { createAccessChanges } from "../access/changes/changes.ts";
import type { Keys } from "../access/keys/keys.ts";
import type { LocalCreator } from "../access/keys/new-key.ts";
import { createPeople, type People } from "../access/people.ts";
import { createKeyServices, noCallers } from "../compose/keys.ts";
import type { Manifest } from "../access/roles/manifest.ts";
import type { Database } from "../postgres/database.ts";

/** Creates access to the keys of a database. */
export function createLocalKeys(database: Database): Keys {
  return createKeyServices({ database, ...noCallers }).keys;
}

/** Creates access to the people of a database, without sign-in. */
export function createLocalPeople(database: Database, manifest: Manifest): People {
  return createPeople({
    database,
    manifest,
    audit: createAudit(database),
    changes: createAccessChanges({ database }),
    publicOrigin: undefined,
    ...noCallers,
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
