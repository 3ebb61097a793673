// Files of datasets: an exported file can be imported unchanged in each format; wrong files are
// refused. Source: docs/datasets.md, "Files"; docs/decisions.md, 39.7.

import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { DatasetFileService } from "../../gen/waggle/v1/dataset_file_pb.js";
import { givenStarted } from "../support/given.ts";
import {
  contentsOf,
  exportFile,
  formats,
  importFile,
  newDataset,
} from "../support/dataset-files.ts";
import { givenAMetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const object = fc.dictionary(fc.string({ unit: "grapheme" }), json, { maxKeys: 3 });
const datapoint = fc.record({
  inputs: object,
  history: fc.array(object, { maxLength: 2 }),
  ground_truth: fc.option(object),
  metadata: fc.option(object),
  linked_event: fc.option(
    fc.constantFrom("e1", 'an event, with "quotes"', "é", "=1+1", "'=1", "'it"),
  ),
});

describe.each(formats)("%s", (format) => {
  test("of an exported dataset is imported unchanged, and again without a change", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(datapoint, { maxLength: 8 }), async (rows) => {
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
        const version = count === 0 ? 1 : 2;
        expect(first.end).toMatchObject({ ...counts, added: count, changed: 0, version });
        expect(second.end).toMatchObject({
          ...counts,
          added: 0,
          changed: 0,
          unchanged: count,
          version,
        });
        expect(await contentsOf(to, target)).toEqual(await contentsOf(from, source));
      }),
      { numRuns: 10 },
    );
  });

  test("without rows, or of another kind, is refused", async () => {
    const project = await givenAMetricProject(service);
    const dataset = await newDataset(project);

    for (const text of ["", "\n", '{"inputs": ', "no file of this kind"]) {
      const got = await importFile(project, dataset, format, text);
      expect([text, got.status]).toEqual([text, 400]);
    }
    expect(await contentsOf(project, dataset)).toEqual([]);
  });
});

test("no cell of an exported CSV begins a formula", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  for (const sign of ["=", "+", "-", "@"]) {
    const linked_event = `${sign}HYPERLINK("http://example.org")`;
    await project.ok("POST /v1/datapoints", {
      inputs: {},
      linked_event,
      linked_datasets: [dataset],
    });
  }

  const csv = Buffer.from(await exportFile(project, dataset, "csv")).toString();

  expect(csv.match(/HYPERLINK/g)).toHaveLength(4);
  expect(csv).not.toMatch(/(?:^|,)"?[=+\-@]/m);
});

test("the null of a list in a Parquet file is a null, as that of a number is", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const parquet = parquetWriteBuffer({
    schema: [
      { name: "root", num_children: 2 },
      { name: "level", type: "INT32", repetition_type: "OPTIONAL" },
      { name: "tags", converted_type: "LIST", repetition_type: "OPTIONAL", num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", type: "INT32", repetition_type: "OPTIONAL" },
    ],
    columnData: [
      { name: "level", data: [1, null] },
      { name: "tags", data: [[2], null] },
    ],
  });

  const names = "?inputs=level&inputs=tags";
  await importFile(project, dataset, "parquet", new Uint8Array(parquet), names);

  expect(await contentsOf(project, dataset)).toMatchObject([
    { inputs: { level: 1, tags: [2] } },
    { inputs: { level: null, tags: null } },
  ]);
});

