// `revoke_created_keys` over REST and gRPC: off by default, and its answer.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { ApiKeyService } from "../../gen/waggle/v1/api_key_pb.js";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { startService } from "../support/service.ts";
import { addKey } from "../support/tenants.ts";

const service = givenStarted(startService);

type Answer = {
  readonly status: number;
  readonly body: {
    readonly errorCode?: string;
    readonly message?: string;
    readonly revoked_created_keys?: number;
    readonly data: Readonly<Record<string, unknown>>;
  };
};

async function call(key: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const by = { url: service.url, headers: { authorization: `Bearer ${key}` } };
  const { status, json } = await callRoute(by, `${method} ${path}`, body);
  return { status, body: json as Answer["body"] };
}

const orgKeys = () => `/v1/orgs/${service.project.orgId}/fine_grained_api_keys`;
const ingestionKeys = () => `/v1/projects/${service.projectId}/ingestion_api_keys`;

type Made = { readonly id: string; readonly key: string };

/** A key that makes keys, and two that it made. */
async function givenCreatedKeys(): Promise<{ maker: Made; created: readonly Made[] }> {
  const { keyId, secret } = await addKey(service.database, service.project, {
    kind: "data_plane",
    root: "org",
    permissions: ["*"],
  });
  const make = async (path: string, body: object): Promise<Made> => {
    const answer = await call(secret, "POST", path, body);
    expect(answer.status).toBe(200);
    const { key_id: id, key_value: key } = answer.body.data;
    return { id: String(id), key: String(key) };
  };
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const created = [
    await make(ingestionKeys(), { name: "one" }),
    await make(orgKeys(), { name: "two", permissions: ["project.*"], expires_at: expires }),
  ];
  return { maker: { id: keyId, key: secret }, created };
}

async function statusesOf(created: readonly Made[]): Promise<readonly unknown[]> {
  const paths = [ingestionKeys(), orgKeys()];
  const reads = created.map(({ id }, index) =>
    call(service.dataPlaneKey, "GET", `${paths[index] ?? ""}/${id}`),
  );
  return (await Promise.all(reads)).map(({ body }) => body.data["status"]);
}

async function canLog({ key }: Made): Promise<boolean> {
  const body = { session: { session_name: "s", source: "test" } };
  return (await call(key, "POST", "/session/start", body)).status === 200;
}

describe("revoke_created_keys", () => {
  test.each([
    { name: "absent", query: "" },
    { name: "false", query: "?revoke_created_keys=false" },
  ])("that is $name leaves created keys alone", async ({ query }) => {
    const { maker, created } = await givenCreatedKeys();

    const answer = await call(service.dataPlaneKey, "DELETE", `${orgKeys()}/${maker.id}${query}`);

    expect(answer).toMatchObject({ status: 200, body: { data: { status: "revoked" } } });
    expect(answer.body).not.toHaveProperty("revoked_created_keys");
    expect(await statusesOf(created)).toEqual(["active", "active"]);
  });

  test.each([
    { method: "DELETE", form: "" },
    { method: "POST", form: "/revoke" },
  ])("of $method ends them at once and answers how many", async ({ method, form }) => {
    const { maker, created } = await givenCreatedKeys();
    const [first] = created as [Made];
    const before = await canLog(first);
    const path = `${orgKeys()}/${maker.id}${form}?revoke_created_keys=true`;

    const answer = await call(service.dataPlaneKey, method, path);
    const again = await call(service.dataPlaneKey, method, path);

    expect(answer).toMatchObject({
      status: 200,
      body: { data: { key_id: maker.id, status: "revoked" }, revoked_created_keys: 2 },
    });
    expect(await statusesOf(created)).toEqual(["revoked", "revoked"]);
    expect([before, await canLog(first)]).toEqual([true, false]);
    expect(again).toMatchObject({ status: 409, body: { errorCode: "KEY_REVOKED" } });
  });

  test("ends them over gRPC", async () => {
    const { maker, created } = await givenCreatedKeys();
    const client = createClient(ApiKeyService, createGrpcTransport({ baseUrl: service.url }));

    const { revokedCreatedKeys } = await client.revokeDataPlaneApiKey(
      {
        root: { case: "orgId", value: service.project.orgId },
        keyId: maker.id,
        revokeCreatedKeys: true,
      },
      { headers: { authorization: `Bearer ${service.dataPlaneKey}` } },
    );

    expect(revokedCreatedKeys).toBe(2);
    expect(await statusesOf(created)).toEqual(["revoked", "revoked"]);
  });

  test("of a key that created none answers 0", async () => {
    const { created } = await givenCreatedKeys();
    const path = `${ingestionKeys()}/${created[0]?.id ?? ""}?revoke_created_keys=true`;

    const answer = await call(service.dataPlaneKey, "DELETE", path);

    expect(answer).toMatchObject({ status: 200, body: { revoked_created_keys: 0 } });
  });

  test("ends none for a caller that may not revoke each of them", async () => {
    const { maker, created } = await givenCreatedKeys();
    const { secret } = await addKey(service.database, service.project, {
      kind: "control_plane",
      root: "org",
      permissions: ["org.fine_grained_api_key_dp.*"],
    });

    const path = `${orgKeys()}/${maker.id}`;
    const refused = await call(secret, "DELETE", `${path}?revoke_created_keys=true`);
    const alone = await call(secret, "DELETE", path);

    expect(refused).toMatchObject({ status: 400, body: { errorCode: "PERMISSION_NOT_HELD" } });
    expect(refused.body.message).toMatch(
      /^revoke_created_keys: .*project\.ingestion_api_key\.delete/,
    );
    expect(alone.status).toBe(200);
    expect(await statusesOf(created)).toEqual(["active", "active"]);
  });

  test("is possible with the id that each created key shows", async () => {
    const { maker, created } = await givenCreatedKeys();

    const listed = await call(service.dataPlaneKey, "GET", ingestionKeys());

    const list = listed.body.data as unknown as readonly Readonly<Record<string, unknown>>[];
    const made = list.find(({ key_id: id }) => id === created[0]?.id);
    expect(made).toMatchObject({ created_by_key_id: maker.id });
  });
});
