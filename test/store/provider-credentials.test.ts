// Provider credentials on a real database: owners, stored columns, and fields that a change
// requires.

import type { Actor } from "../../src/base/actor.ts";
import { beforeAll, describe, expect, test } from "vitest";
import type { ProjectScope, Scope } from "../../src/access/scope.ts";
import { ServiceError } from "../../src/base/errors.ts";
import { createUuid } from "../../src/base/ids.ts";
import type { EncryptionKey } from "../../src/config.ts";
import { parsePageOptions } from "../../src/base/pages.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import type {
  Credential,
  Credentials,
} from "../../src/generation/connections/credentials/credentials.ts";
import type { CredentialFields } from "../../src/generation/connections/credentials/fields.ts";
import type { Connection } from "../../src/generation/provider.ts";
import { anEncryptionKey, createTestCredentials } from "../support/credentials.ts";
import { givenTestDatabase } from "../support/database.ts";
import { scopeOfOrg, scopeOfProject } from "../support/keys.ts";
import { givenAProject } from "../support/project.ts";
import { reasonOf } from "../support/reason.ts";

const key = anEncryptionKey("main");
const actor: Actor = { type: "operator", id: "t", name: "tester" };
const aws = { region: "us-east-1", access_key_id: "AKIA-1", secret_access_key: "s3cret-1" };

const own = givenTestDatabase();
let credentials: Credentials;
/** What servers were told to forget, in order. */
const heard: string[] = [];
beforeAll(async () => {
  const made = createTestCredentials(own.database, { keys: [key] });
  credentials = made.credentials;
  made.changes.onForget((subject) => heard.push(subject));
});

type Tenant = {
  readonly project: ProjectScope;
  readonly workspace: Scope;
  readonly org: Scope;
};

async function givenATenant(): Promise<Tenant> {
  return toTenant(await givenAProject(own.database));
}

function toTenant(local: LocalProject): Tenant {
  const { orgId, dataplaneId, workspaceId } = local;
  const above = { orgId, dataplaneId, workspaceId };
  return {
    project: {
      ...scopeOfProject(local),
      ...above,
      projectId: local.projectId,
      clusterId: "default",
    },
    workspace: { level: "workspace", id: workspaceId, name: "w", ...above },
    org: scopeOfOrg(local),
  };
}

function withKeys(...keys: readonly EncryptionKey[]): Credentials {
  return createTestCredentials(own.database, { keys }).credentials;
}

type Given = { readonly name?: string; readonly provider?: string } & CredentialFields;

function create(scope: Scope, { name, provider = "openai", ...given }: Given) {
  const fields = provider === "openai" ? { api_key: "sk-1", ...given } : given;
  return credentials.create({ scope, name, provider, fields, actor });
}

function update(scope: Scope, { id }: Credential, fields: CredentialFields) {
  return credentials.update({ scope, id, fields, actor });
}

async function connectionOf(project: ProjectScope, name: string): Promise<Connection | undefined> {
  return (await credentials.connectionsFor(project)).find((one) => one.name === name);
}

/** Everything that the database holds of credentials, of changes and of the audit log, as text. */
async function storedText(): Promise<string> {
  const rows = await own.database.sql()<{ text: string }[]>`
    select row_to_json(provider_credentials)::text || encode(sealed, 'escape') as text
    from provider_credentials
    union all select row_to_json(audit_log)::text from audit_log
    union all select row_to_json(access_changes)::text from access_changes`;
  return rows.map(({ text }) => text).join("\n");
}

