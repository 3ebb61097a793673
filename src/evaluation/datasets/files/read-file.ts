// Reads a file into rows in a thread of limited memory and time.
// Source: docs/datasets.md, "Files"; docs/decisions.md, 39.7.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { refuseChoice } from "../../../base/choices.ts";
import { createFairPlaces, type Owner } from "../../../base/fair-places.ts";
import { refuse } from "../../../base/errors.ts";
import type { JsonObject } from "../../../base/json.ts";
import {
  datasetFileBytesMax,
  datasetFileMsMax,
  datasetFilesMax,
  datasetFilesWaitingMax,
} from "../../../base/tenant-limits.ts";
import { type FileFormat, fileFormats, type FileMessage } from "./file-format.ts";

export type FileReader = {
  /**
   * Yields the rows of a file in batches. Throws INVALID_ARGUMENT naming the fault, and OVERLOADED
   * if too many files are read.
   */
  read(owner: Owner, file: GivenFile, signal: AbortSignal): AsyncGenerator<Batch, void>;
};

export type GivenFile = {
  readonly format: FileFormat;
  readonly data: Uint8Array;
  /** Whether the file has the columns of an export. */
  readonly isExport: boolean;
};

type Batch = readonly JsonObject[];

const heapMb = 512;
const waitMs = 10_000;

/** Returns the format of a content type. Throws INVALID_ARGUMENT. */
export function parseFormat(contentType: string): FileFormat {
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  const found = Object.entries(fileFormats).find(([name]) => name === type);
  return found?.[1] ?? refuseChoice("content-type", Object.keys(fileFormats), contentType);
}

export function createFileReader(): FileReader {
  const places = createFairPlaces({
    max: datasetFilesMax,
    orgMax: datasetFilesMax - 1,
    projectMax: 1,
    waitMs,
    waitersMax: datasetFilesWaitingMax,
    refusal: "the maximum number of files is being read; try again",
  });
  return {
    async *read(owner, file, signal) {
      const leave = await places.enter(owner, signal);
      try {
        yield* readInThread(file, signal);
      } finally {
        leave();
      }
    },
  };
}

async function* readInThread(
  { format, data, isExport }: GivenFile,
  signal: AbortSignal,
): AsyncGenerator<Batch, void> {
  const worker = new Worker(new URL("./reading-worker.ts", import.meta.url), {
    workerData: { bytes: data, format, isExport, bytesMax: datasetFileBytesMax },
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    // The environment of the service holds secrets, which the thread does not need.
    env: {},
    execArgv: [],
  });
  const ended = AbortSignal.any([signal, AbortSignal.timeout(datasetFileMsMax)]);
  let seen = 0;
  try {
    for (;;) {
      const message = await nextMessage(worker, ended);
      if ("isEnd" in message) return;
      if ("fault" in message) refuse("file", message.fault);
      yield message.rows.map((text) => JSON.parse(text) as JsonObject);
      seen += message.rows.length;
      worker.postMessage("more");
    }
  } catch (error) {
    signal.throwIfAborted();
    const { code, name } = error as { code?: string; name?: string };
    if (name === "AbortError" || name === "TimeoutError") {
      refuse("file", `was not read within ${datasetFileMsMax} ms; split the file`);
    }
    if (code !== "ERR_WORKER_OUT_OF_MEMORY" && !(error instanceof RangeError)) throw error;
    refuse("file", `takes too much memory after row ${seen}; split the file`);
  } finally {
    await worker.terminate();
  }
}

async function nextMessage(worker: Worker, signal: AbortSignal): Promise<FileMessage> {
  const [message] = (await once(worker, "message", { signal })) as [FileMessage];
  return message;
}
