// Prices that an organization, workspace or project sets: their calls, and the costs of events by
// them. access.test.ts tests permissions. Source: docs/generations.md, "Prices".

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { ModelPriceService } from "../../gen/waggle/v1/model_price_pb.js";
import { createUuid } from "../../src/base/ids.ts";
import { modelPricesMax } from "../../src/base/tenant-limits.ts";
import { callRoute } from "../support/call-route.ts";
import { givenStarted } from "../support/given.ts";
import { givenAProject } from "../support/project.ts";
import { callRest } from "../support/read-back.ts";
import { startService } from "../support/service.ts";
import { type KeyRoot, type Tenant, withKey } from "../support/tenants.ts";

const operatorPrices = {
  Ours: { input_mtok: 9, output_mtok: 9 },
  "operators-*": { input_mtok: 8, output_mtok: 8 },
};
const service = givenStarted(() => startService({ prices: JSON.stringify(operatorPrices) }));

type Level = KeyRoot;

const givenATenant = (): Promise<Tenant> => givenAProject(service.database);

/** Calls with a key of the organization. */
async function call(tenant: Tenant, level: Level, method: string, rest = "", body?: unknown) {
  const { database, url } = service;
  const headers = await withKey(database, tenant, { kind: "control_plane", root: "org" });
  const roots = {
    org: `orgs/${tenant.orgId}`,
    workspace: `workspaces/${tenant.workspaceId}`,
    project: `projects/${tenant.projectId}`,
  };
  const path = `/v1/${roots[level]}/model_prices${rest}`;
  const { status, json } = await callRoute({ url, headers }, `${method} ${path}`, body);
  return { status, data: json["data"], message: json["message"], next: json["next_cursor"] };
}

async function put(tenant: Tenant, level: Level, name: string, rates: object): Promise<void> {
  expect((await call(tenant, level, "PUT", "", { name, ...rates })).status).toBe(200);
}

/** Stores a call of a million prompt tokens and two million of completion; returns its estimate. */
async function estimateOf(tenant: Tenant, model: string, config: object = {}): Promise<unknown> {
  const { authorization = "" } = await withKey(service.database, tenant, {
    kind: "project",
    root: "project",
  });
  const access = { url: service.url, key: authorization.slice("Bearer ".length) };
  const event = {
    event_id: createUuid(),
    event_type: "model",
    source: "test",
    inputs: {},
    config: { model, ...config },
    metadata: { prompt_tokens: 1_000_000, completion_tokens: 2_000_000 },
  };
  await callRest(access, "POST", "/events", { event });
  const read = await callRest<{ readonly event: Readonly<Record<string, unknown>> }>(
    access,
    "GET",
    `/v1/events/${event.event_id}`,
  );
  return read.event["cost_estimate"];
}

const ownTable = expect.stringMatching(/^genai-prices .+, own [0-9a-f]{8}$/) as string;

