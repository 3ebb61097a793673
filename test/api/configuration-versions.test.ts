// Versions of configurations over the whole service: lists, comparisons, deployments, isolation.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { aConfiguration } from "../support/configurations.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const withTemplate = (content: string) => ({
  parameters: { ...aConfiguration.parameters, template: [{ role: "system", content }] },
});

/** Creates a configuration of three versions, the first one in production, and returns its path. */
async function givenVersions(project: MetricProject): Promise<string> {
  const body = { ...aConfiguration, ...withTemplate("Be kind."), env: ["prod"] };
  const { json } = await project.call("POST /v1/configurations", { ...body, message: "first" });
  const path = `/v1/configurations/${String(json["insertedId"])}`;
  await project.call(`PUT ${path}`, withTemplate("Be kind.\nBe short."));
  await project.call(`PUT ${path}`, { tags: ["x"], message: "tagged" });
  return path;
}

test("every change of the content is a version, with who, when and why", async () => {
  const project = await givenAMetricProject(service);
  const path = await givenVersions(project);

  const { json } = await project.call(`GET ${path}/versions`);

  const whole = {
    date: expect.any(String) as string,
    created_by: expect.stringContaining("key") as string,
    full_sha: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  };
  const content = { type: "LLM", provider: "openai", user_properties: {} };
  const later = withTemplate("Be kind.\nBe short.");
  expect(json).toEqual({
    success: true,
    data: [
      {
        name: "v1",
        message: "first",
        env: ["prod"],
        ...whole,
        content: { ...content, ...withTemplate("Be kind."), tags: [] },
      },
      {
        name: "v2",
        message: "updated parameters.template",
        env: [],
        ...whole,
        content: { ...content, ...later, tags: [] },
      },
      {
        name: "v3",
        message: "tagged",
        env: [],
        ...whole,
        content: { ...content, ...later, tags: ["x"] },
      },
    ],
  });
});

test("versions have pages, and are found by name and by number", async () => {
  const project = await givenAMetricProject(service);
  const path = await givenVersions(project);

  const first = await project.call(`GET ${path}/versions?limit=2`);
  const cursor = String(first.json["next_cursor"]);
  const last = await project.call(`GET ${path}/versions?limit=2&cursor=${cursor}`);

  expect(first.json["data"]).toMatchObject([{ name: "v1" }, { name: "v2" }]);
  expect(last.json["data"]).toMatchObject([{ name: "v3" }]);
  for (const name of ["v2", "2"]) {
    const got = await project.call(`GET ${path}/versions/${name}`);
    expect(got.json).toMatchObject({ success: true, data: { name: "v2" } });
  }
});

test("a comparison shows the fields that differ, and the lines of the template", async () => {
  const project = await givenAMetricProject(service);
  const path = await givenVersions(project);

  const { json } = await project.call(`GET ${path}/versions/v1/compare/3`);

  expect(json).toEqual({
    success: true,
    data: {
      from: "v1",
      to: "v3",
      changes: [
        {
          field: "parameters.template",
          before: withTemplate("Be kind.").parameters.template,
          after: withTemplate("Be kind.\nBe short.").parameters.template,
          lines: [
            { kind: "same", text: "[system]" },
            { kind: "same", text: "Be kind." },
            { kind: "added", text: "Be short." },
          ],
        },
        { field: "tags", before: [], after: ["x"] },
      ],
    },
  });
});

describe("environments", () => {
  test("keep their version while the configuration is changed", async () => {
    const project = await givenAMetricProject(service);
    const path = await givenVersions(project);

    const newest = await project.call(`GET ${path}`);
    const deployed = await project.call(`GET ${path}?env=prod`);
    const list = await project.call("GET /v1/configurations?env=prod");

    expect(newest.json).toMatchObject({ version: "v3", env: ["prod"], tags: ["x"] });
    expect(deployed.json).toMatchObject({ version: "v1", ...withTemplate("Be kind.") });
    expect(list.json["configurations"]).toEqual([deployed.json]);
    expect((await project.call(`GET ${path}?env=dev`)).status).toBe(404);
    expect((await project.call(`GET ${path}?env=test`)).status).toBe(400);
  });

  test("hold one version each, whichever was deployed last", async () => {
    const project = await givenAMetricProject(service);
    const path = await givenVersions(project);

    const staged = await project.call(`POST ${path}/versions/v2/deploy`, { env: "staging" });
    await project.call(`POST ${path}/versions/v2/deploy`, { env: "prod" });
    const moved = await project.call(`POST ${path}/versions/v3/deploy`, { env: "prod" });
    const versions = await project.call(`GET ${path}/versions`);

    expect(staged.json).toMatchObject({ success: true, data: { name: "v2", env: ["staging"] } });
    expect(moved.json).toMatchObject({ data: { name: "v3", env: ["prod"] } });
    expect(versions.json["data"]).toMatchObject([
      { env: [] },
      { env: ["staging"] },
      { env: ["prod"] },
    ]);
    expect((await project.call(`GET ${path}?env=prod`)).json["version"]).toBe("v3");
  });

  test("take the content of an update that names them, and leave the others", async () => {
    const project = await givenAMetricProject(service);
    const path = await givenVersions(project);

    const put = await project.call(`PUT ${path}`, { provider: "mistral", env: ["dev"] });
    const again = await project.call(`PUT ${path}`, { provider: "mistral", env: ["dev"] });

    expect(put.json).toMatchObject({ modifiedCount: 1 });
    expect(again.json).toMatchObject({ modifiedCount: 0 });
    expect((await project.call(`GET ${path}?env=dev`)).json).toMatchObject({ version: "v4" });
    expect((await project.call(`GET ${path}?env=prod`)).status).toBe(404);
  });

  test("are deployed with an audit row, and only once", async () => {
    const project = await givenAMetricProject(service);
    const path = await givenVersions(project);

    for (let round = 0; round < 2; round += 1) {
      await project.call(`POST ${path}/versions/v2/deploy`, { env: "prod" });
    }
    const rows = await service.database.sql()`
      select before, after from audit_log
      where target_id = ${path.split("/").at(-1) ?? ""} and action = 'configuration.deploy'`;

    expect([...rows]).toEqual([
      { before: { env: "prod", version: "v1" }, after: { env: "prod", version: "v2" } },
    ]);
  });

  test.each([{}, { env: "test" }])("refuse %j", async (body) => {
    const project = await givenAMetricProject(service);
    const path = await givenVersions(project);

    const { status, json } = await project.call(`POST ${path}/versions/v2/deploy`, body);

    expect(status).toBe(400);
    expect(json["message"]).toContain("env: ");
  });
});

test("absent versions and those of another project are the fixed 404", async () => {
  const [mine, other] = [await givenAMetricProject(service), await givenAMetricProject(service)];
  const path = await givenVersions(mine);
  const { text } = await mine.call("GET /v1/configurations/none");

  for (const [project, name] of [
    [mine, "v4"],
    [mine, "v0"],
    [mine, "latest"],
    [other, "v1"],
  ] as const) {
    const routes = [
      `GET ${path}/versions/${name}`,
      `GET ${path}/versions/v1/compare/${name}`,
      `POST ${path}/versions/${name}/deploy`,
      ...(project === other ? [`GET ${path}/versions`] : []),
    ];
    for (const route of routes) {
      const body = route.startsWith("POST") ? { env: "prod" } : undefined;
      expect(await project.call(route, body)).toMatchObject({ status: 404, text });
    }
  }
});