describe("connectionsFor", () => {
  test("tells how a provider is reached, with its secrets", async () => {
    const { project } = await givenATenant();
    const base = { base_url: "https://models.example.org/v1/" };
    await create(project, { name: "ours", provider: "openai_compatible", api_key: "k", ...base });
    await create(project, { name: "aws", provider: "bedrock", ...aws, session_token: "t" });
    await create(project, {
      provider: "azure",
      api_key: "z",
      resource_name: "r",
      api_version: "v",
    });

    const got = await credentials.connectionsFor(project);

    const none = {
      baseUrl: null,
      resourceName: null,
      apiVersion: null,
      region: null,
      id: expect.any(String) as string,
      isOperators: false,
    };
    const { region, ...secrets } = aws;
    expect(got).toEqual([
      {
        ...none,
        name: "ours",
        type: "openai_compatible",
        secrets: { api_key: "k" },
        baseUrl: "https://models.example.org/v1",
      },
      {
        ...none,
        name: "aws",
        type: "bedrock",
        region,
        secrets: { ...secrets, session_token: "t" },
      },
      {
        ...none,
        name: "azure",
        type: "azure",
        secrets: { api_key: "z" },
        resourceName: "r",
        apiVersion: "v",
      },
    ]);
  });

  test("puts the project's before the workspace's before the organization's", async () => {
    const { project, workspace, org } = await givenATenant();
    await create(org, { api_key: "of-org" });
    await create(org, { name: "far", api_key: "of-org" });
    await create(workspace, { api_key: "of-workspace" });
    await create(workspace, { name: "middle", api_key: "of-workspace" });
    await create(project, { api_key: "of-project" });

    const got = await credentials.connectionsFor(project);

    expect(got.map(({ name, secrets }) => `${name} ${secrets.api_key}`)).toEqual([
      "openai of-project",
      "middle of-workspace",
      "far of-org",
    ]);
  });

  test("finds nothing of another tenant, nor of a project beside", async () => {
    const { project, workspace, org } = await givenATenant();
    const other = await givenATenant();
    const beside = { ...project, id: createUuid(), projectId: createUuid() } as ProjectScope;
    for (const scope of [project, workspace, org]) await create(scope, { name: scope.level });

    const got = await Promise.all(
      [other.project, beside].map((one) => credentials.connectionsFor(one)),
    );

    expect(got.map((all) => all.map(({ name }) => name))).toEqual([[], ["workspace", "org"]]);
  });

  test("changes a connection's id with each change, and else keeps it", async () => {
    const { project } = await givenATenant();
    const made = await create(project, {});

    const ids = [(await connectionOf(project, "openai"))?.id];
    ids.push((await connectionOf(project, "openai"))?.id);
    await update(project, made, { api_key: "sk-2" });
    ids.push((await connectionOf(project, "openai"))?.id);

    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
    expect(ids[2]).toContain(made.id);
  });
});

describe("create", () => {
  test("names them after their provider unless it is told a name", async () => {
    const { project } = await givenATenant();

    const made = [await create(project, {}), await create(project, { name: "openai-2" })];

    expect(made.map(({ name }) => name)).toEqual(["openai", "openai-2"]);
    expect(made[0]).toMatchObject({
      provider: "openai",
      level: "project",
      scopeId: project.id,
      createdBy: "tester",
      secretNames: ["api_key"],
      encryptionKeyId: "main",
      baseUrl: null,
    });
  });

  test("refuses a name that the scope has, and takes it in another", async () => {
    const { project, workspace } = await givenATenant();
    await create(project, {});

    const [again, elsewhere] = [create(project, {}), create(workspace, {})];

    expect(await reasonOf(again)).toMatch(/^NAME_TAKEN name: there are credentials of this name/);
    expect(await reasonOf(elsewhere)).toBe("none");
  });

  test("of one name at the same time makes one", async () => {
    const { project } = await givenATenant();

    const got = await Promise.all([1, 2, 3, 4].map(() => reasonOf(create(project, {}))));

    expect(got.filter((reason) => reason === "none")).toHaveLength(1);
    expect(got.filter((reason) => reason.startsWith("NAME_TAKEN"))).toHaveLength(3);
  });

  test("stores at most a hundred in a scope, however many come at a time", async () => {
    const { project } = await givenATenant();
    const sql = own.database.sql();
    await sql`
      insert into provider_credentials (
        credential_id, project_id, name, provider, secret_names, created_by
      )
      select gen_random_uuid(), ${project.id}, 'n' || number, 'openai', '{}', 'test'
      from generate_series(1, 98) as number`;

    const names = ["a", "b", "c", "d"];
    const got = await Promise.all(names.map((name) => reasonOf(create(project, { name }))));

    expect(got.filter((reason) => reason === "none")).toHaveLength(2);
    expect(got.filter((reason) => reason.includes("at most 100 credentials"))).toHaveLength(2);
  });

  test("without a key stores none with secrets, and says what is missing", async () => {
    const { project } = await givenATenant();
    const unsealed = withKeys();
    const open = { base_url: "https://models.example.org" };
    const common = { scope: project, name: undefined, actor };

    const refused = unsealed.create({ ...common, provider: "openai", fields: { api_key: "k" } });
    const reason = await reasonOf(refused);
    await unsealed.create({ ...common, provider: "openai_compatible", fields: open });

    expect(reason).toMatch(/^ENCRYPTION_KEY_ABSENT .*WAGGLE_ENCRYPTION_KEYS/);
    const got = await credentials.connectionsFor(project);
    expect(got.map(({ name, secrets }) => [name, secrets])).toEqual([["openai_compatible", {}]]);
  });

  test("asks whether an address is allowed, and stores nothing when it is not", async () => {
    const { project } = await givenATenant();
    const asked: string[] = [];
    const guarded = createTestCredentials(own.database, {
      keys: [key],
      addressGuard: {
        assertAllowed(_field, url) {
          asked.push(url);
          return Promise.reject(new ServiceError("INVALID_ARGUMENT", "base_url: is private"));
        },
      },
    }).credentials;
    const made = await create(project, { base_url: "https://models.example.org" });
    const fields = { api_key: "k", base_url: "http://10.0.0.1/v1" };

    const refused = [
      await reasonOf(
        guarded.create({ scope: project, name: "b", provider: "openai", fields, actor }),
      ),
      await reasonOf(guarded.update({ scope: project, id: made.id, fields, actor })),
    ];

    expect(refused).toEqual(Array(2).fill("INVALID_ARGUMENT base_url: is private"));
    expect(asked).toEqual(Array(2).fill("http://10.0.0.1/v1"));
    const got = await credentials.connectionsFor(project);
    expect(got.map(({ baseUrl }) => baseUrl)).toEqual(["https://models.example.org"]);
  });

  test("in a scope that was archived meanwhile stores nothing", async () => {
    const { project, org } = await givenATenant();
    await own.database.sql()`
      update organizations set archived_at = now() where org_id = ${org.id}`;

    expect(await reasonOf(create(project, {}))).toMatch(/^NOT_FOUND/);
  });
});

