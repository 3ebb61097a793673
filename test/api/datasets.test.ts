// Datasets and datapoints over the whole service, in the shapes that published clients send and
// read. Source: the published clients of this API; docs/datasets.md; docs/decisions.md, 39.1, 39.2.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

type Json = Readonly<Record<string, unknown>>;
type Listed = readonly Json[];

const anId = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;

async function create(project: MetricProject, path: string, body: unknown): Promise<string> {
  const { result } = (await project.ok(`POST ${path}`, body)) as { result: Json };
  return String(result["insertedId"]);
}

const aDataset = (project: MetricProject, name = "questions"): Promise<string> =>
  create(project, "/v1/datasets", { name });

const idsOf = async (project: MetricProject, query: string): Promise<unknown> => {
  const { datasets } = (await project.ok(`GET /v1/datasets?${query}`)) as { datasets: Listed };
  return datasets[0]?.["datapoints"];
};

const list = async (project: MetricProject, query: string): Promise<Listed> =>
  (await project.ok(`GET /v1/datapoints?${query}`))["datapoints"] as Listed;

describe("datasets of current clients", () => {
  test("are created, listed by id and by name, changed and deleted", async () => {
    const project = await givenAMetricProject(service);
    const made = await project.ok("POST /v1/datasets", {
      name: "questions",
      description: "Of travellers",
      project: "a stale name",
    });
    const { insertedId } = made["result"] as { insertedId: string };
    expect(made).toEqual({ inserted: true, result: { insertedId: anId } });

    const dataset = {
      id: insertedId,
      name: "questions",
      description: "Of travellers",
      datapoints: [],
      created_at: aTime,
      updated_at: null,
      version: 1,
      num_datapoints: 0,
    };
    for (const query of [`dataset_id=${insertedId}`, "name=questions", ""]) {
      expect(await project.ok(`GET /v1/datasets?${query}`)).toEqual({ datasets: [dataset] });
    }
    expect(await project.ok(`GET /v1/datasets?name=question`)).toEqual({ datasets: [] });

    const same = { dataset_id: insertedId, name: "questions" };
    expect(await project.ok("PUT /v1/datasets", same)).toEqual({ result: dataset });
    const change = { dataset_id: insertedId, name: "renamed", description: "Other" };
    const changed = { ...dataset, name: "renamed", description: "Other", updated_at: aTime };
    expect(await project.ok("PUT /v1/datasets", change)).toEqual({ result: changed });
    expect(await project.ok("GET /v1/datasets")).toEqual({ datasets: [changed] });

    const route = `DELETE /v1/datasets?dataset_id=${insertedId}`;
    expect(await project.ok(route)).toEqual({ result: { id: insertedId } });
    expect(await project.ok("GET /v1/datasets")).toEqual({ datasets: [] });
    expect((await project.call(route)).status).toBe(404);
  });

  test("of one name come newest first, in pages", async () => {
    const project = await givenAMetricProject(service);
    const ids = [await aDataset(project), await aDataset(project), await aDataset(project)];

    const first = await project.ok("GET /v1/datasets?name=questions&limit=2");
    const cursor = String(first["next_cursor"]);
    const second = await project.ok(`GET /v1/datasets?limit=2&cursor=${cursor}`);

    const listed = [...(first["datasets"] as Listed), ...(second["datasets"] as Listed)];
    expect(listed.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(second).not.toHaveProperty("next_cursor");
  });

  test("take existing datapoints in the order given", async () => {
    const project = await givenAMetricProject(service);
    const points = [
      await create(project, "/v1/datapoints", { inputs: { n: 1 } }),
      await create(project, "/v1/datapoints", { inputs: { n: 2 } }),
      await create(project, "/v1/datapoints", { inputs: { n: 3 } }),
    ];
    const datasetId = await create(project, "/v1/datasets", { datapoints: points });
    expect(await idsOf(project, `dataset_id=${datasetId}`)).toEqual(points);

    const turned = [points[2], points[0]];
    await project.ok(`PUT /v1/datasets/${datasetId}`, { datapoints: turned });
    expect(await idsOf(project, `name=Untitled%20Dataset`)).toEqual(turned);
    await project.ok(`PUT /v1/datasets/${datasetId}`, { datapoints: [] });
    expect(await idsOf(project, `dataset_id=${datasetId}`)).toEqual([]);
  });

  test("count an emoji in a name as one character", async () => {
    const project = await givenAMetricProject(service);
    const name = "🐝".repeat(256);

    await aDataset(project, name);

    const { json } = await project.call("POST /datasets", { name: `${name}🐝` });
    expect(json["message"]).toBe("name: must be at most 256 characters long");
  });

  test.each([
    ["a long name", { name: "n".repeat(257) }, "name: must be at most 256 characters long"],
    ["a blank name", { name: "  " }, "name: must not be blank"],
    [
      "a long description",
      { description: "d".repeat(10_001) },
      "description: must be at most 10000 characters long",
    ],
    [
      "an absent datapoint",
      { datapoints: ["x"] },
      "datapoints[0]: the project has no such datapoint",
    ],
  ])("with %s are refused by name", async (_, body, message) => {
    const project = await givenAMetricProject(service);

    expect(await project.call("POST /v1/datasets", body)).toMatchObject({
      status: 400,
      json: { errorCode: "INVALID_ARGUMENT", message },
    });
    expect(await project.ok("GET /v1/datasets")).toEqual({ datasets: [] });
  });
});

test("a cursor of one list is refused by every other list", async () => {
  const project = await givenAMetricProject(service);
  const first = await aDataset(project, "first");
  await aDataset(project, "second");
  const { next_cursor: cursor } = await project.ok("GET /v1/datasets?limit=1");

  const others = ["/v1/datapoints", `/v1/datapoints?dataset_id=${first}`];
  const messages = others.map(async (path) => {
    const query = `${path.includes("?") ? "&" : "?"}limit=1&cursor=${String(cursor)}`;
    const { status, json } = await project.call(`GET ${path}${query}`);
    return [status, json["message"]];
  });
  const refusal = [400, "cursor: it is not a next_cursor"];
  expect(await Promise.all(messages)).toEqual([refusal, refusal]);
  const next = await project.ok(`GET /v1/datasets?limit=1&cursor=${String(cursor)}`);
  expect(next["datasets"]).toHaveLength(1);
});

describe("datapoints of current clients", () => {
  test("are created, listed, changed and deleted", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const content = {
      inputs: { question: "Where to?", nested: { b: [1, 2.5], a: null } },
      history: [{ role: "user", content: "Hello \u0000" }],
      ground_truth: { answer: "Paris" },
      metadata: { level: 2 },
    };
    const body = { ...content, linked_datasets: [datasetId], project: "a stale name" };
    const made = await project.ok("POST /v1/datapoints", body);
    const id = String((made["result"] as Json)["insertedId"]);
    const result = { insertedId: id, insertedIds: [id] };
    expect(made).toEqual({ inserted: true, result });

    const datapoint = {
      ...content,
      id,
      linked_event: null,
      linked_datasets: [datasetId],
      created_at: aTime,
      updated_at: null,
    };
    expect(await project.ok(`GET /v1/datapoints/${id}`)).toEqual({ datapoint: [datapoint] });
    for (const query of [`datapoint_ids[]=${id}`, "dataset_name=questions", ""]) {
      expect(await list(project, query)).toEqual([datapoint]);
    }
    expect(await idsOf(project, "name=questions")).toEqual([id]);

    const change = { inputs: { question: "Why?" } };
    const changed = { updated: true, result: { modifiedCount: 1 } };
    expect(await project.ok(`PUT /v1/datapoints/${id}`, change)).toEqual(changed);
    expect(await list(project, "")).toEqual([{ ...datapoint, ...change, updated_at: aTime }]);
    const same = { updated: true, result: { modifiedCount: 0 } };
    expect(await project.ok(`PUT /v1/datapoints/${id}`, change)).toEqual(same);

    expect(await project.ok(`DELETE /v1/datapoints/${id}`)).toEqual({ deleted: true });
    expect((await project.call(`GET /v1/datapoints/${id}`)).status).toBe(404);
    expect(await idsOf(project, "name=questions")).toEqual([]);
  });

  test("lack what was not given, as null", async () => {
    const project = await givenAMetricProject(service);
    const id = await create(project, "/v1/datapoints", {});

    const [datapoint] = await list(project, "");

    expect(datapoint).toEqual({
      id,
      inputs: {},
      history: [],
      ground_truth: null,
      metadata: null,
      linked_event: null,
      linked_datasets: [],
      created_at: aTime,
      updated_at: null,
    });
  });

  test("are the same in the other case of their ids", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const body = { inputs: { n: 1 }, linked_datasets: [datasetId.toUpperCase()] };
    const [kept, removed, deleted] = [
      await create(project, "/v1/datapoints", body),
      await create(project, "/v1/datapoints", body),
      await create(project, "/v1/datapoints", body),
    ];
    const [first, second, third] = [kept, removed, deleted].map((id) => id.toUpperCase());

    await project.ok(`PUT /v1/datapoints/${first}`, { inputs: { n: 2 } });
    await project.ok(`DELETE /v1/datasets/${datasetId}/datapoints/${second}`);
    await project.ok(`DELETE /v1/datapoints/${third}`);

    expect(await list(project, `dataset_id=${datasetId.toUpperCase()}`)).toMatchObject([
      { id: kept, inputs: { n: 2 }, linked_datasets: [datasetId] },
    ]);
    await project.ok("PUT /v1/datasets", { dataset_id: datasetId, datapoints: [second] });
    expect(await idsOf(project, "name=questions")).toEqual([removed]);
  });

  test("change their datasets and their history", async () => {
    const project = await givenAMetricProject(service);
    const [one, two] = [await aDataset(project, "one"), await aDataset(project, "two")];
    const body = { history: [{ role: "user" }], linked_datasets: [one] };
    const id = await create(project, "/v1/datapoints", body);

    await project.ok(`PUT /v1/datapoints/${id}`, { history: [], linked_datasets: [two] });

    expect(await list(project, "")).toMatchObject([{ history: [], linked_datasets: [two] }]);
    expect([await idsOf(project, "name=one"), await idsOf(project, "name=two")]).toEqual([
      [],
      [id],
    ]);
  });

  test.each([
    [{ linked_datasets: ["x"] }, "linked_datasets[0]: the project has no such dataset"],
    [{ linked_event: "a\nb" }, "linked_event: must be 1 to 128 printable characters"],
    [{ inputs: 3 }, "inputs: must be an object"],
    [{ history: [3] }, "history[0]: must be an object"],
    [{ history: { role: "user" } }, "history: must be an array"],
  ])("with %j are refused by name", async (body, message) => {
    const project = await givenAMetricProject(service);

    const { status, json } = await project.call("POST /v1/datapoints", body);

    expect({ status, message: json["message"] }).toEqual({ status: 400, message });
    expect(await list(project, "")).toEqual([]);
  });

  test("name an absent dataset by its place among repeated ones", async () => {
    const project = await givenAMetricProject(service);
    const id = await aDataset(project);

    const body = { linked_datasets: [id, id, "x"] };
    const { json } = await project.call("POST /v1/datapoints", body);

    expect(json["message"]).toBe("linked_datasets[2]: the project has no such dataset");
  });

  test("of an absent dataset are refused by name", async () => {
    const project = await givenAMetricProject(service);

    const { status, json } = await project.call("GET /v1/datapoints?dataset_id=absent");

    expect([status, json["message"]]).toEqual([400, "dataset_id: the project has no such dataset"]);
  });

  test("are read in pages, all of them and those of a dataset", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const data = Array.from({ length: 25 }, (_, n) => ({ n }));
    const body = { data, mapping: { inputs: ["n"] } };
    await project.ok(`POST /v1/datasets/${datasetId}/datapoints`, body);

    for (const query of [`dataset_id=${datasetId}`, "dataset_name=questions", "version=2"]) {
      const source = query === "version=2" ? `dataset_id=${datasetId}&${query}` : query;
      expect(await readPages(project, source)).toEqual(data);
    }
    expect(await readPages(project, "")).toEqual(data);
    const listed = await list(project, `dataset_id=${datasetId}`);
    const ids = listed.map(({ id }) => String(id)).toReversed();
    const named = ids.map((id) => `datapoint_ids[]=${id}`).join("&");
    expect(await readPages(project, named)).toEqual(data.toReversed());
  });

  async function readPages(project: MetricProject, source: string): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let cursor = ""; ;) {
      const query = `${source}&limit=10${cursor && `&cursor=${cursor}`}`;
      const page = await project.ok(`GET /v1/datapoints?${query}`);
      found.push(...(page["datapoints"] as Listed).map(({ inputs }) => inputs));
      if (page["next_cursor"] === undefined) return found;
      cursor = page["next_cursor"] as string;
    }
  }
});

