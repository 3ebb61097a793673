// Who a request comes from, once its key or sign-in is known. Made by authenticate.ts, judged by
// authorize.ts, and named in the audit log.
// Source: docs/spec.md, Authentication; docs/decisions.md, 33 to 35.

import type { Scope, ScopeLevel } from "./scope.ts";

/** docs/spec.md, Authentication, 2. */
export const keyKinds = [
  "project",
  "project_read_only",
  "ingestion",
  "data_plane",
  "control_plane",
] as const;
export type KeyKind = (typeof keyKinds)[number];

/** Permissions held in a scope and in everything inside it. */
export type Grant = {
  readonly level: ScopeLevel;
  readonly scopeId: string;
  /** Dotted names, `*` as the last part; see permissions.ts. */
  readonly permissions: readonly string[];
};

/** Who did something, for the record. */
export type Actor = {
  readonly type: "key" | "user" | "operator" | "system";
  /** Id of the key or user; the account's name of an operator at the command line. */
  readonly id: string;
  /** The key's name or the user's e-mail. */
  readonly name: string;
};

export type KeyPrincipal = {
  readonly kind: KeyKind;
  readonly actor: Actor;
  /** Where the key is rooted. */
  readonly root: Scope;
  /** Empty for classic and ingestion keys, whose kind says what they may do. */
  readonly grants: readonly Grant[];
  /** What the organization's key policy leaves of the grants. */
  readonly policy: readonly string[];
  /** False for a key that was created by a key. */
  readonly mayCreateKeys: boolean;
  /** Unix milliseconds; undefined for kinds that do not expire. */
  readonly expiresAtMs: number | undefined;
};

export type UserPrincipal = {
  readonly kind: "user";
  readonly actor: Actor;
  readonly email: string;
  /** Of the user's memberships and of the groups that the identity provider named. */
  readonly grants: readonly Grant[];
  /** When the sign-in ends, in Unix milliseconds. */
  readonly expiresAtMs: number;
};

export type Principal = KeyPrincipal | UserPrincipal;

/** Returns who did something as lists show it: an e-mail, or a key by its name and id. */
export function describeActor({ type, id, name }: Actor): string {
  return type === "key" ? `key ${name} (${id})` : name;
}
