// GET /v1/orgs/{org_id}/audit_log: pages of an organization's own changes.

import { beforeAll, describe, expect, test } from "vitest";
import { createAudit } from "../../src/access/audit/audit.ts";
import type { Scope } from "../../src/access/scope.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { auditRowsMax } from "../../src/base/limits.ts";
import { givenStarted } from "../support/given.ts";
import { anAlert, encryptionKeyFlag } from "../support/alerts.ts";
import { callRoute } from "../support/call-route.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(() => startService({ "encryption-keys": encryptionKeyFlag }));

const changes = 5;

beforeAll(async () => {
  const { orgId } = service.project;
  const audit = createAudit(service.database);
  const scope: Scope = { level: "org", id: orgId, name: "acme", orgId };
  // Rows that the start of the service wrote are left out.
  await service.database.sql()`delete from audit_log where org_id = ${orgId}`;
  await service.database.sql()`delete from audit_heads where org_id = ${orgId}`;
  for (let number = 1; number <= changes; number += 1) {
    await service.database.transaction(() =>
      audit.append({
        actor: { type: "key", id: "k", name: "ci\0" },
        scope,
        action: "workspace.create",
        target: { type: "workspace", id: `w-${number}` },
        after: { name: `bees ${number}\0\uD800`, labels: ["a", 1, null] },
      }),
    );
  }
});

type Answer = {
  readonly success: boolean;
  readonly data: readonly Record<string, unknown>[];
  readonly next_cursor?: string;
  readonly message?: string;
};

async function list(query: string, key = service.controlPlaneKey) {
  const by = { url: service.url, headers: { authorization: `Bearer ${key}` } };
  const { status, json } = await callRoute(
    by,
    `GET /v1/orgs/${service.project.orgId}/audit_log${query}`,
  );
  return { status, answer: json as Answer };
}

describe("GET /v1/orgs/{org_id}/audit_log", () => {
  test("answers whole entries, newest first", async () => {
    const { status, answer } = await list("");

    expect(status).toBe(200);
    expect(answer.data).toHaveLength(changes);
    expect(answer.data[0]).toEqual({
      sequence: 5,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3,6})?Z$/) as string,
      actor_type: "key",
      actor_id: "k",
      actor_name: "ci\uFFFD",
      action: "workspace.create",
      scope_type: "org",
      scope_id: service.project.orgId,
      target_type: "workspace",
      target_id: "w-5",
      before: null,
      after: { name: expect.stringContaining("bees 5\0") as string, labels: ["a", 1, null] },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      previous_hash: answer.data[1]?.["hash"],
    });
  });

  test("goes on from its cursor to the end", async () => {
    const sequences: unknown[] = [];
    let query = "?limit=2";
    for (let pages = 0; pages < changes; pages += 1) {
      const { answer } = await list(query);
      sequences.push(...answer.data.map(({ sequence }) => sequence));
      if (answer.next_cursor === undefined) break;
      query = `?limit=2&cursor=${answer.next_cursor}`;
    }

    expect(sequences).toEqual([5, 4, 3, 2, 1]);
  });

  test.each([
    { query: "?cursor=nonsense", want: "cursor" },
    { query: "?limit=0", want: "limit" },
    { query: "?limit=1001", want: "limit" },
  ])("refuses $query by its name", async ({ query, want }) => {
    const { status, answer } = await list(query);

    expect([status, answer.message]).toEqual([400, expect.stringContaining(want)]);
  });

  test.each([
    { query: "actor=k", want: [5, 4, 3, 2, 1] },
    { query: "actor=CI", want: [5, 4, 3, 2, 1] },
    { query: "actor=K", want: [5, 4, 3, 2, 1] },
    { query: "actor=other", want: [] },
    { query: "action=workspace.create&resource=w-2", want: [2] },
    { query: "action=workspace.*&resource=w-2", want: [2] },
    { query: "action=workspace.", want: [] },
    { query: "action=project.*", want: [] },
    { query: "resource=workspace&limit=2", want: [5, 4] },
    { query: "resource=ORG&action=&actor=", want: [5, 4, 3, 2, 1] },
    { query: "resource=W-2", want: [2] },
    { query: "resource=w-9", want: [] },
    { query: "start_time=NOW", want: [] },
    { query: "start_time=2020-01-01T00:00:00Z&end_time=NOW", want: [5, 4, 3, 2, 1] },
    { query: "end_time=0", want: [] },
    { query: "start_time=5e-324", want: [5, 4, 3, 2, 1] },
    { query: "start_time=1577836800000&end_time=1577836800001", want: [] },
  ])("narrows by $query", async ({ query, want }) => {
    const now = String(Date.now() + 60_000);
    const asked = query.replace("ORG", service.project.orgId).replace("NOW", now);

    const { status, answer } = await list(`?${asked}`);

    expect(status).toBe(200);
    expect(answer.data.map(({ sequence }) => sequence)).toEqual(want);
  });

  test("finds the changes inside a scope and inside the scopes in it by its id", async () => {
    const { orgId, dataplaneId, workspaceId, projectId, controlPlaneKey } = service.otherProject;
    const audit = createAudit(service.database);
    const ids = { org: orgId, dataplane: dataplaneId, workspace: workspaceId, project: projectId };
    for (const level of ["org", "dataplane", "workspace", "project"] as const) {
      const scope: Scope = { level, id: ids[level], name: level, orgId };
      const actor = { type: "key", id: "k", name: "ci" } as const;
      const target = { type: "alert", id: level };
      const change = { actor, scope, action: "inside.change", target };
      await service.database.transaction(() => audit.append(change));
    }
    const find = async (id: string): Promise<readonly unknown[]> => {
      const url = `${service.url}/v1/orgs/${orgId}/audit_log?action=inside.change&resource=${id}`;
      const response = await fetch(url, {
        headers: { authorization: `Bearer ${controlPlaneKey}` },
      });
      return ((await response.json()) as Answer).data.map((row) => row["target_id"]);
    };

    expect(await find(orgId)).toEqual(["project", "workspace", "dataplane", "org"]);
    expect(await find(dataplaneId)).toEqual(["project", "workspace", "dataplane"]);
    expect(await find(workspaceId)).toEqual(["project", "workspace"]);
    expect(await find(projectId)).toEqual(["project"]);
    expect(await find(service.project.workspaceId)).toEqual([]);
  });

  test("goes on to rows that are far behind those that match no filter", async () => {
    const { orgId, controlPlaneKey } = service.otherProject;
    const first = 1_000;
    await service.database.sql()`
      insert into audit_log (
        org_id, sequence, at, actor_type, actor_id, actor_name, action, scope_level, scope_id,
        target_type, target_id, previous_hash, hash)
      select
        ${orgId}, n, now(), 'key', 'k', 'ci', case when n = ${first} then 'a.rare' else 'a.b' end,
        'org', ${orgId}, 'workspace', 'w', '', ''
      from generate_series(${first}::integer, ${first + auditRowsMax}::integer) as n`;
    const read = async (query: string): Promise<Answer> => {
      const url = `${service.url}/v1/orgs/${orgId}/audit_log?action=a.rare${query}`;
      const response = await fetch(url, {
        headers: { authorization: `Bearer ${controlPlaneKey}` },
      });
      return (await response.json()) as Answer;
    };

    const newest = await read("");
    const rest = await read(`&cursor=${newest.next_cursor}`);

    expect(newest.data).toEqual([]);
    expect(rest.data).toMatchObject([{ sequence: first, action: "a.rare" }]);
  });

  test("is absent to another organization's key", async () => {
    expect((await list("", service.otherProject.controlPlaneKey)).status).toBe(404);
  });
});

