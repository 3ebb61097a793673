// Provider credentials and model aliases over the whole service: answers, refusals, and a search
// that finds no stored secret in any answer or log. access.test.ts tests permissions.

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { ProviderCredentialService } from "../../gen/waggle/v1/provider_credential_pb.js";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { anEncryptionKey } from "../support/credentials.ts";
import { givenAProject } from "../support/project.ts";
import { startService } from "../support/service.ts";
import { type Tenant, withKey } from "../support/tenants.ts";

const key = anEncryptionKey("main");
const service = givenStarted(() => startService({ "encryption-keys": key.text }));

type Answer = {
  readonly status: number;
  readonly text: string;
  readonly json: { readonly data?: Record<string, unknown>; readonly message?: string };
};

/** Calls with a key of the organization; paths begin at the project unless they begin with `/`. */
async function call(tenant: Tenant, method: string, path: string, body?: unknown): Promise<Answer> {
  const { database, url } = service;
  const credential = await withKey(database, tenant, { kind: "control_plane", root: "org" });
  const whole = path.startsWith("/") ? path : `/v1/projects/${tenant.projectId}/${path}`;
  return callRoute({ url, headers: credential }, `${method} ${whole}`, body);
}

function givenATenant(): Promise<Tenant> {
  return givenAProject(service.database);
}

async function idOf(made: Promise<Answer>): Promise<string> {
  return String((await made).json.data?.["credential_id"]);
}

describe("provider_credentials", () => {
  test("are made, read, changed and deleted, and never show a secret", async () => {
    const tenant = await givenATenant();
    const secrets = ["s3cret-first", "s3cret-second"] as const;
    const body = { name: "ours", provider: "openai", base_url: "https://93.184.215.14/v1/" };

    const made = await call(tenant, "POST", "provider_credentials", {
      ...body,
      api_key: secrets[0],
    });
    const path = `provider_credentials/${String(made.json.data?.["credential_id"])}`;
    const answers = [
      made,
      await call(tenant, "GET", path),
      await call(tenant, "GET", "provider_credentials"),
      await call(tenant, "PUT", path, { base_url: body.base_url, api_key: secrets[1] }),
      await call(tenant, "DELETE", path),
      await call(tenant, "GET", path),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 404]);
    expect(made.json.data).toEqual({
      credential_id: expect.any(String) as string,
      name: "ours",
      provider: "openai",
      base_url: "https://93.184.215.14/v1",
      secrets: ["api_key"],
      encryption_key_id: "main",
      scope_type: "project",
      scope_id: tenant.projectId,
      created_at: expect.any(String) as string,
      created_by: expect.stringMatching(/^key a key \(/) as string,
      updated_at: expect.any(String) as string,
    });
    for (const { text } of answers) {
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    }
  });

  test.each([
    { body: {}, want: "provider" },
    { body: { provider: "openrouter" }, want: "provider: must be one of openai, azure," },
    { body: { provider: "openai" }, want: "api_key: openai needs it" },
    { body: { provider: "openai", api_key: 1 }, want: "api_key" },
    { body: { provider: "openai", api_key: "k", apikey: "s3cret" }, want: "apikey" },
    { body: { provider: "openai", api_key: "k", name: "A b" }, want: "name: must be 1 to 64" },
    {
      body: { provider: "openai_compatible", base_url: "http://127.0.0.1:11434/v1" },
      want: "base_url: ",
    },
    {
      body: { provider: "openai_compatible", base_url: "http://169.254.169.254/latest" },
      want: "base_url: ",
    },
    {
      body: { provider: "openai_compatible", base_url: "http://[::ffff:10.0.0.1]/" },
      want: "base_url: ",
    },
    {
      body: { provider: "openai_compatible", base_url: "http://localhost:8000/v1" },
      want: "base_url: ",
    },
    { body: { provider: "bedrock", region: "us-east-1" }, want: "access_key_id: bedrock needs it" },
  ])("refuse $body, naming what is wrong", async ({ body, want }) => {
    const tenant = await givenATenant();

    const got = await call(tenant, "POST", "provider_credentials", body);
    const listed = await call(tenant, "GET", "provider_credentials");

    expect(got.status).toBe(400);
    expect(got.json.message).toContain(want);
    expect(got.text).not.toContain("s3cret");
    expect(listed.json.data).toEqual([]);
  });

  test("of a name that is there are a conflict", async () => {
    const tenant = await givenATenant();
    const body = { provider: "openai", api_key: "k" };
    await call(tenant, "POST", "provider_credentials", body);

    const got = await call(tenant, "POST", "provider_credentials", body);

    expect(got).toMatchObject({ status: 409, json: { errorCode: "NAME_TAKEN" } });
  });

  test("made twice with one Idempotency-Key are made once", async () => {
    const { database, url } = service;
    const tenant = await givenATenant();
    const credential = await withKey(database, tenant, { kind: "project", root: "project" });
    const send = async () => {
      const response = await fetch(`${url}/v1/projects/${tenant.projectId}/provider_credentials`, {
        method: "POST",
        headers: { ...credential, "content-type": "application/json", "idempotency-key": "once" },
        body: JSON.stringify({ provider: "openai", api_key: "s3cret-once" }),
      });
      return response.text();
    };

    const answers = [await send(), await send()];

    expect(answers[0]).toContain('"name":"openai"');
    expect(answers[1]).toBe(answers[0]);
  });

  test("of an organization and a workspace have their own paths", async () => {
    const tenant = await givenATenant();
    const { orgId, workspaceId } = tenant;
    const body = { provider: "mistral", api_key: "k" };
    const paths = [`/v1/orgs/${orgId}`, `/v1/workspaces/${workspaceId}`, ""];

    const scopes: unknown[] = [];
    for (const path of paths) {
      const root = path === "" ? "" : `${path}/`;
      const id = await idOf(call(tenant, "POST", `${root}provider_credentials`, body));
      const { json } = await call(tenant, "GET", `${root}provider_credentials/${id}`);
      scopes.push(json.data?.["scope_type"]);
      for (const other of paths.filter((one) => one !== path)) {
        const elsewhere = other === "" ? "" : `${other}/`;
        const got = await call(tenant, "GET", `${elsewhere}provider_credentials/${id}`);
        expect(got.status).toBe(404);
      }
    }

    expect(scopes).toEqual(["org", "workspace", "project"]);
  });

  test("are answered the same over RPC", async () => {
    const tenant = await givenATenant();
    const { database, url } = service;
    const credential = await withKey(database, tenant, { kind: "project", root: "project" });
    const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
    const client = createClient(ProviderCredentialService, transport);
    const scope = { case: "projectId", value: tenant.projectId } as const;
    const headers = new Headers(credential);

    const { data } = await client.createProviderCredential(
      { scope, provider: "anthropic", apiKey: "s3cret-rpc" },
      { headers },
    );
    const moved = client.updateProviderCredential(
      { scope, credentialId: data?.credentialId ?? "", baseUrl: "https://93.184.215.14" },
      { headers },
    );

    expect(data).toMatchObject({ name: "anthropic", secrets: ["api_key"] });
    await expect(moved).rejects.toThrow("base_url: requests would go elsewhere than before");
  });
});