describe("model_prices", () => {
  test.each(["org", "workspace", "project"] as const)("of the %s are kept", async (level) => {
    const tenant = await givenATenant();
    const name = "openai/ft:gpt-4o:Acme*";
    const query = `?name=${encodeURIComponent(name)}`;

    const set = await call(tenant, level, "PUT", "", { name, input_mtok: 1, output_mtok: 2.5 });
    const again = await call(tenant, level, "PUT", "", { name, cache_read_mtok: 0 });
    const listed = await call(tenant, level, "GET");
    const deleted = await call(tenant, level, "DELETE", query);
    const gone = await call(tenant, level, "DELETE", query);

    const { orgId, workspaceId, projectId } = tenant;
    expect(set.data).toEqual({
      name: "openai/ft:gpt-4o:acme*",
      input_mtok: 1,
      output_mtok: 2.5,
      scope_type: level,
      scope_id: { org: orgId, workspace: workspaceId, project: projectId }[level],
      updated_at: expect.any(String) as string,
      updated_by: expect.any(String) as string,
    });
    expect(again.data).toMatchObject({ name: name.toLowerCase(), cache_read_mtok: 0 });
    expect(again.data).not.toHaveProperty("input_mtok");
    expect(listed.data).toEqual([again.data]);
    expect(deleted.data).toEqual(again.data);
    expect(gone.status).toBe(404);
    expect((await call(tenant, level, "GET")).data).toEqual([]);
  });

  test("are listed by name, in pages", async () => {
    const tenant = await givenATenant();
    for (const name of ["b", "a/b", "c*"]) await put(tenant, "project", name, { input_mtok: 1 });

    const first = await call(tenant, "project", "GET", "?limit=2");
    const second = await call(tenant, "project", "GET", `?limit=2&cursor=${String(first.next)}`);

    expect(first.data).toMatchObject([{ name: "a/b" }, { name: "b" }]);
    expect(second.data).toMatchObject([{ name: "c*" }]);
    expect(second.next).toBeUndefined();
  });

  test("are the same over gRPC", async () => {
    const tenant = await givenATenant();
    const transport = createGrpcTransport({ baseUrl: service.url });
    const client = createClient(ModelPriceService, transport);
    const key = { kind: "control_plane", root: "org" } as const;
    const headers = await withKey(service.database, tenant, key);
    const scope = { case: "projectId", value: tenant.projectId } as const;

    await client.putModelPrice({ scope, name: "mine", inputMtok: 2 }, { headers });
    const { data } = await client.listModelPrices({ scope }, { headers });

    expect(data).toMatchObject([{ name: "mine", inputMtok: 2 }]);
    expect(data[0]?.outputMtok).toBeUndefined();
    expect((await call(tenant, "project", "GET")).data).toMatchObject([{ input_mtok: 2 }]);
    const wrong = client.putModelPrice({ scope, name: "mine", inputMtok: Number.NaN }, { headers });
    await expect(wrong).rejects.toThrow("input_mtok: must be a number from 0 to 1000000");
  });

  test.each([
    { body: {}, want: "name" },
    { body: { name: "mine" }, want: "input_mtok: is required, or another price" },
    { body: { name: "mine", input_mtok: -1 }, want: "input_mtok: must be a number from 0" },
    { body: { name: "mine", output_mtok: 1e7 }, want: "output_mtok: must be a number from 0" },
    { body: { name: "mine", input_mtok: "many" }, want: "input_mtok" },
    { body: { name: "mine", price: 1 }, want: "price" },
    { body: { name: "a b", input_mtok: 1 }, want: "name: must be 1 to 256 characters" },
    { body: { name: "a*b", input_mtok: 1 }, want: "name: must be 1 to 256 characters" },
    { body: { name: "a\u0000", input_mtok: 1 }, want: "name: must be 1 to 256 characters" },
    { body: { name: "*", input_mtok: 1 }, want: "name: must be 1 to 256 characters" },
    { body: { name: "a".repeat(257), input_mtok: 1 }, want: "name: must be 1 to 256 characters" },
  ])("refuse $body", async ({ body, want }) => {
    const tenant = await givenATenant();

    const got = await call(tenant, "project", "PUT", "", body);

    expect(got.status).toBe(400);
    expect(got.message).toContain(want);
    expect((await call(tenant, "project", "GET")).data).toEqual([]);
  });

  test("have a limit, within which they may still be changed", async () => {
    const tenant = await givenATenant();
    await service.database.sql()`
      insert into model_prices (price_id, project_id, name, rates, updated_by)
      select gen_random_uuid(), ${tenant.projectId}, 'm' || n, '{"input_mtok": 1}', 'test'
      from generate_series(1, ${modelPricesMax}::integer) as n`;

    const another = await call(tenant, "project", "PUT", "", { name: "another", input_mtok: 1 });
    await put(tenant, "project", "m1", { input_mtok: 2 });

    expect(another.status).toBe(400);
    expect(another.message).toContain(`name: a scope has at most ${modelPricesMax} prices`);
  });
});

describe("the cost of an event", () => {
  test("is by the nearest price of its name, from the change on", async () => {
    const tenant = await givenATenant();
    const other = await givenATenant();
    const cost = (dollars: number) => ({ cost: dollars, price_table: ownTable });

    expect(await estimateOf(tenant, "ours")).toEqual(cost(27));
    await put(tenant, "org", "OURS", { input_mtok: 1, output_mtok: 2 });
    expect(await estimateOf(tenant, "Ours")).toEqual(cost(5));
    await put(tenant, "workspace", "ours", { input_mtok: 10, output_mtok: 0 });
    expect(await estimateOf(tenant, "ours")).toEqual(cost(10));
    await put(tenant, "project", "ours", { input_mtok: 0, output_mtok: 100 });
    expect(await estimateOf(tenant, "ours")).toEqual(cost(200));
    await call(tenant, "project", "DELETE", "?name=Ours");
    expect(await estimateOf(tenant, "ours")).toEqual(cost(10));

    expect(await estimateOf(tenant, "operators-own")).toEqual(cost(24));
    expect(await estimateOf(other, "ours")).toEqual(cost(27));
  });

  test("is by the longest name, that of a provider before that of any", async () => {
    const tenant = await givenATenant();
    await put(tenant, "project", "gpt-4o*", { input_mtok: 1, output_mtok: 0 });
    await put(tenant, "org", "gpt-4o-mini*", { input_mtok: 2, output_mtok: 0 });
    await put(tenant, "org", "azure/gpt-*", { input_mtok: 3, output_mtok: 0 });

    expect(await estimateOf(tenant, "gpt-4o-2024")).toMatchObject({ cost: 1 });
    expect(await estimateOf(tenant, "gpt-4o-mini-2024")).toMatchObject({ cost: 2 });
    expect(await estimateOf(tenant, "gpt-4o", { provider: "azure" })).toMatchObject({ cost: 3 });
  });

  test("names prices by their content, in any order", async () => {
    const [one, other] = [await givenATenant(), await givenATenant()];
    const flat = { input_mtok: 1, output_mtok: 1 };
    for (const [tenant, names] of [
      [one, ["a", "b"]],
      [other, ["b", "a"]],
    ] as const) {
      for (const name of names) await put(tenant, "project", name, flat);
    }

    const [first, second] = [await estimateOf(one, "a"), await estimateOf(other, "a")];

    expect(first).toEqual({ cost: 3, price_table: ownTable });
    expect(second).toEqual(first);
    await put(other, "project", "b", { ...flat, cache_read_mtok: 0 });
    expect(await estimateOf(other, "a")).not.toEqual(first);
  });
});
