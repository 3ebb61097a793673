// MeService: the caller, as the gate identified it; no database query.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { MeSchema, MeService } from "../../../gen/waggle/v1/me_pb.js";
import { principalOf } from "../call.ts";
import { intersect } from "../permissions.ts";
import type { KeyPrincipal, Principal, UserPrincipal } from "../principal.ts";

export function meHandlers(): ServiceImpl<typeof MeService> {
  return {
    getMe(_request, context) {
      return { success: true, data: toMessage(principalOf(context)) };
    },
  };
}

function toMessage(principal: Principal): MessageInitShape<typeof MeSchema> {
  const bounds = principal.kind === "user" ? ["*"] : principal.policy;
  const { expiresAtMs } = principal;
  return {
    id: principal.actor.id,
    name: principal.actor.name,
    ...(principal.kind === "user" ? userFields(principal) : keyFields(principal)),
    grants: principal.grants.map(({ level, scopeId, permissions }) => ({
      scopeType: level,
      scopeId,
      permissions: [...intersect(permissions, bounds)],
    })),
    ...(expiresAtMs !== undefined && { expiresAt: timestampFromMs(expiresAtMs) }),
  };
}

function userFields({ email }: UserPrincipal) {
  return { type: "user", email };
}

function keyFields({ kind, root }: KeyPrincipal) {
  return {
    type: "key",
    keyKind: kind,
    ...(root.orgId !== undefined && { orgId: root.orgId }),
    ...(root.projectId !== undefined && { projectId: root.projectId, projectName: root.name }),
  };
}