describe("objects added to a dataset", () => {
  test("become datapoints by a mapping, and lose no key", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const message = { role: "user", content: "Hello" };
    const data = [
      { question: "Where?", answer: "Paris", chat: [message], level: 1 },
      { question: "Why?" },
    ];
    const mapping = { inputs: ["question"], ground_truth: ["answer"], history: ["chat"] };

    const route = `POST /v1/datasets/${datasetId}/datapoints`;
    const made = await project.ok(route, { data, mapping });

    const ids = made["datapoint_ids"];
    expect(made).toEqual({ inserted: true, datapoint_ids: [anId, anId] });
    expect(await idsOf(project, "name=questions")).toEqual(ids);
    expect(await list(project, `dataset_id=${datasetId}`)).toMatchObject([
      {
        inputs: { question: "Where?" },
        ground_truth: { answer: "Paris" },
        history: [message],
        metadata: { level: 1 },
      },
      { inputs: { question: "Why?" }, ground_truth: null, history: [], metadata: null },
    ]);
  });

  test("are stored all or none", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const body = { data: [{ chat: [] }, { chat: "no list" }], mapping: { history: ["chat"] } };

    const answer = await project.call(`POST /v1/datasets/${datasetId}/datapoints`, body);

    expect(answer).toMatchObject({
      status: 400,
      json: {
        message: "data[1].chat: must be an object or a list of objects, to become history",
      },
    });
    expect(await list(project, "")).toEqual([]);
  });

  test("need a mapping of few keys", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const inputs = Array.from({ length: 501 }, (_, n) => `key ${n}`);
    const body = { data: [{ a: 1 }], mapping: { inputs } };

    const answer = await project.call(`POST /v1/datasets/${datasetId}/datapoints`, body);

    const message = "mapping: must name at most 500 keys";
    expect(answer).toMatchObject({ status: 400, json: { message } });
  });

  test("need a dataset of the project", async () => {
    const project = await givenAMetricProject(service);
    const other = await aDataset(await givenAMetricProject(service));
    const body = { data: [{ a: 1 }], mapping: { inputs: ["a"] } };

    const { status } = await project.call(`POST /v1/datasets/${other}/datapoints`, body);

    expect(status).toBe(404);
  });
});

