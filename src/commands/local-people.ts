// People as a command handles them on a database, without serving requests.
// Called by members.ts and sign-in-link.ts.

import { createAudit } from "../access/audit/audit.ts";
import { createAccessChanges } from "../access/changes/changes.ts";
import { createPeople } from "../access/people.ts";
import type { People } from "../access/people.ts";
import type { Manifest } from "../access/roles/manifest.ts";
import type { Database } from "../postgres/database.ts";

/** Returns people whose sign-ins nobody asks for here. */
export function createLocalPeople(database: Database, manifest: Manifest): People {
  return createPeople({
    database,
    manifest,
    audit: createAudit(database),
    changes: createAccessChanges({ database }),
    publicOrigin: undefined,
    cacheEntriesMax: 0,
    cacheAgeMs: 0,
  });
}
