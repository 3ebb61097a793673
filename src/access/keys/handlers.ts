// ApiKeyService: a message in, a message out, no decisions. The calls of all kinds of keys share
// one implementation.

import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { ApiKeyService } from "../../../gen/waggle/v1/api_key_pb.js";
import { type PageRequest, parsePageOptions, toPageAnswer } from "../../base/pages.ts";
import { actorOf, principalOf, scopeOf } from "../call.ts";
import type { KeyPolicies, KeyPolicy } from "../key-policies/key-policies.ts";
import type { KeyKind } from "../principal.ts";
import { type CreatedKey, type Key, type KeyFilter, type Keys, toRoot } from "./keys.ts";

/** Common fields of the requests to create a key; only fine-grained keys have the last two. */
type CreateRequest = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly permissions?: readonly string[];
  readonly expiresAt?: Timestamp | undefined;
};

type KeyRequest = { readonly keyId: string };

type RevokeRequest = KeyRequest & { readonly revokeCreatedKeys: boolean };

/** `requiredPermissions` returns every permission that a call of the service requires. */
export function apiKeyHandlers(
  keys: Keys,
  policies: KeyPolicies,
  requiredPermissions: () => readonly string[],
): ServiceImpl<typeof ApiKeyService> {
  const ofKind = (kind: KeyKind) => callsOfKind(keys, kind, requiredPermissions);
  const ingestion = ofKind("ingestion");
  const project = ofKind("project");
  const readOnly = ofKind("project_read_only");
  const dataPlane = ofKind("data_plane");
  const controlPlane = ofKind("control_plane");
  return {
    createIngestionApiKey: ingestion.create,
    listIngestionApiKeys: ingestion.list,
    getIngestionApiKey: ingestion.get,
    revokeIngestionApiKey: ingestion.revoke,
    createProjectApiKey: project.create,
    listProjectApiKeys: project.list,
    getProjectApiKey: project.get,
    revokeProjectApiKey: project.revoke,
    createReadOnlyProjectApiKey: readOnly.create,
    listReadOnlyProjectApiKeys: readOnly.list,
    getReadOnlyProjectApiKey: readOnly.get,
    revokeReadOnlyProjectApiKey: readOnly.revoke,
    createDataPlaneApiKey: dataPlane.create,
    listDataPlaneApiKeys: dataPlane.list,
    getDataPlaneApiKey: dataPlane.get,
    revokeDataPlaneApiKey: dataPlane.revoke,
    createControlPlaneApiKey: controlPlane.create,
    listControlPlaneApiKeys: controlPlane.list,
    getControlPlaneApiKey: controlPlane.get,
    revokeControlPlaneApiKey: controlPlane.revoke,

    async getApiKeyPolicy(_request, context) {
      return { success: true, data: toPolicyMessage(await policies.get(scopeOf(context))) };
    },
    async updateApiKeyPolicy({ permissions }, context) {
      const given = { permissions, required: requiredPermissions() };
      const policy = await policies.replace(scopeOf(context), given, actorOf(context));
      return { success: true, data: toPolicyMessage(policy) };
    },
  };
}

function callsOfKind(keys: Keys, kind: KeyKind, requiredPermissions: () => readonly string[]) {
  const filterOf = (context: HandlerContext): KeyFilter => ({
    kind,
    root: toRoot(scopeOf(context)),
  });
  return {
    create: async (request: CreateRequest, context: HandlerContext) => {
      const { name, description, permissions, expiresAt } = request;
      const created = await keys.create({
        kind,
        root: scopeOf(context),
        name,
        description,
        ...(permissions && { permissions }),
        expiresAt: expiresAt && timestampDate(expiresAt),
        creator: principalOf(context),
        required: requiredPermissions(),
      });
      return { success: true, data: toCreatedMessage(created) };
    },

    list: async (request: PageRequest, context: HandlerContext) => {
      const page = await keys.list(filterOf(context), parsePageOptions("keys", request));
      return toPageAnswer(page, toMessage);
    },

    get: async ({ keyId }: KeyRequest, context: HandlerContext) => {
      return { success: true, data: toMessage(await keys.get(keyId, filterOf(context))) };
    },

    revoke: async ({ keyId, revokeCreatedKeys }: RevokeRequest, context: HandlerContext) => {
      const filter = filterOf(context);
      if (!revokeCreatedKeys) {
        const key = await keys.revoke(keyId, filter, actorOf(context));
        return { success: true, data: toMessage(key) };
      }
      const revoker = principalOf(context);
      const { key, createdCount } = await keys.revokeWithCreated(keyId, filter, revoker);
      return { success: true, data: toMessage(key), revokedCreatedKeys: createdCount };
    },
  };
}

function toCreatedMessage({ key, secret }: CreatedKey) {
  return {
    keyValue: secret,
    keyId: key.id,
    name: key.name,
    ...(key.description !== null && { description: key.description }),
    rootScopeType: key.rootLevel,
    rootScopeId: key.rootId,
    permissions: [...(key.permissions ?? [])],
    maskedPrefix: key.maskedPrefix,
    createdAt: timestampFromDate(key.createdAt),
    ...(key.expiresAt && { expiresAt: timestampFromDate(key.expiresAt) }),
  };
}

function toMessage(key: Key) {
  return {
    keyId: key.id,
    name: key.name,
    ...(key.description !== null && { description: key.description }),
    kind: key.kind,
    maskedPrefix: key.maskedPrefix,
    status: key.status,
    rootScopeType: key.rootLevel,
    rootScopeId: key.rootId,
    permissions: [...(key.permissions ?? [])],
    createdAt: timestampFromDate(key.createdAt),
    createdBy: key.createdBy,
    ...(key.createdByKeyId !== null && { createdByKeyId: key.createdByKeyId }),
    ...(key.expiresAt && { expiresAt: timestampFromDate(key.expiresAt) }),
    ...(key.lastUsedAt && { lastUsedAt: timestampFromDate(key.lastUsedAt) }),
    ...(key.revokedAt && { revokedAt: timestampFromDate(key.revokedAt) }),
    ...(key.revokedBy !== null && { revokedBy: key.revokedBy }),
    ...(key.revocationConfirmedAt && {
      revocationConfirmedAt: timestampFromDate(key.revocationConfirmedAt),
    }),
  };
}

function toPolicyMessage({ permissions, updatedAt, updatedBy }: KeyPolicy) {
  return {
    permissions: [...permissions],
    ...(updatedAt && { updatedAt: timestampFromDate(updatedAt) }),
    ...(updatedBy !== undefined && { updatedBy }),
  };
}
