// Provider credentials of an organization, workspace or project: address, settings and secrets. The
// secrets are encrypted and never shown again. Source: docs/decisions.md, 21.6, 34.2;
// docs/generations.md.

import { type Actor, describeActor } from "../../../base/actor.ts";
import { change, changeInside, type ChangeParts, isChange } from "../../../access/change.ts";
import type { ProjectScope, Scope } from "../../../access/scope.ts";
import { ServiceError } from "../../../base/errors.ts";
import { createUuid, isUuid } from "../../../base/ids.ts";
import type { Logger } from "../../../base/logger.ts";
import { type Page, type PageOptions, toPage } from "../../../base/pages.ts";
import { providerCredentialsMax } from "../../../base/tenant-limits.ts";
import type { Sql } from "../../../postgres/database.ts";
import type { AddressGuard } from "../../../base/address-guard.ts";
import { changeOf, nearest, type Owner, toOwner } from "../owner/owner.ts";
import { lockCount } from "../owner/store.ts";
import type { Connection, Secrets, Settings } from "../../provider.ts";
import type { EncryptionKeys } from "../../../access/encryption-keys.ts";
import { assertFields, parseName, parseProvider, secretsOf, settingsOf } from "./fields.ts";
import type { CredentialFields } from "./fields.ts";
import {
  assertNotMoved,
  keptOf,
  namesOf,
  openSecrets,
  sealAgain,
  sealAll,
  unreadable,
} from "./secrets.ts";
import * as store from "./store.ts";
import type { CredentialRow } from "./store.ts";

/** Credentials without their secrets. */
export type Credential = Omit<CredentialRow, "sealed">;

export type CreateCredentialOptions = {
  readonly scope: Scope;
  /** Defaults to the provider's name. */
  readonly name: string | undefined;
  readonly provider: string;
  readonly fields: CredentialFields;
  readonly actor: Actor;
};

export type UpdateCredentialOptions = {
  readonly scope: Scope;
  readonly id: string;
  /** Absent settings are removed; absent secrets are kept. */
  readonly fields: CredentialFields;
  readonly actor: Actor;
};

/** Each change is audited without secrets and announced to every server when it commits. */
export type Credentials = {
  /**
   * Stores credentials of a scope.
   *
   * Fails with INVALID_ARGUMENT naming the field, with NAME_TAKEN, with ENCRYPTION_KEY_ABSENT if
   * there are secrets but no encryption key, and with NOT_FOUND if the scope was archived.
   */
  create(options: CreateCredentialOptions): Promise<Credential>;
  /** Returns the credentials of this scope only, newest first. */
  list(scope: Scope, page: PageOptions): Promise<Page<Credential>>;
  /** Fails with NOT_FOUND if this scope itself has no credentials with the id. */
  get(scope: Scope, id: string): Promise<Credential>;
  /**
   * Replaces credentials except name and provider. Fails like `create` and `get`. If requests would
   * go to another place than before, every secret has to be given again.
   */
  update(options: UpdateCredentialOptions): Promise<Credential>;
  /** Deletes credentials and returns their last state. Fails like `get`. */
  delete(scope: Scope, id: string, actor: Actor): Promise<Credential>;
  /**
   * Returns the stored connections of a project: its own first, then its workspace's, then its
   * organization's; of equal names only the first. Contains secrets. A connection whose secrets
   * cannot be decrypted has the fault CREDENTIAL_UNREADABLE, which names it.
   */
  connectionsFor(project: ProjectScope): Promise<readonly Connection[]>;
};

export type CredentialsOptions = ChangeParts & {
  readonly keys: EncryptionKeys;
  /** Refuses addresses that credentials of tenants may not use. */
  readonly addressGuard: Pick<AddressGuard, "assertAllowed">;
  readonly logger: Pick<Logger, "error">;
};

/** Maximum ids whose fault is remembered, so that it is logged once and not with every call. */
const reportedMax = 1_000;

