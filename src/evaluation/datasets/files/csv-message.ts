// Encodes a dataset's datapoints as CSV: a line of names, then a line for each datapoint. All cells
// but the ids hold JSON; an empty cell is null.

import { stringify } from "csv-stringify/sync";
import type {
  ExportDatasetResponse,
  ExportedDatapoint,
} from "../../../../gen/waggle/v1/dataset_file_pb.js";
import { fileColumns, toTextCell } from "./file-format.ts";

/** Characters of a piece from which it is sent; a datapoint may have millions. */
const pieceCharactersMin = 65_536;

/** Yields the bytes of a file. */
export async function* encodeCsv(
  messages: AsyncIterable<ExportDatasetResponse>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let piece = stringify([fileColumns]);
  for await (const { item } of messages) {
    if (item.case === "datapoint") piece += stringify([toCells(item.value)]);
    if (piece.length < pieceCharactersMin) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  if (piece !== "") yield Buffer.from(piece);
}

function toCells(datapoint: ExportedDatapoint): readonly string[] {
  const { id, inputs = {}, history, groundTruth, metadata, linkedEvent = "" } = datapoint;
  const toCell = (value: unknown): string => (value ? JSON.stringify(value) : "");
  return [id, ...[inputs, history, groundTruth, metadata].map(toCell), toTextCell(linkedEvent)];
}