describe("list and get", () => {
  test("show those of the very scope, the newest first, in pages", async () => {
    const { project, org } = await givenATenant();
    for (const name of ["a", "b", "c", "d", "e"]) await create(project, { name });
    await create(org, { name: "of-org" });

    const pages: string[][] = [];
    for (let cursor: string | undefined; pages.length < 5;) {
      const page = await credentials.list(
        project,
        parsePageOptions("provider-credentials", { limit: 2, cursor }),
      );
      pages.push(page.items.map(({ name }) => name));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }

    expect(pages).toEqual([["e", "d"], ["c", "b"], ["a"]]);
  });

  test("find none by another scope, nor by an id that is none", async () => {
    const { project, org, workspace } = await givenATenant();
    const other = await givenATenant();
    const made = await create(org, {});
    const strangers = [project, workspace, other.org, other.project];

    for (const scope of strangers) {
      const got = [
        await reasonOf(credentials.get(scope, made.id)),
        await reasonOf(update(scope, made, { api_key: "stolen" })),
        await reasonOf(credentials.delete(scope, made.id, actor)),
      ];
      expect(got).toEqual(Array(3).fill("NOT_FOUND no such provider credentials"));
    }
    for (const id of ["", "x\0", createUuid()]) {
      const got = [
        await reasonOf(credentials.get(org, id)),
        await reasonOf(credentials.delete(org, id, actor)),
      ];
      expect(got).toEqual(Array(2).fill("NOT_FOUND no such provider credentials"));
    }
    expect((await connectionOf(project, "openai"))?.secrets).toEqual({ api_key: "sk-1" });
  });
});

