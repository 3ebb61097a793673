// Files of datasets: exports and imports over REST, and the content of a dataset.

import { expect } from "vitest";
import type { MetricProject } from "./metrics.ts";

export const types = {
  jsonl: "application/x-ndjson",
  csv: "text/csv",
  parquet: "application/vnd.apache.parquet",
} as const;
export type Format = keyof typeof types;
export const formats = Object.keys(types) as Format[];

export async function newDataset(project: MetricProject): Promise<string> {
  const made = await project.ok("POST /v1/datasets", { name: "d" });
  return (made["result"] as { insertedId: string }).insertedId;
}

export async function exportFile(
  { key, url }: MetricProject,
  datasetId: string,
  format: Format,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${url}/v1/datasets/${datasetId}/export`, {
    headers: { authorization: `Bearer ${key}`, accept: types[format] },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(types[format]);
  const file = format === "jsonl" ? null : `attachment; filename="dataset.${format}"`;
  expect(response.headers.get("content-disposition")).toBe(file);
  return new Uint8Array(await response.arrayBuffer());
}

export type Imported = {
  readonly status: number;
  readonly message: unknown;
  /** The last message. */
  readonly end: Readonly<Record<string, unknown>>;
};

export async function importFile(
  { key, url }: MetricProject,
  datasetId: string,
  format: Format | "text/plain",
  body: Uint8Array<ArrayBuffer> | string,
  query = "",
): Promise<Imported> {
  const type = format === "text/plain" ? format : types[format];
  const response = await fetch(`${url}/v1/datasets/${datasetId}/import${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": type },
    body,
  });
  const lines = (await response.text()).trim().split("\n");
  const end = JSON.parse(lines.at(-1) ?? "{}") as Imported["end"];
  return { status: response.status, message: end["message"], end };
}

/** Returns the datapoints of a dataset, in their order. */
export async function contentsOf(project: MetricProject, datasetId: string) {
  const lines = Buffer.from(await exportFile(project, datasetId, "jsonl"))
    .toString()
    .trim();
  const items = lines.split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(items.at(-1)).toMatchObject({ done: true, count: items.length - 1 });
  return items.slice(0, -1);
}
