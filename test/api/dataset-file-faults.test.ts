// Files of datasets that are refused: the fault is named, and nothing of the file is stored.
// Source: docs/datasets.md, "Files"; docs/decisions.md, 39.7.

import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { contentsOf, importFile, newDataset, types } from "../support/dataset-files.ts";
import { givenAMetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

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
    [`${good}{"inputs": \n`, /^file: line 2 is not JSON/],
    [`${good}{"inputs": {"a": [null, -1e400]}}`, /row 2: inputs\.a\.1: must be a finite number/],
    [`{"inputs": {"a": ${"[".repeat(600)}${"]".repeat(600)}}}`, /^row 1: inputs/],
  ];
  for (const [text, message] of cases) {
    const got = await importFile(project, dataset, "jsonl", text);
    expect(got.status).toBe(400);
    expect(got.message).toMatch(message);
  }
  expect(await contentsOf(project, dataset)).toEqual([]);
});

test("columns that are doubled, or that no row has, are refused", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const doubled = "question,answer,question\na,b,c\n";
  const cases = [
    ["csv", doubled, "?inputs=question", /has two columns "question"/],
    ["csv", "id,inputs,inputs\n,{},{}\n", "", /has two columns "inputs"/],
    ["csv", "a,b\n1,2\n", "?inputs=a&ground_truth=c", /no row has "c"/],
    ["csv", "id,history\n", "", /has no column inputs/],
    ["csv", "id,inputs,note\n", "", /"note" is no column of an export/],
    ["csv", "a\n", "?inputs=a", /has no rows/],
    ["jsonl", '{"a":1}\n{"a":2}\n', "?inputs=a&history=h", /^file: no row has "h"/],
  ] as const;
  for (const [format, text, query, message] of cases) {
    const got = await importFile(project, dataset, format, text, query);
    expect([text, got.status]).toEqual([text, 400]);
    expect(got.message).toMatch(message);
  }
  expect(await contentsOf(project, dataset)).toEqual([]);
});

test("a text that is not UTF-8 is refused, except UTF-16 of spreadsheets", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const latin = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
  const utf16 = new Uint8Array(Buffer.from("\uFEFFname\ncaf\u00e9\n", "utf16le"));

  const lines = await importFile(project, dataset, "jsonl", latin('{"inputs":{"a":"\u00e9"}}'));
  const table = await importFile(project, dataset, "csv", latin("a\n\u00e9\n"), "?inputs=a");
  const spreadsheet = await importFile(project, dataset, "csv", utf16, "?inputs=name");

  for (const { status, message } of [lines, table]) {
    expect([status, message]).toEqual([400, "file: must be UTF-8"]);
  }
  expect(spreadsheet.end).toMatchObject({ done: true, added: 1 });
  const contents = await contentsOf(project, dataset);
  expect(contents.map(({ inputs }) => inputs)).toEqual([{ name: "caf\u00e9" }]);
});

test("a file that has lost rows is refused; a mapped row like an end is a row", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const end = '{"done":true,"count":2,"version":1}\n';

  const short = await importFile(project, dataset, "jsonl", `{"inputs":{}}\n${end}`);
  const rows = `${end}{"done":true,"count":1}\n`;
  const mapped = await importFile(project, dataset, "jsonl", rows, "?inputs=count");

  expect([short.status, short.message]).toEqual([
    400,
    expect.stringMatching(/has 1 rows before the line that counts 2/),
  ]);
  expect(mapped.end).toMatchObject({ done: true, added: 2 });
  const contents = await contentsOf(project, dataset);
  expect(contents.map(({ inputs }) => inputs)).toEqual([{ count: 2 }, { count: 1 }]);
});