describe("update", () => {
  test("keeps secrets that are absent, and removes settings that are", async () => {
    const { project } = await givenATenant();
    const fields = { resource_name: "ours", api_version: "v1" };
    const made = await create(project, { provider: "azure", api_key: "k", ...fields });

    const changed = await update(project, made, { resource_name: "ours" });

    expect(changed).toMatchObject({ apiVersion: null, secretNames: ["api_key"] });
    expect(changed.updatedAtUs).toBeGreaterThan(made.updatedAtUs);
    expect(await connectionOf(project, "azure")).toMatchObject({
      apiVersion: null,
      resourceName: "ours",
      secrets: { api_key: "k" },
    });
  });

  test.each<{ name: string; given: Given; change: CredentialFields; want: string }>([
    {
      name: "another address",
      given: { base_url: "https://a.example.org" },
      change: { base_url: "https://b.example.org" },
      want: "base_url: requests would go elsewhere than before, so give api_key again",
    },
    {
      name: "the provider's own address",
      given: { base_url: "https://a.example.org" },
      change: {},
      want: "base_url: requests would go elsewhere",
    },
    {
      name: "an address of one's own",
      given: {},
      change: { base_url: "https://a.example.org" },
      want: "base_url: requests would go elsewhere",
    },
    {
      name: "another resource",
      given: { provider: "azure", api_key: "k", resource_name: "a" },
      change: { resource_name: "b" },
      want: "resource_name: requests would go elsewhere",
    },
    {
      name: "another region with part of the secrets",
      given: { provider: "bedrock", ...aws, session_token: "t" },
      change: { region: "eu-west-1", secret_access_key: "s" },
      want: "so give access_key_id, session_token again",
    },
  ])("to $name asks for every secret again", async ({ given, change, want }) => {
    const { project } = await givenATenant();
    const made = await create(project, given);

    const got = await reasonOf(update(project, made, change));

    expect(got).toContain(`INVALID_ARGUMENT ${want.startsWith("so") ? "region: " : want}`);
    expect(got).toContain(want);
    expect(await credentials.get(project, made.id)).toEqual(made);
  });

  test("goes elsewhere with secrets that are given again", async () => {
    const { project } = await givenATenant();
    const made = await create(project, { base_url: "https://a.example.org" });

    await update(project, made, { base_url: "https://b.example.org", api_key: "sk-2" });

    expect(await connectionOf(project, "openai")).toMatchObject({
      baseUrl: "https://b.example.org",
      secrets: { api_key: "sk-2" },
    });
  });

  test("with another access key forgets the session token of the one before", async () => {
    const { project } = await givenATenant();
    const made = await create(project, { provider: "bedrock", ...aws, session_token: "t" });

    const refused = await reasonOf(
      update(project, made, { region: "us-east-1", access_key_id: "AKIA-2" }),
    );
    await update(project, made, { ...aws, access_key_id: "AKIA-2", secret_access_key: "s2" });

    expect(refused).toBe("INVALID_ARGUMENT secret_access_key: bedrock needs it");
    const secrets = { access_key_id: "AKIA-2", secret_access_key: "s2" };
    expect((await connectionOf(project, "bedrock"))?.secrets).toEqual(secrets);
  });

  test("of different secrets at the same time keeps both", async () => {
    const { project } = await givenATenant();
    const made = await create(project, { provider: "bedrock", ...aws, session_token: "t" });
    const { region } = aws;

    await Promise.all([
      update(project, made, { region, session_token: "t2" }),
      update(project, made, { region, secret_access_key: "s2" }),
    ]);

    expect((await connectionOf(project, "bedrock"))?.secrets).toEqual({
      access_key_id: "AKIA-1",
      secret_access_key: "s2",
      session_token: "t2",
    });
  });
});

describe("what is written down", () => {
  test("holds no secret: neither the row nor the audit log nor what servers hear", async () => {
    const { project, org } = await givenATenant();
    const secrets = ["visible-1", "visible-2", "visible-3", "visible-4"] as const;
    const [first, second, third, fourth] = secrets;
    const made = await create(project, { api_key: first });
    await update(project, made, { api_key: second });
    await create(org, {
      provider: "bedrock",
      region: "us-east-1",
      access_key_id: third,
      secret_access_key: fourth,
    });
    await reasonOf(create(project, { api_key: first }));
    await credentials.delete(project, made.id, actor);

    const text = await storedText();

    expect(text).toContain("provider_credential.update");
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    const forms = secrets.flatMap((secret) => {
      const bytes = Buffer.from(secret);
      return [bytes.toString("base64").slice(0, 11), bytes.toString("hex")];
    });
    expect(forms.filter((form) => text.includes(form))).toEqual([]);
  });

  test("is each change, with what was before and after", async () => {
    const { project } = await givenATenant();
    const made = await create(project, {});
    await update(project, made, { api_key: "sk-2", base_url: "https://a.example.org" });
    await credentials.delete(project, made.id, actor);

    const rows = await own.database.sql()<{ action: string; before: unknown; after: unknown }[]>`
      select action, before, after from audit_log where target_id = ${made.id} order by sequence`;

    const state = { name: "openai", provider: "openai", base_url: null, secrets: ["api_key"] };
    const moved = { ...state, base_url: "https://a.example.org" };
    expect(rows.map(({ action, before, after }) => [action, before, after])).toMatchObject([
      ["provider_credential.create", null, state],
      ["provider_credential.update", state, { ...moved, replaced_secrets: ["api_key"] }],
      ["provider_credential.delete", moved, null],
    ]);
  });

  test("is heard of by every server as it commits, and what failed is not", async () => {
    const { project, org } = await givenATenant();
    const before = heard.length;
    const made = await create(project, {});
    await reasonOf(create(project, {}));
    await update(project, made, { api_key: "sk-2" });
    await create(org, {});
    await credentials.delete(project, made.id, actor);

    const changed = [project, project, org, project].map(({ id }) => `providers:${id}`);
    expect(heard.slice(before)).toEqual(changed);
  });
});

