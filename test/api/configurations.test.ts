// Configurations over the whole service: what published clients send and read, filters, pages,
// refusals and isolation. access.test.ts tests permissions.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { aConfiguration } from "../support/configurations.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

async function make(project: MetricProject, more: object = {}): Promise<string> {
  const { json } = await project.call("POST /v1/configurations", { ...aConfiguration, ...more });
  return String(json["insertedId"]);
}

async function get(project: MetricProject, id: string) {
  return (await project.call(`GET /v1/configurations/${id}`)).json;
}

const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;

const refusals: readonly (readonly [object, string])[] = [
  [{ name: " " }, "name: must not be blank"],
  [{ name: "a\0" }, "name: must not hold control characters"],
  [{ name: "a".repeat(201) }, "name: must be at most 200 characters long"],
  [{ type: "agent" }, 'type: must be one of LLM, pipeline, not "agent"'],
  [{ provider: " " }, "provider: must not be blank"],
  [{ env: ["prod", "test"] }, 'env[1]: must be one of dev, staging, prod, not "test"'],
  [{ tags: ["a", ""] }, "tags[1]: must not be blank"],
  [{ parameters: { model: "m" } }, "parameters.call_type: must be given"],
  [
    { parameters: { model: "m", call_type: "embed" } },
    'parameters.call_type: must be one of chat, completion, not "embed"',
  ],
  [{ parameters: { call_type: "chat" } }, "parameters.model: must be given"],
  [{ parameters: { call_type: "chat", model: 5 } }, "parameters.model: must be text"],
  ...(
    [
      [{ hyperparameters: [] }, "hyperparameters: must be an object"],
      [{ responseFormat: { type: 5 } }, "responseFormat.type: must be text"],
      [{ selectedFunctions: {} }, "selectedFunctions: must be a list"],
      [{ selectedFunctions: [{}] }, "selectedFunctions[0].name: must be given"],
      [
        { functionCallParams: "any" },
        'functionCallParams: must be one of none, auto, force, not "any"',
      ],
      [{ forceFunction: "find" }, "forceFunction: must be an object"],
      [{ template: 5 }, "template: must be text, or a list of messages"],
      [{ template: ["hello"] }, "template[0]: must be an object"],
      [{ template: [{ content: "a" }] }, "template[0].role: must be given"],
    ] as const
  ).map(
    ([more, fault]) =>
      [{ parameters: { ...aConfiguration.parameters, ...more } }, `parameters.${fault}`] as const,
  ),
  [{ unknown: 1 }, "unknown: is not a known key"],
];

