// The callers of the access matrix: every kind of key at every root, signed-in people, and all who
// must be refused.

import type { KeyKind } from "../../src/access/principal.ts";
import type { ScopeLevel } from "../../src/access/scope.ts";
import type { TestService } from "../support/service.ts";
import {
  type Credential,
  type KeyOptions,
  type KeyRoot,
  type Tenant,
  withKey,
  withSignIn,
} from "../support/tenants.ts";

/** A caller of the matrix, made anew for each call that may change what it stands on. */
export type Caller = {
  readonly name: string;
  readonly kind: KeyKind | "user";
  /** Where its permissions hold. */
  readonly level: ScopeLevel;
  readonly present: (service: TestService, tenant: Tenant) => Promise<Credential>;
};

function key(kind: KeyKind, root: KeyRoot, more: Partial<KeyOptions> = {}): Caller {
  const state = more.state === undefined ? "" : `, ${more.state}`;
  return {
    name: `a ${kind} key of a ${root}${state}`,
    kind,
    level: root,
    present: ({ database }, tenant) => withKey(database, tenant, { kind, root, ...more }),
  };
}

function person(level: ScopeLevel): Caller {
  return {
    name: `a signed-in ${level} admin`,
    kind: "user",
    level,
    present: ({ database, url }, tenant) =>
      withSignIn(database, tenant, { level, role: `${level}_admin`, origin: url }),
  };
}

export const callers: readonly Caller[] = [
  key("project", "project"),
  key("project_read_only", "project"),
  key("ingestion", "project"),
  key("data_plane", "org"),
  key("data_plane", "workspace"),
  key("data_plane", "project"),
  key("control_plane", "org"),
  key("control_plane", "workspace"),
  {
    ...key("control_plane", "org", { permissions: ["*", "system.org.create"] }),
    name: "the control-plane key of the first start",
    level: "system",
  },
  person("system"),
  person("org"),
  person("workspace"),
  person("project"),
];

/** Ends the name of a credential that is good but carries nothing. */
export const withoutPermission = ", without a permission";

/** Credentials of no caller, or of a caller without any permission, by fault. */
export async function badCredentials(
  { database, url }: TestService,
  tenant: Tenant,
): Promise<Record<string, Credential>> {
  const present = (options: KeyOptions) => withKey(database, tenant, options);
  const good = (await present({ kind: "project", root: "project" }))["authorization"] ?? "";
  const dead: Record<string, Credential> = {};
  for (const { name, kind, level } of callers) {
    if (kind === "user" || level === "system" || level === "dataplane") continue;
    dead[`${name}, revoked`] = await present({ kind, root: level, state: "revoked" });
    if (kind === "data_plane" || kind === "control_plane") {
      dead[`${name}, expired`] = await present({ kind, root: level, state: "expired" });
      dead[name + withoutPermission] = await present({ kind, root: level, permissions: [] });
    }
  }
  return {
    "no key": {},
    "an empty key": { authorization: "Bearer " },
    "another scheme": { authorization: good.replace("Bearer", "Basic") },
    "a malformed key": { authorization: "Bearer hh_short" },
    "an unknown key": { authorization: `Bearer hh_${"A".repeat(40)}` },
    "a key with a tail": { authorization: `${good}x` },
    "an unknown sign-in": { cookie: "waggle_session=unknown", origin: url },
    ...dead,
  };
}