/** Reason and words of the fault of the only connection; `none` without one. */
async function faultOf(connections: Promise<readonly Connection[]>): Promise<string> {
  const [first] = await connections;
  return first?.fault ? `${first.fault.reason} ${first.fault.message}` : "none";
}

describe("credentials that cannot be opened", () => {
  test("are named to the caller and in the log, and new secrets put them right", async () => {
    const { project } = await givenATenant();
    const lines: unknown[] = [];
    const { credentials: others } = createTestCredentials(own.database, {
      keys: [anEncryptionKey("other")],
      logger: { error: (...words: unknown[]) => void lines.push(words) },
    });
    const made = await create(project, { api_key: "sk-hidden" });

    const got = [
      await faultOf(others.connectionsFor(project)),
      await faultOf(others.connectionsFor(project)),
    ];
    await others.update({ scope: project, id: made.id, fields: { api_key: "sk-new" }, actor });
    const mended = await others.connectionsFor(project);

    const whose = `CREDENTIAL_UNREADABLE provider credentials openai (${made.id}) of the project`;
    for (const reason of got) {
      expect(reason).toContain(`${whose} cannot be opened: no encryption key main is configured`);
    }
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain(made.id);
    expect(JSON.stringify([lines, got])).not.toContain("hidden");
    expect(mended.map(({ secrets }) => secrets)).toEqual([{ api_key: "sk-new" }]);
  });

  test.each([
    {
      name: "sent elsewhere",
      tamper: (id: string) => own.database.sql()`
        update provider_credentials set base_url = 'https://thief.example.org'
        where credential_id = ${id}`,
    },
    {
      name: "moved to another tenant",
      tamper: (id: string, thief: string) => own.database.sql()`
        update provider_credentials set project_id = ${thief} where credential_id = ${id}`,
    },
    {
      name: "made another provider's",
      tamper: (id: string) => own.database.sql()`
        update provider_credentials set provider = 'openai_compatible'
        where credential_id = ${id}`,
    },
    {
      name: "overwritten",
      tamper: (id: string) => own.database.sql()`
        update provider_credentials set sealed = '\\x00' where credential_id = ${id}`,
    },
  ])("because their row was $name are used by nobody", async ({ tamper }) => {
    const { project } = await givenATenant();
    const thief = await givenATenant();
    const made = await create(project, {});
    await tamper(made.id, thief.project.id);

    const got = await Promise.all(
      [project, thief.project].map((one) => faultOf(credentials.connectionsFor(one))),
    );

    expect(got.filter((reason) => reason.includes("main does not open them"))).toHaveLength(1);
    expect(got.filter((reason) => reason === "none")).toHaveLength(1);
  });

  test("keep nobody from others of their name that go before them", async () => {
    const { project, org } = await givenATenant();
    const made = await create(org, { api_key: "of-org" });
    await own.database.sql()`
      update provider_credentials set sealed = '\\x00' where credential_id = ${made.id}`;

    const before = await faultOf(credentials.connectionsFor(project));
    await create(project, { api_key: "of-project" });

    expect(before).toMatch(/^CREDENTIAL_UNREADABLE .* of the org cannot be opened/);
    expect((await connectionOf(project, "openai"))?.secrets).toEqual({ api_key: "of-project" });
  });
});