test("an import takes no Idempotency-Key", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);

  const response = await fetch(`${service.url}/v1/datasets/${dataset}/import`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${project.key}`,
      "content-type": types.jsonl,
      "idempotency-key": "k",
    },
    body: '{"inputs":{}}',
  });

  expect([response.status, await response.json()]).toEqual([
    400,
    expect.objectContaining({
      message: expect.stringMatching(/^Idempotency-Key: is not/) as string,
    }),
  ]);
  expect(await contentsOf(project, dataset)).toEqual([]);
});

test("a small Parquet file of many large rows is refused soon", async () => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const row = JSON.stringify({ text: "x".repeat(100_000) });
  const data = Array.from({ length: 90_000 }, () => row);
  const file = parquetWriteBuffer({ columnData: [{ name: "inputs", data, type: "STRING" }] });
  expect(file.byteLength).toBeLessThan(200_000);

  const got = await importFile(project, dataset, "parquet", new Uint8Array(file));

  expect(got.status).toBe(400);
  expect(got.message).toMatch(/characters as JSON/);
}, 300_000);

test("another type of file is refused, and another project's dataset is absent", async () => {
  const project = await givenAMetricProject(service);
  const other = await givenAMetricProject(service);
  const dataset = await newDataset(project);

  const plain = await importFile(project, dataset, "text/plain", "{}");
  const foreign = await importFile(other, dataset, "jsonl", '{"inputs": {}}');

  expect([plain.status, plain.message]).toEqual([
    400,
    expect.stringMatching(
      /^content-type: must be one of application\/x-ndjson.*, not "text\/plain"$/,
    ),
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
}, 300_000);

test.each([
  {
    name: "a hundred million deltas in 122 bytes",
    file: `UEFSMRUAFTgVOCwVgISvXxUKFQYVBgAAgMLXLwGAwtcvAAIAAAAAAAAAAAAAAAAAAAAAABUCGSw1ABgEcm9v
      dBUCABUEJQAYAWEAFgIZHBkcJggcFQQZFQoZGAFhFQAWgISvXxZgFmAmCAAAFmAWAgAAPgAAAFBBUjE=`,
  },
  {
    name: "three hundred million zeros in 97 bytes",
    file: `UEFSMRUAFQIVAiwVgIyNngIVEBUGFQYAAAAVAhksNQAYBHJvb3QVAgAVBCUAGAFhABYCGRwZHCYIHBUEGRUQ
      GRgBYRUAFoCMjZ4CFiwWLCYIAAAWLBYCAAA/AAAAUEFSMQ==`,
  },
])("a Parquet file with $name is refused", { timeout: 60_000 }, async ({ file }) => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const bytes = new Uint8Array(Buffer.from(file, "base64"));

  const got = await importFile(project, dataset, "parquet", bytes, "?inputs=a");

  expect(got.status).toBe(400);
  expect(got.message).toMatch(/more than 256000000 bytes unpacked/);
});

test.each([
  {
    name: "a text that is not UTF-8",
    file: `UEFSMRUAFSQVNiwVBBUAFQYVBhwAAAAotS/9IBKRAAACAAAABAECAAAA//4CAAAAb2sVBBksNQAYBnNjaGVt
      YRUCABUMJQIYAWElAEwcAAAAFgQZHBkcJgAcFQwZJQYAGRgBYRUMFgQWShZcJghJHBUAFQAVAgA8FggZBhkm
      AAQAAAAWShYEJggWXAAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAggAAAFBBUjE=`,
    want: "file: has a text, or bytes, that are not UTF-8",
  },
  {
    name: "a time that no date holds",
    file: `UEFSMRUAFRwVLiwVAhUAFQYVBhwAAAAotS/9IA5xAAACAAAAAgEAAAAAAAAAEBUEGSw1ABgGc2NoZW1hFQIA
      FQQlAhgBYSUSTIwSHBwAAAAAABYCGRwZHCYAHBUEGSUGABkYAWEVDBYCFkIWVCYISRwVABUAFQIAPCkGGSYA
      AgAAABZCFgImCBZUACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZHBwAAACFAAAAUEFSMQ==`,
    want: "file: has a time past the year 275760",
  },
  {
    name: "another number of rows than its row group",
    file: `UEFSMRUAFSoVKiwVBhUAFQYVBhwAAAACAAAABgEBAAAAYQEAAABiAQAAAGMVABU8FTwsFQYVABUGFQYcAAAA
      AgAAAAYBAQAAAAAAAAACAAAAAAAAAAMAAAAAAAAAFQQZPDUAGAZzY2hlbWEVBAAVDCUCGAFxJQBMHAAAABUE
      JQIYAW4AFgYZHBksJgAcFQwZJQYAGRgBcRUAFgYWUBZQJghJHBUAFQAVAgA8FgYZBhkmAAYAAAAmABwVBBkl
      BgAZGAFuFQAWBhZiFmImWEkcFQAVABUCADwpBhkmAAYAAAAWsgEWFCYIFrIBACggcGFycXVldC1jcHAtYXJy
      b3cgdmVyc2lvbiAyNi4wLjEZLBwAABwAAAC5AAAAUEFSMQ==`,
    want: "file: the file says 3 rows, and its row groups 10",
  },
  {
    name: "a page without its length",
    file: `UEFSMRUGRwwVDFwVBBUCFQQVABUEFQASHAAAAAMBAQAAABUEGSw1ABgGc2NoZW1hFQIAFQIlAhgBYQAWBBkc
      GRwmABwVAhklBgAZGAFhFQAWBBY8FjwmCEkcFQAVABUCADwpBhkmAgIAAAAWPBYEJggWPAAoIHBhcnF1ZXQt
      Y3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAegAAAFBBUjE=`,
    want: "file: the file is not Parquet: a page lacks its length",
  },
  { name: "its first bytes alone", file: "UEFSMQ==", want: "file: the file is not Parquet" },
])("a Parquet file with $name is refused for it", async ({ file, want }) => {
  const project = await givenAMetricProject(service);
  const dataset = await newDataset(project);
  const bytes = new Uint8Array(Buffer.from(file, "base64"));

  const got = await importFile(project, dataset, "parquet", bytes, "?inputs=a");

  expect([got.status, String(got.message).slice(0, want.length)]).toEqual([400, want]);
});
