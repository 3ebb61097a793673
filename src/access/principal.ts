// The caller of a request, after its key or sign-in is verified. Source: docs/spec.md,
// Authentication; docs/decisions.md, 33, 34.2, 35.

import type { Actor } from "../base/actor.ts";
import type { Scope, ScopeLevel } from "./scope.ts";

/** Source: docs/spec.md, Authentication, 2. */
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
  /** Dotted names, with `*` allowed as the last part; see permissions.ts. */
  readonly permissions: readonly string[];
};

export type KeyPrincipal = {
  readonly kind: KeyKind;
  readonly actor: Actor;
  /** Scope that the key is made for. */
  readonly root: Scope;
  /** Empty for classic and ingestion keys, whose kind decides their permissions. */
  readonly grants: readonly Grant[];
  /** Permissions that the organization's key policy allows; bounds the grants. */
  readonly policy: readonly string[];
  /** False for a key that a key created. */
  readonly mayCreateKeys: boolean;
  /** Unix milliseconds; undefined for kinds that do not expire. */
  readonly expiresAtMs: number | undefined;
};

export type UserPrincipal = {
  readonly kind: "user";
  readonly actor: Actor;
  readonly email: string;
  /** Grants of the user's memberships and of the groups from the identity provider. */
  readonly grants: readonly Grant[];
  /** End of the sign-in, in Unix milliseconds. */
  readonly expiresAtMs: number;
};

export type Principal = KeyPrincipal | UserPrincipal;