describe("POST /v1/configurations", () => {
  test("stores what clients send, with the documented defaults", async () => {
    const project = await givenAMetricProject(service);

    const made = await project.call("POST /v1/configurations", aConfiguration);
    const got = await project.call("GET /v1/configurations");

    expect(made).toMatchObject({ status: 200, json: { acknowledged: true, insertedId: uuid } });
    expect(Object.keys(made.json)).toEqual(["acknowledged", "insertedId"]);
    const configuration = {
      id: made.json["insertedId"],
      ...aConfiguration,
      type: "LLM",
      env: [],
      tags: [],
      user_properties: {},
      created_at: time,
      updated_at: time,
      version: "v1",
    };
    expect(got.json).toEqual({ configurations: [configuration] });
    expect(await get(project, String(made.json["insertedId"]))).toEqual(configuration);
  });

  test("keeps the parameters with their keys and order, whatever else they hold", async () => {
    const project = await givenAMetricProject(service);
    const parameters = {
      model: "gpt-4o",
      call_type: "chat",
      hyperparameters: { temperature: 0.25, "seed\0": 7, deep: { list: [1, null, "\ud800"] } },
      responseFormat: { type: "json_object" },
      selectedFunctions: [
        { id: "f1", name: "find", description: "Finds.", parameters: { type: "object" } },
      ],
      functionCallParams: "force",
      forceFunction: { name: "find" },
      template: [{ role: "system", content: "Hello {{ name }}" }],
      some_new_key: { kept: true },
    };
    const more = { type: "pipeline", tags: ["a", "b", "a"], env: ["prod", "dev"] };

    const id = await make(project, { ...more, parameters, user_properties: { owner: "me" } });

    const got = await get(project, id);
    expect(got).toMatchObject({
      type: "pipeline",
      tags: ["a", "b"],
      env: ["dev", "prod"],
      user_properties: { owner: "me" },
    });
    expect(JSON.stringify(got["parameters"])).toBe(JSON.stringify(parameters));
  });

  test.each(refusals)("refuses %j by name", async (more, message) => {
    const project = await givenAMetricProject(service);

    const { status, json } = await project.call("POST /v1/configurations", {
      ...aConfiguration,
      ...more,
    });

    expect({ status, message: json["message"] }).toEqual({ status: 400, message });
  });

  test("refuses a name that another has, until that one is deleted", async () => {
    const project = await givenAMetricProject(service);
    const id = await make(project);

    const taken = await project.call("POST /v1/configurations", aConfiguration);
    await project.call(`DELETE /v1/configurations/${id}`);
    const free = await project.call("POST /v1/configurations", aConfiguration);

    expect(taken).toMatchObject({ status: 409, json: { errorCode: "NAME_TAKEN" } });
    expect(free.status).toBe(200);
  });

  test("refuses a content that is too long", async () => {
    const project = await givenAMetricProject(service);
    const parameters = { ...aConfiguration.parameters, template: "a".repeat(1_000_000) };

    const got = await project.call("POST /v1/configurations", { ...aConfiguration, parameters });

    expect(got.json["message"]).toContain("parameters: and the other fields must be at most");
  });
});

describe("GET /v1/configurations", () => {
  test("filters by name, tags and environment", async () => {
    const project = await givenAMetricProject(service);
    await make(project, { name: "one", tags: ["x", "y"], env: ["prod"] });
    await make(project, { name: "two", tags: ["x"], env: ["staging", "prod"] });
    await make(project, { name: "three" });
    const names = async (query: string) => {
      const { json } = await project.call(`GET /v1/configurations?${query}`);
      return (json["configurations"] as readonly { name: string }[]).map(({ name }) => name);
    };

    expect(await names("")).toEqual(["one", "three", "two"]);
    expect(await names("name=two")).toEqual(["two"]);
    expect(await names("name=on")).toEqual([]);
    expect(await names("env=prod")).toEqual(["one", "two"]);
    expect(await names("env=dev")).toEqual([]);
    expect(await names("tags=x")).toEqual(["one", "two"]);
    expect(await names("tags[]=x&tags[]=y&env=prod")).toEqual(["one"]);
  });

  test("has keyset pages", async () => {
    const project = await givenAMetricProject(service);
    for (const name of ["a", "b", "c"]) await make(project, { name });

    const first = await project.call("GET /v1/configurations?limit=2");
    const cursor = String(first.json["next_cursor"]);
    const last = await project.call(`GET /v1/configurations?limit=2&cursor=${cursor}`);

    expect(first.json["configurations"]).toMatchObject([{ name: "a" }, { name: "b" }]);
    expect(last.json).toMatchObject({ configurations: [{ name: "c" }] });
    expect(last.json).not.toHaveProperty("next_cursor");
  });

  test.each(["limit=0", "limit=1001", "env=test", "cursor=AA", "cursor=Nw"])(
    "refuses %s",
    async (query) => {
      const project = await givenAMetricProject(service);

      const { status, json } = await project.call(`GET /v1/configurations?${query}`);

      expect(status).toBe(400);
      expect(json["message"]).toContain(query.split("=")[0]);
    },
  );
});