describe("events made into datapoints", () => {
  const given = (project: MetricProject, event: Json): Promise<Json> =>
    project.ok("POST /events", { event: { event_type: "model", source: "test", ...event } });

  async function givenEvents(project: MetricProject): Promise<void> {
    const chat = [{ role: "user", content: "Hello" }];
    await given(project, {
      event_id: "e1",
      inputs: { question: "Where?", chat_history: chat },
      outputs: { content: "Paris" },
      metadata: { kind: "good" },
    });
    await given(project, {
      event_id: "e2",
      inputs: { question: "Why?" },
      outputs: { content: "So" },
      feedback: { ground_truth: "Because" },
      metadata: { kind: "good" },
    });
    await given(project, { event_id: "e3", inputs: {}, metadata: { kind: "bad" } });
  }

  const contentsOf = async (project: MetricProject): Promise<Listed> =>
    (await list(project, "")).toSorted((a, b) =>
      String(a["linked_event"]).localeCompare(String(b["linked_event"])),
    );

  test("are those that are named, with their usual parts", async () => {
    const project = await givenAMetricProject(service);
    await givenEvents(project);
    const datasetId = await aDataset(project);
    const body = { events: ["e1"], checkState: { e2: true, e3: false }, dataset_id: datasetId };

    const made = await project.ok("POST /v1/datapoints/batch", body);

    expect(made).toEqual({ inserted: true, insertedIds: [anId, anId] });
    expect(await idsOf(project, "name=questions")).toEqual(made["insertedIds"]);
    expect(await contentsOf(project)).toMatchObject([
      {
        linked_event: "e1",
        inputs: { question: "Where?" },
        history: [{ role: "user", content: "Hello" }],
        ground_truth: { content: "Paris" },
      },
      {
        linked_event: "e2",
        inputs: { question: "Why?" },
        ground_truth: { ground_truth: "Because" },
      },
    ]);
  });

  test("are all that match, except the unchecked ones, by a mapping", async () => {
    const project = await givenAMetricProject(service);
    await givenEvents(project);

    await project.ok("POST /v1/datapoints/batch", {
      selectAll: true,
      filters: [{ field: "metadata.kind", operator: "is", value: "good", type: "string" }],
      checkState: { e2: false },
      mapping: { inputs: ["inputs.question", "metadata"], ground_truth: ["outputs.content"] },
    });

    expect(await contentsOf(project)).toMatchObject([
      {
        linked_event: "e1",
        inputs: { question: "Where?", kind: "good" },
        ground_truth: { content: "Paris" },
      },
    ]);
  });

  test.each([
    [{ events: ["e1", "absent"] }, "events: the project has no event absent"],
    [{}, "events: must name at least one event"],
    [{ events: ["e1"], dataset_id: "absent" }, "^dataset_id: the project has no such dataset$"],
    [
      { events: ["e1"], mapping: { inputs: ["input.a"] } },
      "mapping: input.a: must begin with one of config, inputs",
    ],
    [
      { events: ["e1"], mapping: { inputs: [`inputs${".a".repeat(16)}`] } },
      "mapping: a path must have at most 1000 characters and 16 parts",
    ],
    [
      { events: ["e1"], mapping: { inputs: ["inputs.id", "inputs.id", "metadata.user.id"] } },
      "mapping.inputs: inputs.id and metadata.user.id give the same key",
    ],
  ])("for %j are refused by name", async (body, message) => {
    const project = await givenAMetricProject(service);
    await givenEvents(project);

    const { status, json } = await project.call("POST /v1/datapoints/batch", body);

    expect({ status, message: json["message"] }).toEqual({
      status: 400,
      message: expect.stringMatching(message) as string,
    });
    expect(await list(project, "")).toEqual([]);
  });
});

