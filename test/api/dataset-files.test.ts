// Files of datasets: an exported file can be imported unchanged in each format; wrong files are
// refused. Source: docs/datasets.md, "Files"; docs/decisions.md, 39.7.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DatasetFileService } from "../../gen/waggle/v1/dataset_file_pb.js";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService, type TestService } from "../support/service.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const types = {
  jsonl: "application/x-ndjson",
  csv: "text/csv",
  parquet: "application/vnd.apache.parquet",
} as const;
type Format = keyof typeof types;
const formats = Object.keys(types) as Format[];

async function newDataset(project: MetricProject): Promise<string> {
  const made = await project.ok("POST /v1/datasets", { name: "d" });
  return (made["result"] as { insertedId: string }).insertedId;
}

async function exportFile(
  { key }: MetricProject,
  datasetId: string,
  format: Format,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${service.url}/v1/datasets/${datasetId}/export`, {
    headers: { authorization: `Bearer ${key}`, accept: types[format] },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(types[format]);
  return new Uint8Array(await response.arrayBuffer());
}

type Imported = {
  readonly status: number;
  readonly message: unknown;
  /** The last message. */
  readonly end: Readonly<Record<string, unknown>>;
};

async function importFile(
  { key }: MetricProject,
  datasetId: string,
  format: Format | "text/plain",
  body: Uint8Array<ArrayBuffer> | string,
  query = "",
): Promise<Imported> {
  const type = format === "text/plain" ? format : types[format];
  const response = await fetch(`${service.url}/v1/datasets/${datasetId}/import${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": type },
    body,
  });
  const lines = (await response.text()).trim().split("\n");
  const end = JSON.parse(lines.at(-1) ?? "{}") as Imported["end"];
  return { status: response.status, message: end["message"], end };
}

/** Returns the datapoints of a dataset, in their order. */
async function contentsOf(project: MetricProject, datasetId: string) {
  const lines = Buffer.from(await exportFile(project, datasetId, "jsonl"))
    .toString()
    .trim();
  const items = lines.split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(items.at(-1)).toMatchObject({ done: true, count: items.length - 1 });
  return items.slice(0, -1);
}

const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const object = fc.dictionary(fc.string({ unit: "grapheme" }), json, { maxKeys: 3 });
const datapoint = fc.record({
  inputs: object,
  history: fc.array(object, { maxLength: 2 }),
  ground_truth: fc.option(object),
  metadata: fc.option(object),
  linked_event: fc.option(fc.constantFrom("e1", 'an event, with "quotes"', "é")),
});

describe.each(formats)("%s", (format) => {
  test("of an exported dataset is imported unchanged, and again without a change", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(datapoint, { minLength: 1, maxLength: 8 }), async (rows) => {
        const from = await givenAMetricProject(service);
        const source = await newDataset(from);
        for (const row of rows) {
          const given = Object.fromEntries(Object.entries(row).filter(([, one]) => one !== null));
          await from.ok("POST /v1/datapoints", { ...given, linked_datasets: [source] });
        }
        const file = await exportFile(from, source, format);
        const to = await givenAMetricProject(service);
        const target = await newDataset(to);

        const first = await importFile(to, target, format, file);
        const second = await importFile(to, target, format, file);

        const count = rows.length;
        const counts = { done: true, rows: count, stored: count };
        expect(first.end).toMatchObject({ ...counts, added: count, changed: 0, version: 2 });
        expect(second.end).toMatchObject({
          ...counts,
          ...{ added: 0, changed: 0, unchanged: count, version: 2 },
        });
        expect(await contentsOf(to, target)).toEqual(await contentsOf(from, source));
      }),
      { numRuns: 10 },
    );
  });

  test("without rows, or of another kind, is refused", async () => {
    const project = await givenAMetricProject(service);
    const dataset = await newDataset(project);

    for (const text of ["", '{"inputs": ', "no file of this kind"]) {
      const got = await importFile(project, dataset, format, text);
      expect([text, got.status]).toEqual([text, 400]);
    }
    expect(await contentsOf(project, dataset)).toEqual([]);
  });
});

test("a bad row is named, and nothing of the file is stored", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const good = '{"inputs": {"a": 1}}\n';
  const cases: readonly (readonly [string, RegExp])[] = [
    [`${good}{"inputs": 1}\n`, /^row 2: inputs: must be an object/],
    [`${good}${good}{"history": []}\n`, /^row 3: inputs: is required/],
    [`${good}{"inputs": {}, "history": [1]}\n`, /^row 2: history\[0\]: must be an object/],
    [`${good}{"inputs": {}, "id": "x"}\n`, /^row 2: id: must be a UUID/],
    [`${good}{"inputs": {}, "question": "x"}\n`, /^row 2: "question": is no column of an export/],
    [`${good}[1]\n`, /row 2 is not an object/],
    [`${good}{"inputs": \n`, /line 2 is not JSON/],
    [`{"inputs": {"a": ${"[".repeat(600)}${"]".repeat(600)}}}`, /^row 1: inputs/],
  ];
  for (const [text, message] of cases) {
    const got = await importFile(project, dataset, "jsonl", text);
    expect(got.status).toBe(400);
    expect(got.message).toMatch(message);
  }
  expect(await contentsOf(project, dataset)).toEqual([]);
});

