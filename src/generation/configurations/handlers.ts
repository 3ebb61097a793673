// ConfigurationService and OldConfigurationService: a message in, a message out, no decisions.

import type { Value } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ConfigurationService } from "../../../gen/waggle/v1/configuration_pb.js";
import { refuse, ServiceError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { fromValueMessages } from "../../base/value-message.ts";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import type { Configurations } from "./configurations.ts";
import { toConfigurationMessage, toOldConfigurationMessage } from "./configuration-message.ts";
import type { OldConfigurationService } from "../../../gen/waggle/compat/v0/configuration_pb.js";

export function configurationHandlers(
  configurations: Configurations,
): ServiceImpl<typeof ConfigurationService> {
  return {
    async createConfiguration(request, context) {
      const { id } = await configurations.create(projectOf(context), request, actorOf(context));
      return { acknowledged: true, insertedId: id };
    },
    async listConfigurations(request, context) {
      const page = await configurations.list(projectOf(context).projectId, request);
      return {
        configurations: page.items.map(toConfigurationMessage),
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      };
    },
    async getConfiguration({ id, env }, context) {
      const { projectId } = projectOf(context);
      return toConfigurationMessage(await configurations.get(projectId, id, env));
    },
    async updateConfiguration({ env, tags, ...request }, context) {
      const isChanged = await configurations.update(whoseOf(request.id, context), {
        ...request,
        env: toList("env", env),
        tags: toList("tags", tags),
      });
      const modifiedCount = isChanged ? 1 : 0;
      return { acknowledged: true, modifiedCount, upsertedCount: 0, matchedCount: 1 };
    },
    async deleteConfiguration(request, context) {
      await configurations.delete(whoseOf(request.id, context));
      return { acknowledged: true, deletedCount: 1 };
    },
  };
}

/** Converts a list that replaces another; null leaves it as it is. */
function toList(field: string, value: Value | undefined): JsonValue | undefined {
  if (!value || value.kind.case === "nullValue") return undefined;
  return value.kind.case === "listValue"
    ? fromValueMessages(field, value.kind.value.values)
    : refuse(field, "must be a list of texts");
}

export function oldConfigurationHandlers(
  configurations: Configurations,
): ServiceImpl<typeof OldConfigurationService> {
  return {
    async listOldConfigurations({ name, env }, context) {
      const project = projectOf(context);
      const { items, nextCursor } = await configurations.list(project.projectId, { name, env });
      if (nextCursor !== undefined) {
        // The older form has no pages.
        const way = "list them by GET /v1/configurations";
        const message = `the configurations are too long for one answer; ${way}`;
        throw new ServiceError("ANSWER_TOO_LARGE", message);
      }
      return { configurations: items.map((item) => toOldConfigurationMessage(item, project.name)) };
    },
  };
}
