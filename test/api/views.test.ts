// Saved views and dashboards over the whole service, as signed-in people and keys use them.
// Source: docs/decisions.md, 57.1, 57.2.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { addChart } from "../support/charts.ts";
import { callRoute } from "../support/call-route.ts";
import { givenAProject } from "../support/project.ts";
import { startService } from "../support/service.ts";
import { type Credential, type Tenant, withKey, withSignIn } from "../support/tenants.ts";

const service = givenStarted(startService);

type Json = Readonly<Record<string, unknown>>;

function callerWith(credential: Credential) {
  return (route: string, body?: Json) =>
    callRoute({ url: service.url, headers: credential }, route, body);
}

async function person(tenant: Tenant, role = "project_member") {
  const options = { level: "project", role, origin: service.url } as const;
  return callerWith(await withSignIn(service.database, tenant, options));
}

function namesIn({ json }: { readonly json: Json }): readonly unknown[] {
  return (json["data"] as readonly Json[]).map(({ name }) => name);
}

function idOf({ json }: { readonly json: Json }): string {
  return (json["data"] as { id: string }).id;
}

test("a personal view is seen, changed and deleted by its owner alone", async () => {
  const tenant = await givenAProject(service.database);
  const [ana, bob] = [await person(tenant), await person(tenant)];

  const made = await ana("POST /v1/views", { name: "mine", page: "sessions" });
  const path = `/v1/views/${idOf(made)}`;

  expect(made.json["data"]).toMatchObject({ shared: false, is_own: true });
  expect(namesIn(await ana("GET /v1/views"))).toEqual(["mine"]);
  expect(namesIn(await bob("GET /v1/views"))).toEqual([]);
  for (const call of [`GET ${path}`, `DELETE ${path}`]) expect((await bob(call)).status).toBe(404);
  expect((await bob(`PUT ${path}`, { name: "his" })).status).toBe(404);
  expect((await ana(`PUT ${path}`, { name: "hers" })).json["data"]).toMatchObject({ name: "hers" });
  expect((await ana(`DELETE ${path}`)).status).toBe(200);
  expect(namesIn(await ana("GET /v1/views"))).toEqual([]);
});

test.each([
  { page: "sessions", want: ["mine"] },
  { page: "events", want: [] },
  { page: "Sessions", want: [] },
  { page: "%00", want: [] },
])("the views of the page $page are $want", async ({ page, want }) => {
  const ana = await person(await givenAProject(service.database));
  await ana("POST /v1/views", { name: "mine", page: "sessions" });

  const listed = await ana(`GET /v1/views?page=${page}`);

  expect(listed.status).toBe(200);
  expect(namesIn(listed)).toEqual(want);
});

test("a shared view is changed by all members, and taken back by its owner alone", async () => {
  const tenant = await givenAProject(service.database);
  const [ana, bob] = [await person(tenant), await person(tenant)];
  const viewer = await person(tenant, "project_viewer");

  const made = await ana("POST /v1/views", { name: "ours", page: "events", shared: true });
  const path = `/v1/views/${idOf(made)}`;

  const changed = await bob(`PATCH ${path}`, { name: "of us" });
  expect(changed.json["data"]).toMatchObject({ name: "of us", is_own: false, shared: true });
  expect(await bob(`PATCH ${path}`, { shared: false })).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining("shared") as string },
  });
  expect(namesIn(await viewer("GET /v1/views"))).toEqual(["of us"]);
  expect((await viewer(`PATCH ${path}`, { name: "x" })).status).toBe(404);
  expect((await ana(`PATCH ${path}`, { shared: false })).status).toBe(200);
  expect(namesIn(await bob("GET /v1/views"))).toEqual([]);
});

test("a state that is given replaces the one before, and is else kept", async () => {
  const tenant = await givenAProject(service.database);
  const ana = await person(tenant);
  const state = { filters: [{ field: "error", operator: "exists" }], columns: ["event_name"] };
  const made = await ana("POST /v1/views", { name: "a", page: "events", state });
  const path = `/v1/views/${idOf(made)}`;

  const kept = await ana(`PUT ${path}`, { name: "b" });
  const replaced = await ana(`PUT ${path}`, { state: { settings: { open: true } } });

  expect(kept.json["data"]).toMatchObject({
    state: { filters: [{ field: "error", operator: "exists" }], columns: ["event_name"] },
  });
  expect(replaced.json["data"]).toMatchObject({
    name: "b",
    state: { filters: [], columns: [], settings: { open: true } },
  });
});

test("views and dashboards are found by the project's own path with a data plane key", async () => {
  const tenant = await givenAProject(service.database);
  const options = { kind: "data_plane", root: "project" } as const;
  const call = callerWith(await withKey(service.database, tenant, options));
  const path = `/v1/projects/${tenant.projectId}`;

  await call(`POST ${path}/views`, { name: "v", page: "events" });
  await call(`POST ${path}/dashboards`, { name: "d" });

  expect(namesIn(await call(`GET ${path}/views`))).toEqual(["v"]);
  expect(namesIn(await call(`GET ${path}/dashboards`))).toEqual(["d"]);
});

test("a view or dashboard of an id that is no UUID is a 404", async () => {
  const call = await person(await givenAProject(service.database));

  const answers = [await call("GET /v1/views/x"), await call("GET /v1/dashboards/x")];

  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
});

test("a chart that is deleted leaves the dashboards, and the other tiles stay", async () => {
  const tenant = await givenAProject(service.database);
  const ana = await person(tenant);
  const [first, second] = [await addChart(service, tenant), await addChart(service, tenant)];
  const place = { y: 0, w: 6, h: 4 };
  const tiles = [
    { chart_id: first, x: 0, ...place },
    { chart_id: second, x: 6, ...place },
  ];
  const made = await ana("POST /v1/dashboards", { name: "d", layout: { tiles } });

  await ana(`DELETE /v1/charts/${first}`);

  const { json } = await ana(`GET /v1/dashboards/${idOf(made)}`);
  expect(made.json["data"]).toMatchObject({ layout: { tiles } });
  expect(json["data"]).toMatchObject({ layout: { tiles: [tiles[1]] } });
});

test("a dashboard takes no chart of another project", async () => {
  const tenant = await givenAProject(service.database);
  const foreign = await addChart(service, await givenAProject(service.database));
  const ana = await person(tenant);
  const layout = { tiles: [{ chart_id: foreign, x: 0, y: 0, w: 1, h: 1 }] };

  const got = await ana("POST /v1/dashboards", { name: "d", layout });

  expect(got).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining("layout.tiles[0].chart_id") as string },
  });
  expect(namesIn(await ana("GET /v1/dashboards"))).toEqual([]);
});
