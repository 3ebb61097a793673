// The rows of the access matrix against the protos, the policy of an organization, and denials over
// RPC. access-matrix.ts makes the calls of the rows.
// Source: docs/spec.md, "Authentication"; docs/decisions.md, 10, 14, 33 and 35.

import { readFileSync } from "node:fs";
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../gen/google/api/http_pb.js";
import { DatasetService } from "../../gen/waggle/v1/dataset_pb.js";
import { access, KeyKind } from "../../gen/waggle/v1/options_pb.js";
import { keyKinds } from "../../src/access/principal.ts";
import { givenStarted } from "../support/given.ts";
import { rpcs } from "../support/contract.ts";
import { givenAProject } from "../support/project.ts";
import { type Credential, withKey } from "../support/tenants.ts";
import { badCredentials } from "./access-callers.ts";
import { contractParts, contractRows, openRows, type Row } from "./access-rows.ts";
import { call, startAccessService } from "./access-service.ts";

const service = givenStarted(startAccessService);

describe("the rows", () => {
  test("cover every binding of every rpc", () => {
    const want = rpcs.flatMap((method) => bindingsOf(getOption(method, http)));
    const got = contractRows.map(({ route }) => route.split("?")[0]);

    expect(got.toSorted()).toEqual(want.toSorted());
  });

  test("are each in a part that a test file checks", () => {
    const want = Object.keys(contractParts).map((part) => [part, `describeAccess("${part}");`]);
    const got = want.map(([part]) => [
      part,
      readFileSync(new URL(`access-${part}.test.ts`, import.meta.url), "utf8").match(
        /^describeAccess.*$/m,
      )?.[0],
    ]);

    expect(got).toEqual(want);
  });

  test.each(rpcs.map((method) => ({ name: method.name, method })))(
    "say of $name what its proto says",
    ({ method }) => {
      const rule = getOption(method, access);
      const mine = contractRows.filter(({ rpc }) => rpc === method.name);

      expect(mine.length).toBeGreaterThan(0);
      for (const { permission, kinds } of mine) {
        expect(permission).toBe(rule.permission);
        // The enum begins with a value that stands for none.
        const numbers = kinds.map((kind) => keyKinds.indexOf(kind) + 1);
        // Control plane keys call on a named project alone, whose rows the matrix derives.
        const own = rule.keys.filter(
          (kind) => !rule.namedProject || kind !== KeyKind.CONTROL_PLANE,
        );
        expect(numbers.toSorted()).toEqual(own.toSorted());
      }
    },
  );

  test("name the only calls that control plane keys make on a named project", () => {
    const got = rpcs.filter((method) => {
      const { namedProject, keys } = getOption(method, access);
      return namedProject && keys.includes(KeyKind.CONTROL_PLANE);
    });

    expect([...new Set(got.map(({ parent }) => parent.name))]).toEqual(["AlertService"]);
  });
});

function bindingsOf(rule: HttpRule): string[] {
  const { case: verb, value } = rule.pattern;
  const own = verb === undefined || verb === "custom" ? [] : [`${verb.toUpperCase()} ${value}`];
  return [...own, ...rule.additionalBindings.flatMap(bindingsOf)];
}

describe("a fine-grained key", () => {
  test("carries no more than the organization's policy leaves", async () => {
    const tenant = await givenAProject(service.database);
    await service.database.sql()`
      insert into api_key_policies (org_id, permissions, updated_by)
      values (${tenant.orgId}, '{org.scope.*}', 'test')`;
    const row = (route: string): Row => {
      const found = contractRows.find((candidate) => candidate.route === route);
      if (!found) throw new Error(`no row ${route}`);
      return found;
    };
    const credential = await withKey(service.database, tenant, {
      kind: "control_plane",
      root: "org",
    });
    const ids = { org_id: tenant.orgId };

    const got = [
      await call(service, row("GET /v1/orgs/{org_id}"), ids, credential),
      await call(service, row("GET /v1/orgs/{org_id}/virtual_dataplanes"), ids, credential),
    ];

    expect(got.map(({ status }) => status)).toEqual([200, 404]);
  });
});

describe("RPC", () => {
  test("takes the project of a data plane key from x-project-id, and only there", async () => {
    const tenant = await givenAProject(service.database);
    const other = await givenAProject(service.database);
    const key = await withKey(service.database, tenant, { kind: "data_plane", root: "project" });
    const client = createClient(DatasetService, createGrpcTransport({ baseUrl: service.url }));
    const list = (headers: Record<string, string>) =>
      client.listDatasets({}, { headers: { ...key, ...headers } });

    expect((await list({ "x-project-id": tenant.projectId })).datasets).toEqual([]);
    for (const headers of [{}, { "x-project-id": other.projectId }]) {
      await expect(list(headers)).rejects.toMatchObject({ code: Code.NotFound });
    }
  });

  let bad: readonly Credential[] = [];
  beforeAll(async () => {
    const tenant = await givenAProject(service.database);
    bad = Object.values(await badCredentials(service, tenant));
  });

  const closed = rpcs.filter((method) => !getOption(method, access).open);

  test("has no open calls but those of the rows", () => {
    const open = rpcs.filter((method) => !closed.includes(method)).map(({ name }) => name);

    expect(open).toEqual(openRows.map(({ rpc }) => rpc));
  });

  test.each(closed.map((method) => ({ name: method.toString(), method })))(
    "$name denies with one constant answer",
    async ({ method }) => {
      const answers = new Set(
        await Promise.all(bad.map((credential) => callRpc(method, credential))),
      );
      const isAnyone = getOption(method, access).scope === "any";

      // Where every caller may call, a key without permissions is answered what it may see.
      const denied = [...answers].filter((answer) => !(isAnyone && answer.startsWith("200 ")));
      expect(denied.length).toBe(1);
      expect(denied[0]).toContain('"code":"not_found"');
      expect(denied[0]).toContain('"message":"Not found"');
    },
  );
});

async function callRpc(method: DescMethod, credential: Credential): Promise<string> {
  const isStream = method.methodKind !== "unary";
  const response = await fetch(`${service.url}/${method.parent.typeName}/${method.name}`, {
    method: "POST",
    headers: {
      ...credential,
      "content-type": isStream ? "application/connect+json" : "application/json",
    },
    body: isStream ? Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]) : "{}",
  });
  return `${response.status} ${await response.text()}`;
}
