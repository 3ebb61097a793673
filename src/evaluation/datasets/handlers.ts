// DatasetService, DatapointService, OldDatasetService: a message in, a message out, no decisions.

import { type ListValue, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { OldDatasetService } from "../../../gen/waggle/compat/v0/dataset_pb.js";
import type { DatapointService } from "../../../gen/waggle/v1/datapoint_pb.js";
import type { DatapointMapping, DatasetService } from "../../../gen/waggle/v1/dataset_pb.js";
import { pageLimitMax } from "../../base/field-limits.ts";
import { projectOf } from "../../access/call.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { type JsonObject, present } from "../../base/json.ts";
import { fromValueMessages } from "../../base/value-message.ts";
import { toBounds } from "../../tracing/export/date-range.ts";
import { readingOf } from "../../tracing/export/handlers.ts";
import { toFilterInput } from "../../tracing/export/filter-message.ts";
import { toMessages } from "./datapoint.ts";
import type { Datapoints } from "./datapoints.ts";
import type { Datasets } from "./datasets.ts";
import type { Mapping } from "./mapping.ts";
import {
  toDatapointMessage,
  toDatasetMessage,
  toOldDatapointMessage,
  toOldDatasetMessage,
} from "./dataset-message.ts";

export function datasetHandlers(
  datasets: Datasets,
  datapoints: Datapoints,
): ServiceImpl<typeof DatasetService> {
  return {
    async createDataset(request, context) {
      const { name, description, datapoints: ids } = request;
      const fields = { name: name || undefined, description, datapoints: ids };
      const properties = propertiesOf(request);
      const insertedId = await datasets.create(projectOf(context), { ...fields, properties });
      return { inserted: true, result: { insertedId } };
    },
    async listDatasets(request, context) {
      const page = await datasets.list(projectOf(context), request);
      return {
        datasets: page.items.map(toDatasetMessage),
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      };
    },
    async getDataset({ datasetId, version }, context) {
      const dataset = await datasets.get(projectOf(context), datasetId, version);
      return { dataset: toDatasetMessage(dataset) };
    },
    async updateDataset(request, context) {
      const { name, description, datapoints: list } = request;
      const ids = list && toTextList(list, "datapoints");
      const fields = { name, description, datapoints: ids, properties: propertiesOf(request) };
      const dataset = await datasets.update(projectOf(context), request.datasetId, fields);
      return { result: toDatasetMessage(dataset) };
    },
    async deleteDataset({ datasetId }, context) {
      await datasets.delete(projectOf(context), datasetId);
      return { result: { id: datasetId } };
    },
    async addDatapoints({ datasetId, data, mapping }, context) {
      const parts = toMapping(mapping) ?? refuse("mapping", "is required");
      const ids = await datapoints.createFrom(projectOf(context), datasetId, data, parts);
      return { inserted: true, datapointIds: [...ids] };
    },
    async removeDatapoint({ datasetId, datapointId }, context) {
      await datasets.removeDatapoint(projectOf(context), datasetId, datapointId);
      return { dereferenced: true, message: "The datapoint is no longer in the dataset" };
    },
    async listDatasetVersions({ datasetId, ...page }, context) {
      const found = await datasets.listVersions(projectOf(context), datasetId, page);
      return {
        versions: found.items.map(({ datapoints: numDatapoints, createdAt, ...version }) => ({
          ...version,
          numDatapoints,
          createdAt: timestampFromDate(createdAt),
        })),
        ...(found.nextCursor !== undefined && { nextCursor: found.nextCursor }),
      };
    },
  };
}

export function datapointHandlers(datapoints: Datapoints): ServiceImpl<typeof DatapointService> {
  return {
    async createDatapoint({ inputs = {}, history, linkedDatasets, ...request }, context) {
      const { groundTruth = null, metadata = null, linkedEvent = null } = request;
      const content = { inputs, history, groundTruth, metadata, linkedEvent };
      const insertedId = await datapoints.create(projectOf(context), content, linkedDatasets);
      return { inserted: true, result: { insertedId, insertedIds: [insertedId] } };
    },
    async createDatapointsFromEvents(request, context) {
      const { dateRange } = request;
      const choice = {
        eventIds: request.events,
        checked: request.checkState,
        isAll: request.selectAll,
        filters: request.filters.map(toFilterInput),
        ...toBounds(dateRange),
        mapping: toMapping(request.mapping),
      };
      const project = projectOf(context);
      const ids = await datapoints.createFromEvents(project, choice, request.datasetId);
      return { inserted: true, insertedIds: [...ids] };
    },
    async listDatapoints({ datapointIds: ids, ...request }, context) {
      const reading = readingOf(context);
      const page = await datapoints.list(projectOf(context), { ids, ...request }, reading);
      return {
        datapoints: page.items.map(toDatapointMessage),
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      };
    },
    async getDatapoint({ id }, context) {
      const datapoint = await datapoints.get(projectOf(context), id, readingOf(context));
      return { datapoint: [toDatapointMessage(datapoint)] };
    },
    async updateDatapoint(request, context) {
      const { inputs, history, groundTruth, metadata, linkedEvent, linkedDatasets } = request;
      const content = {
        ...(inputs && { inputs }),
        ...(history && {
          history: toMessages(fromValueMessages("history", history.values), "history"),
        }),
        ...(groundTruth && { groundTruth }),
        ...(metadata && { metadata }),
        ...(linkedEvent !== undefined && { linkedEvent }),
      };
      const ids = linkedDatasets && toTextList(linkedDatasets, "linked_datasets");
      const isChanged = await datapoints.update(projectOf(context), request.id, content, ids);
      return { updated: true, result: { modifiedCount: isChanged ? 1 : 0 } };
    },
    async deleteDatapoint({ id }, context) {
      await datapoints.delete(projectOf(context), id);
      return { deleted: true };
    },
  };
}

export function oldDatasetHandlers(
  datasets: Datasets,
  datapoints: Datapoints,
): ServiceImpl<typeof OldDatasetService> {
  return {
    async listOldDatasets(request, context) {
      const project = projectOf(context);
      const page = await datasets.list(project, { ...request, limit: pageLimitMax });
      if (page.nextCursor !== undefined) {
        // The older form has no pages.
        const message = "the datasets are too many for one answer; use GET /v1/datasets";
        throw new ServiceError("ANSWER_TOO_LARGE", message);
      }
      return { testcases: page.items.map((one) => toOldDatasetMessage(one, project.name)) };
    },
    async listOldDatapoints({ datapointIds: ids, datasetName }, context) {
      const project = projectOf(context);
      const request = { ids, datasetName, datasetId: "" };
      const { items } = await datapoints.list(project, request, readingOf(context));
      return { datapoints: items.map((one) => toOldDatapointMessage(one, project.projectId)) };
    },
    async getOldDatapoint({ id }, context) {
      const project = projectOf(context);
      const datapoint = await datapoints.get(project, id, readingOf(context));
      return { datapoint: [toOldDatapointMessage(datapoint, project.projectId)] };
    },
  };
}

type OldFields = {
  readonly type?: string | undefined;
  readonly saved?: boolean | undefined;
  readonly pipelineType?: string | undefined;
  readonly linkedEvals: readonly string[];
  readonly metadata?: JsonObject | undefined;
};

/** Returns the fields that only older clients send, under their names. */
function propertiesOf({ type, saved, pipelineType, linkedEvals, metadata }: OldFields): JsonObject {
  return present({
    type,
    saved,
    pipeline_type: pipelineType,
    linked_evals: linkedEvals.length > 0 ? linkedEvals : undefined,
    metadata,
  });
}

function toMapping(mapping: DatapointMapping | undefined): Mapping | undefined {
  if (!mapping) return undefined;
  const { inputs, groundTruth, history } = mapping;
  return { inputs, groundTruth, history };
}

function toTextList(list: ListValue, field: string): readonly string[] {
  return fromValueMessages(field, list.values).map((item, index) =>
    typeof item === "string" ? item : refuse(`${field}[${index}]`, "must be a text"),
  );
}
