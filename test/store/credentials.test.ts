// credentials.json beside its database: permissions of the first start's keys, and repairs by a
// later start.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { holds } from "../../src/access/authorize.ts";
import type { KeyPrincipal } from "../../src/access/principal.ts";
import { systemScope } from "../../src/access/scope.ts";
import { createUuid } from "../../src/base/ids.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import { credentialsPath, ensureCredentials } from "../../src/commands/credentials.ts";
import type { Credentials, CredentialsOutcome } from "../../src/commands/credentials.ts";
import { createLocalKeys } from "../../src/commands/local-access.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createTestDatabase } from "../support/database.ts";

let database: Database;
let dataFolder: string;

beforeEach(async () => {
  const own = await createTestDatabase();
  database = own.database;
  const folder = await mkdtemp(join(tmpdir(), "waggle-credentials-"));
  dataFolder = folder;
  onTestFinished(async () => {
    await own.drop();
    await rm(folder, { recursive: true });
  });
});

function start(): Promise<CredentialsOutcome> {
  return ensureCredentials(database, { dataFolder, url: "http://127.0.0.1:8080" });
}

async function readFileNow(): Promise<Credentials> {
  return JSON.parse(await readFile(credentialsPath(dataFolder), "utf8")) as Credentials;
}

function principalOf(key: string): Promise<KeyPrincipal> {
  return createLocalKeys(database).authenticate(`Bearer ${key}`);
}

const fields = ["control_plane_api_key", "data_plane_api_key"] as const;
const tester = { type: "operator", id: "t", name: "t" } as const;

describe("the first start's", () => {
  test("control plane key may do everything in its organization, and make others", async () => {
    await start();
    const credentials = await readFileNow();
    const principal = await principalOf(credentials.control_plane_api_key);
    const project = await createScopes(database).find("project", credentials.project_id);

    expect(principal).toMatchObject({ kind: "control_plane", root: { level: "org" } });
    expect(project && holds(principal, "project.fine_grained_api_key_dp.delete", project)).toBe(
      true,
    );
    expect(holds(principal, "system.org.create", systemScope)).toBe(true);
    expect(holds(principal, "system.org.delete", systemScope)).toBe(false);
  });

  test("data plane key makes keys and holds what charts need, and nothing else", async () => {
    await start();
    const credentials = await readFileNow();
    const principal = await principalOf(credentials.data_plane_api_key);
    const project = await createScopes(database).find("project", credentials.project_id);
    const isHeld = (permission: string) => project && holds(principal, permission, project);

    expect(principal).toMatchObject({ kind: "data_plane", root: { level: "org" } });
    expect(principal.expiresAtMs).toBeGreaterThan(Date.now() + 364 * 86_400_000);
    expect(isHeld("project.ingestion_api_key.post")).toBe(true);
    expect(isHeld("project.chart.post")).toBe(true);
    expect(isHeld("project.event.get")).toBe(false);
  });
});

describe("a later start", () => {
  test("leaves the file as it is while its keys are good", async () => {
    await start();
    const before = await readFileNow();

    const { remark } = await start();

    expect(await readFileNow()).toEqual(before);
    expect(remark).toBeUndefined();
  });

  test("adds the organization's keys to a file of a release that had none", async () => {
    await start();
    const { control_plane_api_key: _, data_plane_api_key: __, ...older } = await readFileNow();
    await writeFile(credentialsPath(dataFolder), JSON.stringify(older));

    const { remark } = await start();

    const after = await readFileNow();
    expect(after).toMatchObject(older);
    for (const field of fields) expect(await principalOf(after[field])).toBeDefined();
    expect(remark).toContain("control_plane_api_key and data_plane_api_key");
    expect(remark).not.toContain("hh_");
  });

  test.each([
    { name: "revoked", field: "control_plane_api_key", end: revoke },
    { name: "expired", field: "data_plane_api_key", end: expire },
  ] as const)("replaces the $field alone when it has $name", async ({ field, end }) => {
    await start();
    const before = await readFileNow();
    await end((await principalOf(before[field])).actor.id);

    await start();

    const after = await readFileNow();
    expect(after).toEqual({ ...before, [field]: after[field] });
    expect(after[field]).not.toBe(before[field]);
    expect(await principalOf(after[field])).toBeDefined();
  });

  test("replaces ended keys although the organization's policy has been narrowed", async () => {
    await start();
    const before = await readFileNow();
    await database.sql()`
      insert into api_key_policies (org_id, permissions, updated_by)
      values (${before.org_id}, '{project.event.*}', 'test')`;
    await revoke((await principalOf(before.data_plane_api_key)).actor.id);

    await start();

    expect((await readFileNow()).data_plane_api_key).not.toBe(before.data_plane_api_key);
  });

  test("without the file makes no keys where several projects have the name", async () => {
    const { credentials } = await start();
    await createProject(credentials?.dataplane_id, "demo");
    await rm(credentialsPath(dataFolder));

    const later = await start();

    expect(later).toEqual({
      credentials: undefined,
      remark: expect.stringMatching(/^several projects are named demo; .* by its id/) as string,
    });
  });

  test("finds its project by the id, also where another is so named", async () => {
    const { credentials } = await start();
    await createProject(credentials?.dataplane_id, String(credentials?.project_id));

    expect(await start()).toEqual({ credentials, remark: undefined });
  });

  /** Creates a project in a workspace of its own. */
  async function createProject(dataplaneId: string | undefined, name: string): Promise<void> {
    const workspaceId = createUuid();
    const sql = database.sql();
    await sql`
      insert into workspaces (workspace_id, dataplane_id, name)
      values (${workspaceId}, ${String(dataplaneId)}, 'other')`;
    await sql`
      insert into projects (project_id, workspace_id, name)
      values (gen_random_uuid(), ${workspaceId}, ${name})`;
  }

  async function revoke(keyId: string): Promise<void> {
    await createLocalKeys(database).revoke(keyId, {}, tester);
  }

  async function expire(keyId: string): Promise<void> {
    await database.sql()`
      update api_keys set expires_at = now() - interval '1 second' where key_id = ${keyId}`;
  }
});
