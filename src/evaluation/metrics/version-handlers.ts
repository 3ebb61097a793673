// MetricVersionService: a message in, a message out, no decisions.

import { type JsonObject, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { timestampFromDate, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  MetricVersionSchema,
  MetricVersionService,
} from "../../../gen/waggle/v1/metric_version_pb.js";
import { formatVersion } from "../../base/versions.ts";
import { ServiceError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { toPageAnswer } from "../../base/pages.ts";
import { toValueMessage } from "../../base/value-message.ts";
import { projectOf, whoseOf } from "../../access/call.ts";
import { readContent } from "./content-fields.ts";
import { toContent } from "./version-content.ts";
import type { MetricVersion, MetricVersions } from "./versions.ts";

export function metricVersionHandlers(
  versions: MetricVersions,
): ServiceImpl<typeof MetricVersionService> {
  return {
    async listMetricVersions({ id, limit, cursor }, context) {
      const page = await versions.list(projectOf(context).projectId, id, { limit, cursor });
      return toPageAnswer(page, toMessage);
    },
    async getMetricVersion({ id, name }, context) {
      return toAnswer(await versions.get(projectOf(context).projectId, id, name));
    },
    async createMetricVersion(request, context) {
      const { message, content, deployImmediately: isDeployed } = request;
      const fields = readContent(content ? toJsonValue(content) : null);
      const version = { message, fields, isDeployed };
      return toAnswer(await versions.create(whoseOf(request.id, context), version));
    },
    async compareMetricVersions({ id, name: from, other: to }, context) {
      const changes = await versions.compare(projectOf(context).projectId, id, { from, to });
      const messages = changes.map(({ field, before, after }) => ({
        field,
        before: toValueMessage(before),
        after: toValueMessage(after),
      }));
      return { success: true, data: { from, to, changes: messages } };
    },
    async deployMetricVersion(request, context) {
      return toAnswer(await versions.deploy(whoseOf(request.id, context), request.name));
    },
    async restoreMetricVersion(request, context) {
      return toAnswer(await versions.restore(whoseOf(request.id, context), request.name));
    },
  };
}

/** Converts content to JSON. Only binary protocols can send numbers that JSON lacks. */
function toJsonValue(content: Value): JsonValue {
  try {
    return toJson(ValueSchema, content);
  } catch (cause) {
    const message = "content: must hold finite numbers only";
    throw new ServiceError("INVALID_ARGUMENT", message, { cause });
  }
}

function toAnswer(version: MetricVersion) {
  return { success: true, data: toMessage(version) };
}

function toMessage(version: MetricVersion): MessageInitShape<typeof MetricVersionSchema> {
  return {
    name: formatVersion(version.version),
    fullSha: version.fullSha,
    message: version.message,
    date: timestampFromDate(version.createdAt),
    deployed: version.isDeployed,
    content: toContent(version.definition, version.readsGroundTruth) as JsonObject,
    createdBy: version.createdBy,
  };
}
