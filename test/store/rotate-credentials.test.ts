// Rotation of the encryption keys on a real database: secrets that are sealed again, secrets that
// are left, and recovery after an interruption.

import type { Actor } from "../../src/base/actor.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAudit } from "../../src/access/audit/audit.ts";
import type { Audit } from "../../src/access/audit/audit.ts";
import type { ProjectScope } from "../../src/access/scope.ts";
import type { EncryptionKey } from "../../src/config.ts";
import { createUuid } from "../../src/base/ids.ts";
import { createEncryptionKeys } from "../../src/access/encryption-keys.ts";
import { rotateSecrets } from "../../src/access/rotate-secrets.ts";
import { credentialSecrets } from "../../src/generation/connections/credentials/secrets.ts";
import { openSecrets, putTargets, targetSecrets } from "../../src/notifications/sealed-targets.ts";
import { findTargets } from "../../src/notifications/store.ts";
import { anEncryptionKey, createTestCredentials } from "../support/credentials.ts";
import { createTestDatabase } from "../support/database.ts";
import type { TestDatabase } from "../support/database.ts";
import { scopeOfProject } from "../support/keys.ts";
import { givenAProject } from "../support/project.ts";

const [older, newer, unused] = [
  anEncryptionKey("older"),
  anEncryptionKey("newer"),
  anEncryptionKey("unused"),
];
const actor: Actor = { type: "operator", id: "t", name: "tester" };

let own: TestDatabase;
let project: ProjectScope;
beforeEach(async () => {
  own = await createTestDatabase();
  const local = await givenAProject(own.database);
  project = { ...scopeOfProject(local), ...local, clusterId: "default" };
});
afterEach(() => own.drop());

function credentialsUnder(...keys: readonly EncryptionKey[]) {
  return createTestCredentials(own.database, { keys }).credentials;
}

/** Stores credentials of these names, each with its name for a secret, and returns their ids. */
async function given(key: EncryptionKey, names: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const fields = { api_key: `key-of-${name}` };
    const made = { scope: project, name, provider: "openai", fields, actor };
    ids.push((await credentialsUnder(key).create(made)).id);
  }
  return ids;
}

function rotateUnder(
  keys: readonly EncryptionKey[],
  audit: Pick<Audit, "append"> = createAudit(own.database),
) {
  const { database } = own;
  const tables = [credentialSecrets, targetSecrets];
  const options = { database, tables, keys: createEncryptionKeys(keys), audit, actor };
  return rotateSecrets({ ...options, batchMax: 2 });
}

async function secretsUnder(...keys: readonly EncryptionKey[]) {
  const all = await credentialsUnder(...keys).connectionsFor(project);
  return all.map(({ name, secrets }) => `${name} ${secrets.api_key}`).toSorted();
}

const names = ["a", "b", "c", "d", "e"];
const secrets = names.map((name) => `${name} key-of-${name}`);

describe("rotate", () => {
  test("seals everything under the first key, and changes nothing else", async () => {
    await given(older, names);
    const open = { base_url: "https://models.example.org" };
    const local = { scope: project, name: "open", provider: "openai_compatible", actor };
    await credentialsUnder().create({ ...local, fields: open });
    const before = await credentialsUnder(older).connectionsFor(project);

    const report = await rotateUnder([newer, older]);

    const uses = [{ keyId: "newer", count: 5 }];
    expect(report).toEqual({ keyId: "newer", resealed: 5, unopened: [], uses });
    expect(await credentialsUnder(newer).connectionsFor(project)).toEqual(before);
    const [row] = await own.database.sql()<{ after: unknown }[]>`
      select after from audit_log where action = 'provider_credential.rotate'`;
    expect(row?.after).toEqual({ credentials: 2 });
  });

  test("seals the secrets of notification targets too", async () => {
    await given(older, ["a"]);
    const key = { projectId: project.projectId, ownerId: createUuid() };
    const origin = "https://hooks.example.org";
    const urls = { critical: `${origin}/a` };
    const checked = { targets: { critical: { channel: "WEBHOOK", origin } }, urls } as const;
    const sql = own.database.sql();
    const [before, after] = [createEncryptionKeys([older]), createEncryptionKeys([newer])];
    const { newSecret } = await putTargets({ sql, keys: before }, key, { checked });

    const report = await rotateUnder([newer, older]);

    expect(report).toMatchObject({ resealed: 2, uses: [{ keyId: "newer", count: 2 }] });
    const row = await findTargets(sql, key);
    expect(row && openSecrets(after, row)).toEqual({ signingSecret: newSecret, urls });
    expect(row?.targets).toEqual(checked.targets);
  });

  test("finds nothing to do the second time", async () => {
    await given(older, names);
    await rotateUnder([newer, older]);

    const report = await rotateUnder([newer]);

    expect(report).toMatchObject({ resealed: 0, unopened: [] });
  });

  test("refuses keys it does not know by name, and changes nothing then", async () => {
    await given(older, ["a"]);
    await given(unused, ["b", "c"]);

    const rotated = rotateUnder([newer, older]);

    await expect(rotated).rejects.toThrow(
      "sealed under keys that WAGGLE_ENCRYPTION_KEYS does not name: unused (2)",
    );
    expect(await secretsUnder(older, unused)).toEqual(secrets.slice(0, 3));
    await expect(rotateUnder([])).rejects.toThrow("set WAGGLE_ENCRYPTION_KEYS");
  });

  test("cut off, keeps what was done and goes on from there", async () => {
    await given(older, names);
    const audit = createAudit(own.database);
    let batches = 0;
    const failing: Pick<Audit, "append"> = {
      async append(change) {
        batches += 1;
        if (batches === 2) throw new Error("cut off");
        await audit.append(change);
      },
    };

    await expect(rotateUnder([newer, older], failing)).rejects.toThrow("cut off");
    const between = await secretsUnder(newer, older);
    const report = await rotateUnder([newer, older]);

    expect(between).toEqual(secrets);
    expect(report).toMatchObject({ resealed: 3, uses: [{ keyId: "newer", count: 5 }] });
    expect(await secretsUnder(newer)).toEqual(secrets);
  });

  test("leaves and names what does not open, and seals the rest", async () => {
    const ids = await given(older, names);
    await own.database.sql()`
      update provider_credentials set base_url = 'https://thief.example.org'
      where credential_id = ${ids[1] ?? ""}`;

    const report = await rotateUnder([newer, older]);

    expect(report).toEqual({
      keyId: "newer",
      resealed: 4,
      unopened: [
        { noun: "credentials", id: ids[1], fault: "the encryption key older does not open them" },
      ],
      uses: [
        { keyId: "newer", count: 4 },
        { keyId: "older", count: 1 },
      ],
    });
  });

  test("loses no change that is made meanwhile", async () => {
    const ids = await given(older, names);
    const credentials = credentialsUnder(older, newer);
    const changes = ids.map((id, index) =>
      credentials.update({ scope: project, id, fields: { api_key: `new-${index}` }, actor }),
    );

    await Promise.all([rotateUnder([newer, older]), ...changes]);
    await rotateUnder([newer, older]);

    expect(await secretsUnder(newer)).toEqual(names.map((name, index) => `${name} new-${index}`));
  });

  test("by two at the same time seals everything once", async () => {
    await given(older, names);

    const reports = await Promise.all([rotateUnder([newer, older]), rotateUnder([newer, older])]);

    expect(reports.map(({ resealed }) => resealed).reduce((sum, one) => sum + one)).toBe(5);
    expect(await secretsUnder(newer)).toEqual(secrets);
  });
});
