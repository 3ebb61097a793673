// `waggle datasets list | export | import`: moves the files of datasets of a running service.

import { extname } from "node:path";
import { z } from "zod";
import { OperatorError } from "../base/operator-error.ts";
import { fileFormats } from "../evaluation/datasets/files/file-format.ts";
import { type CommandContext, print, printBody } from "./command.ts";
import { openInput, standardInput } from "./input.ts";
import { listPages } from "./list-pages.ts";
import { countFlag, listFlag, readCallOptions, textFlag } from "./service-call.ts";
import { createServiceClient, type ServiceClient } from "./service-client.ts";

export const usage = `usage:
  waggle datasets list [--limit N]
  waggle datasets export DATASET_ID [--format jsonl|csv|parquet] > FILE
  waggle datasets import DATASET_ID FILE [--format jsonl|csv|parquet]
      [--inputs COLUMN… --ground-truth COLUMN… --history COLUMN…]
      list prints all datasets, or N of them. FILE may be gzipped; - is standard input. Without
      --format, the ending of FILE says its format, as in rows.csv or rows.csv.gz. The columns of
      an export need no names; of other files, --inputs, --ground-truth and --history name them,
      each once for a column, and the columns without a name become metadata. --url, and
      --key-file or WAGGLE_API_KEY, say where and with which key.`;

/** Flags that name columns of a file, with the parameters of the import that take them. */
const columns = { "ground-truth": "ground_truth", history: "history", inputs: "inputs" } as const;

/** Runs the command; the exit code is 0 unless the service refuses. */
export async function run({ config, flags, operands }: CommandContext): Promise<number> {
  const [name, id, file, ...others] = operands;
  const connect = async () => createServiceClient(await readCallOptions(config, flags));
  if (name === "list" && id === undefined) {
    const limit = countFlag(flags, "limit");
    await listDatasets(await connect(), limit);
  } else if (name === "export" && id !== undefined && file === undefined) {
    await exportDataset(await connect(), id, textFlag(flags, "format") ?? "jsonl");
  } else if (name === "import" && file !== undefined && others.length === 0) {
    const format = textFlag(flags, "format") ?? formatIn(file);
    const named = Object.entries(columns).map(([flag, name]) => [name, listFlag(flags, flag)]);
    const query = Object.fromEntries(named) as DatasetFile["query"];
    await importDataset(await connect(), { id: id ?? "", file, format, query });
  } else {
    throw new OperatorError(usage);
  }
  return 0;
}

const datasetPage = z.object({
  datasets: z.array(z.object({ id: z.string() })),
  next_cursor: z.string().optional(),
});
type Dataset = z.infer<typeof datasetPage>["datasets"][number];

async function listDatasets(client: ServiceClient, limit: number | undefined): Promise<void> {
  const { items, hasMore } = await listPages(
    limit,
    (dataset: Dataset) => dataset.id,
    async (cursor) => {
      const call = { method: "GET", path: "/v1/datasets", query: { cursor } } as const;
      const { datasets, next_cursor: next } = await client.readAs(call, datasetPage);
      return { items: datasets, next };
    },
  );
  print(JSON.stringify({ datasets: items }));
  if (hasMore) process.stderr.write(`${items.length} datasets; the project has more\n`);
}

async function exportDataset(client: ServiceClient, id: string, format: string): Promise<void> {
  const path = `/v1/datasets/${encodeURIComponent(id)}/export`;
  const headers = { accept: mediaTypeOf(format) };
  await printBody(await client.open({ method: "GET", path, headers, timeoutMs: 0 }));
}

type DatasetFile = {
  readonly id: string;
  readonly file: string;
  readonly format: string;
  /** Columns of the file by the parameter that names them. */
  readonly query: Readonly<Record<string, readonly string[]>>;
};

async function importDataset(
  client: ServiceClient,
  { id, file, format, query }: DatasetFile,
): Promise<void> {
  const path = `/v1/datasets/${encodeURIComponent(id)}/import`;
  // Another service's JSON is of another type than the lines of progress.
  const headers = { "content-type": mediaTypeOf(format), accept: "application/x-ndjson" };
  const body = ReadableStream.from(await openInput(file));
  print(await client.read({ method: "POST", path, query, headers, body, timeoutMs: 0 }));
}

/** Returns the format that the ending of a file's name says. */
function formatIn(file: string): string {
  if (file === standardInput) throw new OperatorError("standard input needs --format");
  return extname(file.replace(/\.gz$/, "")).slice(1);
}

function mediaTypeOf(format: string): string {
  const found = Object.entries(fileFormats).find(([, name]) => name === format);
  if (found === undefined) throw new OperatorError(`"${format}" is not jsonl, csv or parquet`);
  return found[0];
}
