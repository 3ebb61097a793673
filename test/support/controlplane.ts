// The control plane's services on a test's database, with real dependencies.

import { createAudit } from "../../src/access/audit/audit.ts";
import type { Audit } from "../../src/access/audit/audit.ts";
import { createAccessChanges } from "../../src/access/changes/changes.ts";
import { createMembers } from "../../src/access/members/members.ts";
import type { Members } from "../../src/access/members/members.ts";
import type { Grant, KeyPrincipal, UserPrincipal } from "../../src/access/principal.ts";
import { loadManifest } from "../../src/access/roles/manifest.ts";
import { systemScope } from "../../src/access/scope.ts";
import type { Scope } from "../../src/access/scope.ts";
import { createUsers } from "../../src/access/users/users.ts";
import { createUuid } from "../../src/base/ids.ts";
import { createControlplane } from "../../src/controlplane/controlplane.ts";
import type { Controlplane } from "../../src/controlplane/controlplane.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import type { Scopes } from "../../src/controlplane/scopes/scopes.ts";
import { createOutbox } from "../../src/outbox/outbox.ts";
import type { Database } from "../../src/postgres/database.ts";

export type TestControlplane = Controlplane & {
  readonly database: Database;
  readonly scopes: Scopes;
  readonly members: Members;
  readonly audit: Audit;
};

export type TestControlplaneOptions = {
  readonly database: Database;
  readonly assignment?: "automatic" | "manual";
  readonly clusterIds?: readonly string[];
};

/** Composes the services; data planes are assigned manually by default. */
export async function aControlplane(options: TestControlplaneOptions): Promise<TestControlplane> {
  const { database, assignment = "manual", clusterIds = ["default", "eu", "us"] } = options;
  const audit = createAudit(database);
  const changes = createAccessChanges({ database });
  const users = createUsers({ database, audit });
  const members = createMembers({
    database,
    manifest: await loadManifest(undefined),
    users,
    audit,
    endSignIns: async (userIds) => {
      for (const userId of userIds) await changes.append(userId);
    },
  });
  const scopes = createScopes(database);
  const controlplane = createControlplane({
    database,
    scopes,
    audit,
    changes,
    outbox: createOutbox(database),
    members,
    clusters: { isKnown: (id) => clusterIds.includes(id) },
    assignment,
  });
  return { ...controlplane, database, scopes, members, audit };
}

/** Returns a key that may do everything in the control plane. */
export function aKeyPrincipal(root: Scope = systemScope): KeyPrincipal {
  return {
    kind: "control_plane",
    actor: { type: "key", id: createUuid(), name: "a key" },
    root,
    grants: [{ level: root.level, scopeId: root.id, permissions: ["*"] }],
    policy: ["*"],
    mayCreateKeys: true,
    expiresAtMs: undefined,
  };
}

export function aUserPrincipal(grants: readonly Grant[]): UserPrincipal {
  return {
    kind: "user",
    actor: { type: "user", id: createUuid(), name: "ada@example.org" },
    email: "ada@example.org",
    grants,
    expiresAtMs: Date.now() + 3_600_000,
  };
}
