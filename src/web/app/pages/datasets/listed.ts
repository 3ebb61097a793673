// The datasets that a dialog offers to choose from: the newest, and a word where there are more.

import type { ListDatasetsResponse } from "../../../../../gen/waggle/v1/dataset_pb.js";
import { formatExactCount } from "../../design/format.ts";

/** The most that one call answers. */
export const listedMax = 1_000;

/** Returns what a list leaves out; undefined if it is whole. */
export function unlistedNote(list: ListDatasetsResponse | undefined): string | undefined {
  if (list?.nextCursor === undefined) return undefined;
  const count = formatExactCount(listedMax);
  return `The newest ${count} datasets are listed; older ones are under Datasets.`;
}