test.each([
  { name: "a retention", path: "retention", body: { days: 30 }, other: { days: 31 } },
  {
    name: "an alias",
    path: "model_aliases/fast",
    body: { targets: ["openai/gpt-4o"] },
    other: { targets: ["openai/gpt-4o-mini"] },
  },
  {
    name: "a price",
    path: "model_prices",
    body: { name: "mine", input_mtok: 1 },
    other: { name: "mine", input_mtok: 2 },
  },
])("$name that is put again unchanged has no second row", async ({ path, body, other }) => {
  const { projectId } = service.project;
  const put = async (content: object) => {
    const response = await fetch(`${service.url}/v1/projects/${projectId}/${path}`, {
      method: "PUT",
      headers: {
        authorization: `Bearer ${service.controlPlaneKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(content),
    });
    expect(response.status).toBe(200);
  };
  const countRows = async () =>
    (await service.database.sql()`select from audit_log where scope_id = ${projectId}`).length;
  const before = await countRows();

  await put(body);
  await put(body);
  const same = await countRows();
  await put(other);

  expect([same - before, (await countRows()) - before]).toEqual([1, 2]);
});

const aCredential = { provider: "openai", api_key: "secret" };

type Put = { name: string; path: string; body: JsonObject; same?: JsonObject };

test.each<Put>([
  { name: "an alert", path: "/v1/alerts", body: anAlert("https://93.184.215.14/") },
  { name: "a queue", path: "/v1/queues", body: { name: "hive" } },
  { name: "a chart", path: "/v1/charts", body: { name: "calls", metric: "event_count" } },
  { name: "a dashboard", path: "/v1/dashboards", body: { name: "all" } },
  { name: "a view", path: "/v1/views", body: { name: "mine", page: "sessions" } },
  { name: "a budget", path: "/v1/projects/ID/budgets", body: { amount: 5, period: "DAY" } },
  {
    name: "a credential",
    path: "/v1/projects/ID/provider_credentials",
    body: aCredential,
    same: {},
  },
])("$name that is put again unchanged keeps its time", async ({ path, body, same = body }) => {
  const { projectId, projectKey, controlPlaneKey, url } = service;
  const call = async (method: string, at: string, content?: JsonObject): Promise<string> => {
    const response = await fetch(url + at.replace("ID", projectId), {
      method,
      headers: {
        authorization: `Bearer ${path.endsWith("budgets") ? controlPlaneKey : projectKey}`,
        "content-type": "application/json",
      },
      ...(content && { body: JSON.stringify(content) }),
    });
    expect(response.ok).toBe(true);
    return response.text();
  };
  const [id = ""] = /(?<="(id|\w+_id)":")[^"]+/.exec(await call("POST", path, body)) ?? [];
  const before = await call("GET", `${path}/${id}`);

  await call("PUT", `${path}/${id}`, same);

  expect(await call("GET", `${path}/${id}`)).toBe(before);
});