test("columns of a foreign file become what the request says, the others metadata", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const csv = 'question,answer,topic\n"What, now?",yes,a\nWhere,"no\nway",b\n';
  const rows = [{ question: "Why", answer: "so", topic: 7n, messages: [{ role: "user" }] }];
  const parquet = parquetWriteBuffer({
    columnData: [
      { name: "question", data: rows.map((row) => row.question), type: "STRING" },
      { name: "answer", data: rows.map((row) => row.answer), type: "STRING" },
      { name: "topic", data: rows.map((row) => row.topic), type: "INT64" },
      { name: "messages", data: rows.map((row) => row.messages), type: "JSON" },
    ],
  });
  const mapping = "?inputs=question&ground_truth=answer&history=messages";

  const imported = [
    await importFile(project, dataset, "csv", csv, mapping),
    await importFile(project, dataset, "parquet", new Uint8Array(parquet), mapping),
  ];

  expect(imported.map(({ end }) => end["added"])).toEqual([2, 1]);
  const contents = await contentsOf(project, dataset);
  const ofAFile = { id: expect.any(String) as string, linked_event: null };
  expect(contents).toEqual([
    {
      ...ofAFile,
      inputs: { question: "What, now?" },
      ground_truth: { answer: "yes" },
      metadata: { topic: "a" },
      history: [],
    },
    {
      ...ofAFile,
      inputs: { question: "Where" },
      ground_truth: { answer: "no\nway" },
      metadata: { topic: "b" },
      history: [],
    },
    {
      ...ofAFile,
      inputs: { question: "Why" },
      ground_truth: { answer: "so" },
      metadata: { topic: 7 },
      history: [{ role: "user" }],
    },
  ]);
});

test("a row with a known id changes that datapoint, in each dataset that has it", async () => {
  const project = await givenAMetricProject(service);
  const [first, second] = [await newDataset(project), await newDataset(project)];
  const made = await project.ok("POST /v1/datapoints", {
    ...{ inputs: { a: 1 }, linked_datasets: [first, second] },
  });
  const { insertedId: id } = made["result"] as { insertedId: string };

  const got = await importFile(
    ...([project, first, "jsonl", JSON.stringify({ id, inputs: { a: 2 } })] as const),
  );

  expect(got.end).toMatchObject({ done: true, added: 0, changed: 1, unchanged: 0, version: 3 });
  for (const dataset of [first, second]) {
    expect(await contentsOf(project, dataset)).toMatchObject([{ id, inputs: { a: 2 } }]);
    const old = await project.ok(`GET /v1/datapoints?dataset_id=${dataset}&version=2`);
    expect(old["datapoints"]).toMatchObject([{ id, inputs: { a: 1 } }]);
  }
});

test("another type of file is refused, and another project's dataset is absent", async () => {
  const project = await givenAMetricProject(service);
  const other = await givenAMetricProject(service);
  const dataset = await newDataset(project);

  const plain = await importFile(project, dataset, "text/plain", "{}");
  const foreign = await importFile(other, dataset, "jsonl", '{"inputs": {}}');

  expect([plain.status, plain.message]).toEqual([
    400,
    expect.stringMatching(/^content-type: must be one of application\/x-ndjson/),
  ]);
  expect(foreign.status).toBe(404);
  const response = await fetch(`${service.url}/v1/datasets/${dataset}/export`, {
    headers: { authorization: `Bearer ${other.key}` },
  });
  expect(response.status).toBe(404);
});

test("a Parquet file that unpacks to too much is refused", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const zeros = "0".repeat(1_000_000);
  const data = Array.from({ length: 300 }, (_, n) => JSON.stringify({ n, zeros: `${n}${zeros}` }));
  const file = parquetWriteBuffer({ columnData: [{ name: "inputs", data, type: "STRING" }] });
  expect(file.byteLength).toBeLessThan(50_000_000);

  const got = await importFile(project, dataset, "parquet", new Uint8Array(file));

  expect(got.status).toBe(400);
  expect(got.message).toMatch(/bytes unpacked|too much memory/);
}, 60_000);

test("thousands of rows are one version, and older versions can be exported", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const rows = Array.from({ length: 12_000 }, (_, n) => `{"inputs":{"n":${n}}}\n`).join("");

  const got = await importFile(project, dataset, "jsonl", rows);

  expect(got.end).toMatchObject({ done: true, added: 12_000, version: 2 });
  const contents = await contentsOf(project, dataset);
  expect(contents.map(({ inputs }) => (inputs as { n: number }).n)).toEqual(
    Array.from({ length: 12_000 }, (_, n) => n),
  );
  const file = await exportFile(project, dataset, "parquet");
  expect(await parquetReadObjects({ file: file.buffer, rowStart: 11_999 })).toMatchObject([
    { inputs: '{"n":11999}', history: "[]", ground_truth: null, linked_event: null },
  ]);
  const old = await fetch(`${service.url}/v1/datasets/${dataset}/export?version=1`, {
    headers: { authorization: `Bearer ${project.key}` },
  });
  expect(await old.json()).toEqual({ done: true, count: 0, version: 1 });
}, 60_000);

test("over gRPC the content type is in the message", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const client = createClient(DatasetFileService, createGrpcTransport({ baseUrl: service.url }));
  const headers = { authorization: `Bearer ${project.key}` };
  const data = Buffer.from('id,inputs\n,"{""a"": 1}"\n');
  const httpBody = { contentType: "text/csv", data };

  const imported = await Array.fromAsync(
    client.importDataset({ datasetId: dataset, httpBody }, { headers }),
  );
  const exported = await Array.fromAsync(client.exportDataset({ datasetId: dataset }, { headers }));

  expect(imported.at(-1)).toMatchObject({ done: true, added: 1, version: 2 });
  expect(exported.map(({ item }) => item.case)).toEqual(["datapoint", "end"]);
});