test("decimals and times of a Parquet file lose nothing", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  // Decimals as integers and as bytes, and microseconds, as Arrow writes them.
  const file = `UEFSMRUAFSwVPiwVBhUAFQYVBhwAAAAotS/9IBaxAAACAAAAAwMsAQAAAAAAAH3QMYzF9P//FQAVbBVKLBUG
    FQAVBhUGHAAAACi1L/0gNuUAAJgCAAAABgEABrFOn4EvNmw5//YAAxAAHZYIMwIVABUsFT4sFQYVABUGFQYc
    AAAAKLUv/SAWsQAAAgAAAAMDQCIgGCQKBgD//////////xUEGUw1ABgGc2NoZW1hFQYAFQQlAhgFc2hhcmUl
    ChUGFSQsXBUGFSQAAAAVDhUgFQIYBWV4YWN0JQoVAhVMLFwVAhVMAAAAFQQlAhgCYXQlFEyMEhwsAAAAAAAW
    BhkcGTwmABwVBBklBgAZGAVzaGFyZRUMFgYWUhZkJghJHBUAFQAVAgA8KQYZJgIEAAAAJgAcFQ4ZJQYAGRgF
    ZXhhY3QVDBYGFpIBFnAmbEkcFQAVABUCADwpBhkmAAYAAAAmABwVBBklBgAZGAJhdBUMFgYWUhZkJtwBSRwV
    ABUAFQIAPCkGGSYCBAAAABa2AhYGJggWuAIAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRk8
    HAAAHAAAHAAAACMBAABQQVIx`;

  const names = "?inputs=share&inputs=exact&inputs=at";
  await importFile(project, dataset, "parquet", new Uint8Array(Buffer.from(file, "base64")), names);

  expect(await contentsOf(project, dataset)).toMatchObject([
    { inputs: { share: 0.3, exact: "12345678901234567890.5", at: "2023-11-14T22:13:20.123456Z" } },
    { inputs: { share: -12345678901.123, exact: -1, at: "1969-12-31T23:59:59.999999Z" } },
    { inputs: { share: null, exact: 0, at: null } },
  ]);
});

test("columns of a foreign file become what the request says, the others metadata", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  // Blank lines, such as editors leave at the end, are no rows.
  const csv = 'question,answer,topic\n\n"What, now?",yes,a\nWhere,"no\nway",b\n\n';
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
    await importFile(project, dataset, "csv", csv, "?inputs=question&ground_truth=answer"),
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
    inputs: { a: 1 },
    linked_datasets: [first, second],
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

test("a file brings deleted datapoints back, once", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const ids: string[] = [];
  for (const n of [1, 2, 3]) {
    const made = await project.ok("POST /v1/datapoints", {
      inputs: { n },
      linked_datasets: [dataset],
    });
    ids.push((made["result"] as { insertedId: string }).insertedId);
  }
  const file = await exportFile(project, dataset, "jsonl");
  for (const id of ids.slice(1)) await project.ok(`DELETE /v1/datapoints/${id}`);

  const first = await importFile(project, dataset, "jsonl", file);
  const second = await importFile(project, dataset, "jsonl", file);

  expect(first.end).toMatchObject({ added: 2, changed: 0, unchanged: 1 });
  expect(second.end).toMatchObject({ added: 0, changed: 0, unchanged: 3 });
  const contents = await contentsOf(project, dataset);
  expect(contents.map(({ id }) => id)).toEqual(ids);
  expect(await project.ok(`GET /v1/datapoints/${ids[1]}`)).toMatchObject({
    datapoint: [{ inputs: { n: 2 } }],
  });
});

test("an export of a dataset that is deleted meanwhile breaks off", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const text = "x".repeat(900_000);
  const rows = Array.from({ length: 60 }, (_, n) => JSON.stringify({ inputs: { n, text } }));
  await importFile(project, dataset, "jsonl", rows.join("\n"));
  const client = createClient(DatasetFileService, createGrpcTransport({ baseUrl: service.url }));
  const headers = { authorization: `Bearer ${project.key}` };

  const read = async (): Promise<number> => {
    let count = 0;
    for await (const { item } of client.exportDataset({ datasetId: dataset }, { headers })) {
      if (item.case === "end") return item.value.count;
      count += 1;
      if (count === 1) await project.ok(`DELETE /v1/datasets/${dataset}`);
    }
    return count;
  };

  await expect(read()).rejects.toMatchObject({ code: Code.NotFound });
});

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
}, 300_000);

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