describe("without an encryption key", () => {
  test("secrets are refused, saying what the operator has to set", async () => {
    const bare = await startService();
    try {
      const response = await fetch(
        `${bare.url}/v1/projects/${bare.projectId}/provider_credentials`,
        {
          method: "POST",
          headers: {
            authorization: `Bearer ${bare.projectKey}`,
            "content-type": "application/json",
          },
          body: JSON.stringify({ provider: "openai", api_key: "s3cret" }),
        },
      );

      expect(response.status).toBe(409);
      expect(await response.json()).toMatchObject({
        errorCode: "ENCRYPTION_KEY_ABSENT",
        message: expect.stringContaining("WAGGLE_ENCRYPTION_KEYS") as string,
      });
    } finally {
      await bare.stop();
    }
  });
});

describe("model_aliases", () => {
  test("are set, read, listed and deleted", async () => {
    const tenant = await givenATenant();
    const path = "model_aliases/fast-1.5";
    const targets = ["openai/gpt-4o-mini", "ours/org/model:7b"];

    const set = await call(tenant, "PUT", path, { targets });
    const again = await call(tenant, "PUT", path, { targets: ["openai/gpt-4o"] });
    const listed = await call(tenant, "GET", "model_aliases");
    const deleted = await call(tenant, "DELETE", path);
    const gone = await call(tenant, "GET", path);

    expect(set.json.data).toMatchObject({
      name: "fast-1.5",
      targets,
      scope_type: "project",
      scope_id: tenant.projectId,
    });
    expect(again.json.data).toMatchObject({ targets: ["openai/gpt-4o"] });
    expect(listed.json.data).toEqual([again.json.data]);
    expect(deleted.json.data).toEqual(again.json.data);
    expect(gone.status).toBe(404);
  });

  test.each([
    { path: "model_aliases/fast", body: {}, want: "targets" },
    { path: "model_aliases/fast", body: { targets: ["gpt-4o"] }, want: "targets[0]: must be" },
    { path: "model_aliases/a%20b", body: { targets: ["openai/m"] }, want: "name: must be 1 to" },
    { path: "model_aliases/fast", body: { targets: ["openai/m"], x: 1 }, want: "x" },
  ])("refuse $body at $path", async ({ path, body, want }) => {
    const tenant = await givenATenant();

    const got = await call(tenant, "PUT", path, body);

    expect(got.status).toBe(400);
    expect(got.json.message).toContain(want);
  });
});

test("a secret that went in is nowhere in the database, dumped as a whole", async () => {
  const tenant = await givenATenant();
  const secret = "s3cret-of-the-whole-database";
  const body = { provider: "openai", api_key: secret };
  const id = await idOf(call(tenant, "POST", "provider_credentials", body));
  await call(tenant, "PUT", `provider_credentials/${id}`, { api_key: `${secret}-2` });
  await call(tenant, "POST", "provider_credentials", body);
  await call(tenant, "POST", "provider_credentials", { ...body, name: "x", region: "r" });

  const dumped = await everyRow();

  expect(dumped).toContain(id);
  for (const form of [secret, Buffer.from(secret).toString("hex"), key.text.slice(5)]) {
    expect(dumped).not.toContain(form);
  }
});

/** Returns every row of every table as text. */
async function everyRow(): Promise<string> {
  const sql = service.database.sql();
  const tables = await sql<{ name: string }[]>`
    select quote_ident(schemaname) || '.' || quote_ident(tablename) as name
    from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await sql.unsafe<{ text: string }[]>(`select t::text as text from ${name} t`);
      return rows.map(({ text }) => text).join("\n");
    }),
  );
  return texts.join("\n");
}
