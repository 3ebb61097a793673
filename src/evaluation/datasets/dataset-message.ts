// Converts datasets and datapoints to messages, in the current form and in the older one.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  OldDatapointSchema,
  OldDatasetSchema,
} from "../../../gen/waggle/compat/v0/dataset_pb.js";
import type { DatapointSchema } from "../../../gen/waggle/v1/datapoint_pb.js";
import type { DatasetSchema } from "../../../gen/waggle/v1/dataset_pb.js";
import type { JsonValue } from "../../base/json.ts";
import { toStruct } from "../../base/struct.ts";
import type { Datapoint } from "./datapoints.ts";
import type { Dataset } from "./datasets.ts";

export function toDatasetMessage(dataset: Dataset): MessageInitShape<typeof DatasetSchema> {
  const { id, name, description, version, datapointIds } = dataset;
  return {
    id,
    name,
    ...(description !== null && { description }),
    datapoints: [...datapointIds],
    numDatapoints: datapointIds.length,
    version,
    ...timesOf(dataset),
  };
}

export function toOldDatasetMessage(
  dataset: Dataset,
  project: string,
): MessageInitShape<typeof OldDatasetSchema> {
  const { id, name, description, properties, datapointIds } = dataset;
  const linkedEvals = properties["linked_evals"];
  return {
    Id: id,
    project,
    name,
    ...(description !== null && { description }),
    type: textOf(properties["type"], "evaluation"),
    datapoints: [...datapointIds],
    numPoints: datapointIds.length,
    linkedEvals: Array.isArray(linkedEvals) ? linkedEvals.map(String) : [],
    saved: properties["saved"] === true,
    pipelineType: textOf(properties["pipeline_type"], "event"),
    ...timesOf(dataset),
  };
}

function textOf(value: JsonValue | undefined, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}

export function toDatapointMessage(datapoint: Datapoint): MessageInitShape<typeof DatapointSchema> {
  return { id: datapoint.id, ...partsOf(datapoint) };
}

export function toOldDatapointMessage(
  datapoint: Datapoint,
  projectId: string,
): MessageInitShape<typeof OldDatapointSchema> {
  return { Id: datapoint.id, projectId, ...partsOf(datapoint) };
}

function partsOf(datapoint: Datapoint) {
  const { inputs, history, groundTruth, metadata, linkedEvent, linkedDatasets } = datapoint;
  return {
    inputs: toStruct(inputs),
    history: history.map(toStruct),
    ...(groundTruth && { groundTruth: toStruct(groundTruth) }),
    ...(metadata && { metadata: toStruct(metadata) }),
    ...(linkedEvent !== null && { linkedEvent }),
    linkedDatasets: [...linkedDatasets],
    ...timesOf(datapoint),
  };
}

function timesOf({
  createdAtUs,
  updatedAt,
}: {
  readonly createdAtUs: number;
  readonly updatedAt: Date | null;
}) {
  return {
    createdAt: timestampFromMs(Math.floor(createdAtUs / 1000)),
    ...(updatedAt && { updatedAt: timestampFromDate(updatedAt) }),
  };
}