export function createCredentials(options: CredentialsOptions): Credentials {
  const { database, logger } = options;
  const reported = new Set<string>();

  function report(id: string, fault: unknown): void {
    if (reported.has(id)) return;
    if (reported.size >= reportedMax) reported.clear();
    reported.add(id);
    const { message } = fault as Error;
    logger.error({ credentialId: id, fault: message }, "provider credentials cannot be opened");
  }

  return {
    create: (credential) => create(options, credential),

    async list(scope, page) {
      const rows = await store.listCredentials(database.sql(), toOwner(scope), page);
      return toPage("provider-credentials", rows, page.limit);
    },

    get: (scope, id) => get(database.sql(), toOwner(scope), id),

    update: (asked) => update(options, asked),

    delete: (scope, id, actor) =>
      change(options, { scope, actor }, async (sql) => {
        const owner = toOwner(scope);
        const result = await get(sql, owner, id, "for update");
        await store.deleteCredential(sql, id);
        const before = stateOf(result);
        const audit = { action: "provider_credential.delete", targetId: id, before };
        return { result, audit, forget: changeOf(owner) };
      }),

    async connectionsFor(project) {
      const rows = await store.listUsable(database.sql(), project);
      return nearest(rows).map((row) => {
        try {
          return toConnection(row, openSecrets(options.keys, row));
        } catch (error) {
          report(row.id, error);
          return { ...toConnection(row, {}), fault: unreadable(row, error) };
        }
      });
    },
  };
}

async function create(
  options: CredentialsOptions,
  { scope, name: asked, provider: type, fields, actor }: CreateCredentialOptions,
): Promise<Credential> {
  const { keys } = options;
  const provider = parseProvider(type);
  const name = parseName(asked ?? provider);
  assertFields(provider, fields);
  const settings = settingsOf(fields);
  await assertAllowed(options, settings);
  return changeInside(options, { scope, actor }, async (sql, held) => {
    const owner = toOwner(held);
    if ((await lockCount(sql, "provider_credentials", owner)) >= providerCredentialsMax) {
      throw new ServiceError(
        "INVALID_ARGUMENT",
        `at most ${providerCredentialsMax} credentials a scope`,
      );
    }
    const id = createUuid();
    const binding = { ...settings, id, provider, level: owner.level, scopeId: owner.id };
    const written = { ...settings, id, ...sealAll(keys, secretsOf(fields), binding) };
    const createdBy = describeActor(actor);
    const row = { ...written, owner, name, provider, createdBy };
    if (!(await store.insertCredential(sql, row))) {
      const fault = "there are credentials of this name; change those, or choose another name";
      throw new ServiceError("NAME_TAKEN", `name: ${fault}`);
    }
    const result = await get(sql, owner, id);
    const after = stateOf(result);
    const audit = { action: "provider_credential.create", targetId: id, after };
    return { result, audit, forget: changeOf(owner) };
  });
}

async function update(
  options: CredentialsOptions,
  { scope, id, fields, actor }: UpdateCredentialOptions,
): Promise<Credential> {
  const { keys } = options;
  const known = await get(options.database.sql(), toOwner(scope), id);
  assertFields(known.provider, fields, keptOf(known, fields));
  const settings = settingsOf(fields);
  await assertAllowed(options, settings);
  return changeInside(options, { scope, actor }, async (sql, held) => {
    const owner = toOwner(held);
    const before = await get(sql, owner, id, "for update");
    // The kept secrets may have changed since the check without the lock.
    assertFields(before.provider, fields, keptOf(before, fields));
    assertNotMoved(before, settings, keptOf(before, fields));
    const seal = sealAgain(keys, { before, settings, fields });
    const after = stateOf({ ...before, ...settings, ...seal });
    const replaced = namesOf(secretsOf(fields));
    const audit = {
      action: "provider_credential.update",
      targetId: id,
      before: stateOf(before),
      after: { ...after, ...(replaced.length > 0 && { replaced_secrets: replaced }) },
    };
    if (isChange(audit)) await store.updateCredential(sql, { ...settings, id, ...seal });
    return { result: await get(sql, owner, id), audit, forget: changeOf(owner) };
  });
}

async function get(
  sql: Sql,
  owner: Owner,
  id: string,
  lock?: "for update",
): Promise<CredentialRow> {
  const row = isUuid(id) && (await store.findCredential(sql, owner, id, lock));
  if (!row) throw new ServiceError("NOT_FOUND", "no such provider credentials");
  return row;
}

async function assertAllowed(
  { addressGuard }: CredentialsOptions,
  { baseUrl }: Settings,
): Promise<void> {
  if (baseUrl !== null) await addressGuard.assertAllowed("base_url", baseUrl);
}

function toConnection(row: CredentialRow, secrets: Secrets): Connection {
  const { baseUrl, resourceName, apiVersion, region } = row;
  return {
    id: `${row.id} ${row.updatedAtUs}`,
    name: row.name,
    type: row.provider,
    baseUrl,
    resourceName,
    apiVersion,
    region,
    secrets,
    isOperators: false,
  };
}

function stateOf(row: Credential) {
  return {
    name: row.name,
    provider: row.provider,
    base_url: row.baseUrl,
    resource_name: row.resourceName,
    api_version: row.apiVersion,
    region: row.region,
    secrets: row.secretNames,
    encryption_key_id: row.encryptionKeyId,
  };
}
