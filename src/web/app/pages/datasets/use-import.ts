// useImport: sends a file to a dataset and follows how far the service is.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DatapointService } from "../../../../../gen/waggle/v1/datapoint_pb.js";
import {
  DatasetFileService,
  type ImportDatasetResponse,
} from "../../../../../gen/waggle/v1/dataset_file_pb.js";
import { DatasetService } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { ApiError, toApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { streamRpc } from "../../api/transport.ts";

/** Names of columns with commas between them, by the part of the datapoint. */
export type Mapping = {
  readonly inputs: string;
  readonly groundTruth: string;
  readonly history: string;
};

type ImportState = {
  readonly isRunning: boolean;
  readonly progress?: ImportDatasetResponse;
  readonly error?: ApiError;
};

const brokenOff = { errorCode: "UNREACHABLE", isTransient: true };

export function useImport(datasetId: string) {
  const projectId = useCurrentProjectId();
  const client = useQueryClient();
  const [state, setState] = useState<ImportState>({ isRunning: false });
  const run = async (file: File, mapping: Mapping): Promise<void> => {
    setState({ isRunning: true });
    let isDone = false;
    try {
      const input = {
        datasetId,
        httpBody: { contentType: contentTypeOf(file.name), data: await bytesOf(file) },
        inputs: namesOf(mapping.inputs),
        groundTruth: namesOf(mapping.groundTruth),
        history: namesOf(mapping.history),
      };
      const answers = streamRpc(DatasetFileService.method.importDataset, input, { projectId });
      for await (const progress of answers) {
        isDone = progress.done;
        setState({ isRunning: !isDone, progress });
      }
      if (!isDone) throw new ApiError("The answer ended before the import.", brokenOff);
    } catch (error) {
      setState({ isRunning: false, error: toApiError(error) });
    }
    // Also after a failure: the service may have stored the rows, and only its answer was lost.
    const changed = [DatasetService.typeName, DatapointService.typeName];
    await Promise.all(changed.map((name) => client.invalidateQueries({ queryKey: [name] })));
  };
  return { state, run };
}

async function bytesOf(file: File): Promise<Uint8Array> {
  return new Uint8Array(await file.arrayBuffer());
}

function contentTypeOf(name: string): string {
  if (/\.csv$/i.test(name)) return "text/csv";
  if (/\.parquet$/i.test(name)) return "application/vnd.apache.parquet";
  return "application/x-ndjson";
}

function namesOf(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
