// Configurations, tools and projects as older clients ask for them, over the whole service.

import { describe, expect, test } from "vitest";
import { hashContent } from "../../src/base/versions.ts";
import { givenStarted } from "../support/given.ts";
import { aConfiguration } from "../support/configurations.ts";
import { givenAMetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

describe("/configurations", () => {
  test("is created, listed as a bare array without nulls, updated and deleted", async () => {
    const project = await givenAMetricProject(service);
    const body = { ...aConfiguration, project: "another", type: "LLM", env: ["dev"], extra: 1 };
    const parameters = { ...aConfiguration.parameters, forceFunction: null };

    const made = await project.call("POST /configurations", { ...body, parameters });
    const path = `/configurations/${String(made.json["insertedId"])}`;
    const list = await project.call("GET /configurations?project=another");
    const put = await project.call(`PUT ${path}`, { project: "another", name: "renamed" });
    const renamed = await project.call("GET /configurations?name=renamed&env=dev");
    const deleted = await project.call(`DELETE ${path}`);
    const none = await project.call("GET /configurations");

    expect([made, list, put, renamed, deleted, none].map(({ status }) => status)).toEqual(
      Array<number>(6).fill(200),
    );
    const configuration = {
      _id: uuid,
      project: "demo",
      ...aConfiguration,
      env: ["dev"],
      type: "LLM",
      user_properties: {},
    };
    expect(list.json).toEqual([configuration]);
    expect(renamed.json).toEqual([{ ...configuration, name: "renamed" }]);
    expect(none.json).toEqual([]);
  });
});

describe("/tools", () => {
  const tool = {
    task: "another",
    name: "find",
    description: "Finds.",
    parameters: { type: "object", properties: { "b\0": {}, a: {} } },
    type: "function",
  };

  test("are created, listed as a bare array, updated and deleted", async () => {
    const project = await givenAMetricProject(service);

    const made = await project.call("POST /tools", tool);
    const { insertedId: id } = made.json["result"] as { insertedId: string };
    const list = await project.call("GET /tools");
    const put = await project.call("PUT /tools", { id, name: "search", parameters: {} });
    const changed = await project.call("GET /tools");
    const deleted = await project.call(`DELETE /tools?function_id=${id}`);
    const again = await project.call(`DELETE /tools?function_id=${id}`);
    const none = await project.call("GET /tools");

    expect(made).toMatchObject({ status: 200, json: { result: { insertedId: uuid } } });
    const { task: _, type, ...rest } = tool;
    expect(list.text).toBe(
      JSON.stringify([
        {
          _id: id,
          task: "demo",
          name: rest.name,
          description: rest.description,
          parameters: rest.parameters,
          tool_type: type,
        },
      ]),
    );
    expect(put.status).toBe(200);
    expect(changed.json).toMatchObject([
      { name: "search", description: "Finds.", parameters: {}, tool_type: "function" },
    ]);
    expect([deleted.status, again.status]).toEqual([200, 404]);
    expect(none.json).toEqual([]);
  });

  test("are audited with the hashes of their schemas", async () => {
    const project = await givenAMetricProject(service);
    const made = await project.call("POST /tools", tool);
    const { insertedId: id } = made.json["result"] as { insertedId: string };
    await project.call("PUT /tools", { id, type: "tool" });
    const parameters = { type: "object" };
    await project.call("PUT /tools", { id, parameters });
    await project.call("PUT /tools", { id, parameters });
    await project.call(`DELETE /tools?function_id=${id}`);

    const rows = await service.database.sql()`
      select action, after from audit_log where target_id = ${id} order by sequence`;

    const parameters_sha = hashContent(tool.parameters);
    const state = { name: "find", description: "Finds.", type: "function", parameters_sha };
    const changed = { ...state, type: "tool" };
    expect([...rows]).toEqual([
      { action: "tool.create", after: state },
      { action: "tool.update", after: changed },
      { action: "tool.update", after: { ...changed, parameters_sha: hashContent(parameters) } },
      { action: "tool.delete", after: null },
    ]);
  });

  test.each([
    [{ name: "" }, "name: "],
    [{ name: "a".repeat(201) }, "name: must be at most 200 characters long"],
    [{ description: "a".repeat(10_001) }, "description: must be at most 10000 characters long"],
    [{ type: "other" }, 'type: must be one of function, tool, not "other"'],
    [{ parameters: undefined }, "parameters: "],
  ])("refuse %j by name", async (more, message) => {
    const project = await givenAMetricProject(service);

    const { status, json } = await project.call("POST /tools", { ...tool, ...more });

    expect(status).toBe(400);
    expect(json["message"]).toContain(message);
  });

  test("have names of their own", async () => {
    const project = await givenAMetricProject(service);
    await project.call("POST /tools", tool);

    expect((await project.call("POST /tools", tool)).status).toBe(409);
  });

  test("of another project are the fixed 404", async () => {
    const [mine, other] = [await givenAMetricProject(service), await givenAMetricProject(service)];
    const made = await mine.call("POST /tools", tool);
    const { insertedId: id } = made.json["result"] as { insertedId: string };

    const put = await other.call("PUT /tools", { id, name: "taken over" });
    const deleted = await other.call(`DELETE /tools?function_id=${id}`);
    const malformed = await other.call("DELETE /tools?function_id=none");

    expect([put.status, deleted.status, malformed.status]).toEqual([404, 404, 404]);
    expect((await other.call("GET /tools")).json).toEqual([]);
    expect((await mine.call("GET /tools")).json).toMatchObject([{ name: "find" }]);
  });
});

describe("GET /projects", () => {
  test("lists the key's own project alone", async () => {
    const project = await givenAMetricProject(service);
    await givenAMetricProject(service);
    const own = [{ id: project.projectId, name: "demo", description: "" }];

    expect((await project.call("GET /projects")).json).toEqual(own);
    expect((await project.call("GET /projects?name=demo")).json).toEqual(own);
    expect((await project.call("GET /projects?name=other")).json).toEqual([]);
  });

  test.each(["POST", "PUT", "DELETE"])("%s is no route", async (method) => {
    const project = await givenAMetricProject(service);

    const body = method === "DELETE" ? undefined : { name: "new" };
    expect((await project.call(`${method} /projects`, body)).status).toBe(404);
  });
});