describe("PUT /v1/configurations/{id}", () => {
  test("changes the given fields alone", async () => {
    const project = await givenAMetricProject(service);
    const id = await make(project, { tags: ["x"], user_properties: { owner: "me" } });
    const body = {
      name: "renamed",
      provider: "anthropic",
      parameters: { call_type: "completion", model: "claude" },
    };

    const put = await project.call(`PUT /v1/configurations/${id}`, body);

    expect(put).toMatchObject({ status: 200 });
    expect(put.json).toEqual({
      acknowledged: true,
      modifiedCount: 1,
      upsertedId: null,
      upsertedCount: 0,
      matchedCount: 1,
    });
    expect(await get(project, id)).toMatchObject({
      ...body,
      version: "v2",
      tags: ["x"],
      user_properties: { owner: "me" },
    });
  });

  test("says so when nothing differs, and makes no version", async () => {
    const project = await givenAMetricProject(service);
    const id = await make(project);

    const { json } = await project.call(`PUT /v1/configurations/${id}`, aConfiguration);

    expect(json).toMatchObject({ modifiedCount: 0, matchedCount: 1 });
    expect(await get(project, id)).toMatchObject({ version: "v1" });
  });

  test("empties lists that are given empty", async () => {
    const project = await givenAMetricProject(service);
    const id = await make(project, { tags: ["x"], env: ["prod"] });

    await project.call(`PUT /v1/configurations/${id}`, { tags: [], env: [] });

    expect(await get(project, id)).toMatchObject({ tags: [], env: [] });
  });

  test.each([
    [{ tags: "x" }, "tags: must be a list of texts"],
    [{ env: [1] }, "env[0]: must be text"],
    [{ parameters: { call_type: "chat" } }, "parameters.model: must be given"],
  ])("refuses %j by name", async (body, message) => {
    const project = await givenAMetricProject(service);
    const id = await make(project);

    const { status, json } = await project.call(`PUT /v1/configurations/${id}`, body);

    expect({ status, message: json["message"] }).toEqual({ status: 400, message });
  });

  test("refuses a name that another has", async () => {
    const project = await givenAMetricProject(service);
    await make(project, { name: "other" });
    const id = await make(project);

    const { status } = await project.call(`PUT /v1/configurations/${id}`, { name: "other" });

    expect(status).toBe(409);
  });
});

describe("DELETE /v1/configurations/{id}", () => {
  test("deletes, and the configuration is gone", async () => {
    const project = await givenAMetricProject(service);
    const id = await make(project, { env: ["prod"] });

    const deleted = await project.call(`DELETE /v1/configurations/${id}`);
    const again = await project.call(`DELETE /v1/configurations/${id}`);
    const list = await project.call("GET /v1/configurations");

    expect(deleted.json).toEqual({ acknowledged: true, deletedCount: 1 });
    expect(again.status).toBe(404);
    expect(list.json).toEqual({ configurations: [] });
  });
});

test("another project's key gets the fixed 404, and changes nothing", async () => {
  const [mine, other] = [await givenAMetricProject(service), await givenAMetricProject(service)];
  const id = await make(mine);
  const absent = await other.call("GET /v1/configurations/0190c2a4-0000-7000-8000-000000000000");

  for (const method of ["GET", "PUT", "DELETE"]) {
    const body = method === "PUT" ? { name: "taken over" } : undefined;
    const got = await other.call(`${method} /v1/configurations/${id}`, body);
    expect({ status: got.status, text: got.text }).toEqual({ status: 404, text: absent.text });
  }
  expect((await other.call("GET /v1/configurations")).json).toEqual({ configurations: [] });
  expect(await get(mine, id)).toMatchObject({ name: "greeting", version: "v1" });
});

test("every change is in the audit log, without the parameters", async () => {
  const project = await givenAMetricProject(service);
  const id = await make(project);
  await project.call(`PUT /v1/configurations/${id}`, { tags: ["x"] });
  await project.call(`DELETE /v1/configurations/${id}`);

  const rows = await service.database.sql()`
    select action, before ->> 'version' as before, after ->> 'version' as after
    from audit_log where target_id = ${id} order by sequence`;

  expect([...rows]).toEqual([
    { action: "configuration.create", before: null, after: "v1" },
    { action: "configuration.update", before: "v1", after: "v2" },
    { action: "configuration.delete", before: "v2", after: null },
  ]);
});
