// Encodes a dataset's datapoints as a Parquet file. All but the ids are JSON columns.

import type {
  ExportDatasetResponse,
  ExportedDatapoint,
} from "../../../../gen/waggle/v1/dataset_file_pb.js";
import { type Column, writeParquet } from "../../../base/parquet-file.ts";

const columns: readonly Column<ExportedDatapoint>[] = [
  { name: "id", kind: "text", read: ({ id }) => id },
  { name: "inputs", kind: "json", read: ({ inputs }) => inputs ?? {} },
  { name: "history", kind: "json", read: ({ history }) => history },
  { name: "ground_truth", kind: "json", read: ({ groundTruth }) => groundTruth },
  { name: "metadata", kind: "json", read: ({ metadata }) => metadata },
  { name: "linked_event", kind: "text", read: ({ linkedEvent }) => linkedEvent },
];

/** Yields the bytes of a file. Throws if the stream ends without its end message. */
export function encodeDatasetParquet(
  messages: AsyncIterable<ExportDatasetResponse>,
): AsyncGenerator<Uint8Array, void, undefined> {
  return writeParquet("datapoint", columns, messages, ({ item }) =>
    item.case === "datapoint" ? { row: item.value } : item.case,
  );
}
