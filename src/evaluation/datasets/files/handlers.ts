// DatasetFileService: a message in, messages out, no decisions.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type DatasetFileService,
  ExportDatasetResponseSchema,
} from "../../../../gen/waggle/v1/dataset_file_pb.js";
import { projectOf } from "../../../access/call.ts";
import { toStruct } from "../../../base/struct.ts";
import { readingOf } from "../../../tracing/export/handlers.ts";
import type { DatapointContent } from "../datapoint.ts";
import type { DatasetExports } from "./exports.ts";
import type { DatasetImports } from "./imports.ts";
import { parseFormat } from "./read-file.ts";

export function datasetFileHandlers(
  exports: DatasetExports,
  imports: DatasetImports,
): ServiceImpl<typeof DatasetFileService> {
  return {
    async *exportDataset(request, context) {
      let count = 0;
      let version = 0;
      for await (const page of exports.pages(projectOf(context), request, readingOf(context))) {
        for (const item of page.items) {
          const value = toMessage(item);
          yield create(ExportDatasetResponseSchema, { item: { case: "datapoint", value } });
        }
        count += page.items.length;
        ({ version } = page);
      }
      const value = { done: true, count, version };
      yield create(ExportDatasetResponseSchema, { item: { case: "end", value } });
    },

    async *importDataset(request, context) {
      const { datasetId, httpBody, inputs, groundTruth, history } = request;
      const isMapped = inputs.length + groundTruth.length + history.length > 0;
      yield* imports.run(projectOf(context), {
        datasetId,
        file: {
          format: parseFormat(httpBody?.contentType ?? ""),
          data: httpBody?.data ?? new Uint8Array(),
          isExport: !isMapped,
        },
        mapping: isMapped ? { inputs, groundTruth, history } : undefined,
        signal: context.signal,
      });
    },
  };
}

function toMessage(datapoint: DatapointContent & { readonly id: string }) {
  const { id, inputs, history, groundTruth, metadata, linkedEvent } = datapoint;
  return {
    id,
    inputs: toStruct(inputs),
    history: history.map(toStruct),
    ...(groundTruth && { groundTruth: toStruct(groundTruth) }),
    ...(metadata && { metadata: toStruct(metadata) }),
    ...(linkedEvent !== null && { linkedEvent }),
  };
}
