// ProviderCredentialService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  CreateProviderCredentialRequest,
  ProviderCredentialSchema,
  ProviderCredentialService,
  UpdateProviderCredentialRequest,
} from "../../../../gen/waggle/v1/provider_credential_pb.js";
import { parsePageOptions, toPageAnswer } from "../../../base/pages.ts";
import { actorOf, scopeOf } from "../../../access/call.ts";
import type { Credential, Credentials } from "./credentials.ts";
import type { CredentialFields } from "./fields.ts";

export function providerCredentialHandlers(
  credentials: Credentials,
): ServiceImpl<typeof ProviderCredentialService> {
  return {
    async createProviderCredential(request, context) {
      const { name, provider } = request;
      const caller = { scope: scopeOf(context), actor: actorOf(context) };
      const fields = toFields(request);
      const made = await credentials.create({ ...caller, name, provider, fields });
      return { success: true, data: toMessage(made) };
    },
    async listProviderCredentials(request, context) {
      const page = await credentials.list(
        scopeOf(context),
        parsePageOptions("provider-credentials", request),
      );
      return toPageAnswer(page, toMessage);
    },
    async getProviderCredential({ credentialId }, context) {
      const found = await credentials.get(scopeOf(context), credentialId);
      return { success: true, data: toMessage(found) };
    },
    async updateProviderCredential(request, context) {
      const caller = { scope: scopeOf(context), actor: actorOf(context) };
      const change = { id: request.credentialId, fields: toFields(request) };
      const changed = await credentials.update({ ...caller, ...change });
      return { success: true, data: toMessage(changed) };
    },
    async deleteProviderCredential({ credentialId }, context) {
      const deleted = await credentials.delete(scopeOf(context), credentialId, actorOf(context));
      return { success: true, data: toMessage(deleted) };
    },
  };
}

function toFields(
  request: CreateProviderCredentialRequest | UpdateProviderCredentialRequest,
): CredentialFields {
  return {
    base_url: request.baseUrl,
    resource_name: request.resourceName,
    api_version: request.apiVersion,
    region: request.region,
    api_key: request.apiKey,
    access_key_id: request.accessKeyId,
    secret_access_key: request.secretAccessKey,
    session_token: request.sessionToken,
  };
}

function toMessage(credential: Credential): MessageInitShape<typeof ProviderCredentialSchema> {
  const { baseUrl, resourceName, apiVersion, region } = credential;
  return {
    credentialId: credential.id,
    name: credential.name,
    provider: credential.provider,
    ...(baseUrl !== null && { baseUrl }),
    ...(resourceName !== null && { resourceName }),
    ...(apiVersion !== null && { apiVersion }),
    ...(region !== null && { region }),
    secrets: [...credential.secretNames],
    encryptionKeyId: credential.encryptionKeyId ?? "",
    scopeType: credential.level,
    scopeId: credential.scopeId,
    createdAt: timestampFromDate(credential.createdAt),
    createdBy: credential.createdBy,
    updatedAt: timestampFromDate(credential.updatedAt),
  };
}