describe("versions of a dataset", () => {
  test("count what a given list adds and removes, not what it only moves", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const body = { data: [{ n: 1 }, { n: 2 }, { n: 3 }], mapping: { inputs: ["n"] } };
    const made = await project.ok(`POST /v1/datasets/${datasetId}/datapoints`, body);
    const [one, two] = made["datapoint_ids"] as string[];
    const other = { data: [{ n: 4 }], mapping: { inputs: ["n"] } };
    const added = await project.ok(
      `POST /v1/datasets/${await aDataset(project)}/datapoints`,
      other,
    );
    const [four] = added["datapoint_ids"] as string[];

    for (const datapoints of [
      [two, one],
      [one, four, two],
    ]) {
      await project.ok(`PUT /v1/datasets/${datasetId}`, { datapoints });
    }
    await project.ok(`POST /v1/datapoints`, { inputs: { n: 5 }, linked_datasets: [datasetId] });

    const { versions } = (await project.ok(`GET /v1/datasets/${datasetId}/versions`)) as {
      versions: Listed;
    };
    expect(versions.slice(0, 3)).toMatchObject([
      { version: 5, added: 1, removed: 0, num_datapoints: 4 },
      { version: 4, added: 1, removed: 0, num_datapoints: 3 },
      { version: 3, added: 0, removed: 1, num_datapoints: 2 },
    ]);
    const inputsIn = async (version: number): Promise<unknown[]> =>
      (await list(project, `dataset_id=${datasetId}&version=${version}`)).map(
        ({ inputs }) => (inputs as { n: number }).n,
      );
    expect(await Promise.all([2, 3, 4, 5].map(inputsIn))).toEqual([
      [1, 2, 3],
      [2, 1],
      [1, 4, 2],
      [1, 4, 2, 5],
    ]);
  });

  test("keep the datapoints as they were", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const body = { data: [{ n: 1 }, { n: 2 }], mapping: { inputs: ["n"] } };
    const made = await project.ok(`POST /v1/datasets/${datasetId}/datapoints`, body);
    const [one, two] = made["datapoint_ids"] as string[];
    await project.ok(`PUT /v1/datapoints/${one}`, { inputs: { n: 10 } });
    await project.ok(`DELETE /v1/datasets/${datasetId}/${two}`);
    await project.ok(`DELETE /v1/datapoints/${one}`);

    const { versions } = (await project.ok(`GET /v1/datasets/${datasetId}/versions`)) as {
      versions: Listed;
    };

    expect(versions).toEqual([
      { version: 5, added: 0, changed: 0, removed: 1, num_datapoints: 0, created_at: aTime },
      { version: 4, added: 0, changed: 0, removed: 1, num_datapoints: 1, created_at: aTime },
      { version: 3, added: 0, changed: 1, removed: 0, num_datapoints: 2, created_at: aTime },
      { version: 2, added: 2, changed: 0, removed: 0, num_datapoints: 2, created_at: aTime },
      { version: 1, added: 0, changed: 0, removed: 0, num_datapoints: 0, created_at: aTime },
    ]);
    const inputsIn = async (version: number): Promise<unknown[]> =>
      (await list(project, `dataset_id=${datasetId}&version=${version}`)).map(
        ({ inputs }) => inputs,
      );
    expect(await inputsIn(2)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await inputsIn(3)).toEqual([{ n: 10 }, { n: 2 }]);
    expect(await inputsIn(4)).toEqual([{ n: 10 }]);
    expect(await inputsIn(5)).toEqual([]);
    const second = await project.ok(`GET /v1/datasets/${datasetId}?version=2`);
    expect(second).toMatchObject({ dataset: { datapoints: [one, two], version: 2 } });
  });

  test("go with their dataset", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const id = await create(project, "/v1/datapoints", { linked_datasets: [datasetId] });
    await project.ok(`PUT /v1/datapoints/${id}`, { inputs: { n: 1 } });

    await project.ok(`DELETE /v1/datasets/${datasetId}`);

    expect(await list(project, "")).toMatchObject([{ id, linked_datasets: [] }]);
    const { database } = service;
    const [left] = await database.sql()`
      select count(*)::integer as revisions from datapoints where datapoint_id = ${id}`;
    expect(left).toEqual({ revisions: 1 });
    expect((await project.call(`GET /v1/datasets/${datasetId}/versions`)).status).toBe(404);
  });

  test("are numbered without a gap under concurrent changes", async () => {
    const project = await givenAMetricProject(service);
    const datasetId = await aDataset(project);
    const body = { inputs: {}, linked_datasets: [datasetId] };

    await Promise.all(Array.from({ length: 20 }, () => create(project, "/v1/datapoints", body)));

    const { versions } = (await project.ok(`GET /v1/datasets/${datasetId}/versions`)) as {
      versions: Listed;
    };
    expect(versions.map(({ version }) => version)).toEqual(
      Array.from({ length: 21 }, (_, index) => 21 - index),
    );
    expect(await idsOf(project, "name=questions")).toHaveLength(20);
  });
});

