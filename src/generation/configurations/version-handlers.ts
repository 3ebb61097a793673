// ConfigurationVersionService: a message in, a message out, no decisions.

import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  ConfigurationFieldChangeSchema,
  ConfigurationVersionSchema,
  ConfigurationVersionService,
} from "../../../gen/waggle/v1/configuration_version_pb.js";
import { formatVersion } from "../../base/versions.ts";
import { toPageAnswer } from "../../base/pages.ts";
import { toValueMessage } from "../../base/value-message.ts";
import { projectOf, whoseOf } from "../../access/call.ts";
import type { FieldChange } from "./diff.ts";
import type { ConfigurationVersion, ConfigurationVersions } from "./versions.ts";

export function configurationVersionHandlers(
  versions: ConfigurationVersions,
): ServiceImpl<typeof ConfigurationVersionService> {
  return {
    async listConfigurationVersions({ id, limit, cursor }, context) {
      const page = await versions.list(projectOf(context).projectId, id, { limit, cursor });
      return toPageAnswer(page, toMessage);
    },
    async getConfigurationVersion({ id, version }, context) {
      return toAnswer(await versions.get(projectOf(context).projectId, id, version));
    },
    async compareConfigurationVersions({ id, version: from, other: to }, context) {
      const compared = await versions.compare(projectOf(context).projectId, id, { from, to });
      const data = {
        from: formatVersion(compared.from),
        to: formatVersion(compared.to),
        changes: compared.changes.map(toChange),
      };
      return { success: true, data };
    },
    async deployConfigurationVersion(request, context) {
      const { version, env } = request;
      return toAnswer(await versions.deploy(whoseOf(request.id, context), version, env));
    },
  };
}

function toAnswer(version: ConfigurationVersion) {
  return { success: true, data: toMessage(version) };
}

function toMessage(
  version: ConfigurationVersion,
): MessageInitShape<typeof ConfigurationVersionSchema> {
  const { userProperties, ...content } = version.content;
  return {
    name: formatVersion(version.version),
    fullSha: version.fullSha,
    message: version.message,
    date: timestampFromDate(version.createdAt),
    env: [...version.environments],
    content: { ...content, user_properties: userProperties } as unknown as JsonObject,
    createdBy: version.createdBy,
  };
}

function toChange({
  field,
  before = null,
  after = null,
  lines = [],
}: FieldChange): MessageInitShape<typeof ConfigurationFieldChangeSchema> {
  return { field, before: toValueMessage(before), after: toValueMessage(after), lines: [...lines] };
}