describe("older clients", () => {
  test("read datasets as testcases and datapoints without nulls", async () => {
    const project = await givenAMetricProject(service);
    const body = { project: "p", name: "old", type: "evaluation", linked_evals: ["r1"] };
    const datasetId = await create(project, "/datasets", body);
    const inserted = await project.ok(`POST /datasets/${datasetId}/datapoints`, {
      project: "p",
      data: [{ q: 1, a: 2 }],
      mapping: { inputs: ["q"], ground_truth: ["a"], history: [] },
    });
    const [id] = inserted["datapoint_ids"] as string[];

    expect(await project.ok(`GET /datasets?project=p&dataset_id=${datasetId}`)).toEqual({
      testcases: [
        {
          _id: datasetId,
          project: "demo",
          name: "old",
          type: "evaluation",
          datapoints: [id],
          num_points: 1,
          linked_evals: ["r1"],
          saved: false,
          pipeline_type: "event",
          created_at: aTime,
          updated_at: aTime,
        },
      ],
    });
    const datapoint = {
      _id: id,
      project_id: project.projectId,
      inputs: { q: 1 },
      history: [],
      ground_truth: { a: 2 },
      linked_datasets: [datasetId],
      created_at: aTime,
    };
    expect(await project.ok(`GET /datapoints/${id}`)).toEqual({ datapoint: [datapoint] });
    const route = "GET /datapoints?project=p&dataset_name=old";
    expect(await project.ok(route)).toEqual({ datapoints: [datapoint] });
    await project.ok(`PUT /datapoints/${id}`, { inputs: { q: 3 } });
    await project.ok("PUT /datasets", { dataset_id: datasetId, name: "newer" });
    await project.ok(`DELETE /datapoints/${id}`);
    await project.ok(`DELETE /datasets?dataset_id=${datasetId}`);
    expect(await project.ok("GET /datasets?project=p")).toEqual({ testcases: [] });
  });
});
