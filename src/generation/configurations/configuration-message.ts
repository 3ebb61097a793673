// Messages of configurations, in today's form.

import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ConfigurationSchema } from "../../../gen/waggle/v1/configuration_pb.js";
import { type Configuration, formatVersion } from "./configuration.ts";

export function toConfigurationMessage(
  configuration: Configuration,
): MessageInitShape<typeof ConfigurationSchema> {
  const { id, name, type, provider, parameters, tags, userProperties } = configuration;
  return {
    id,
    name,
    type,
    provider,
    parameters: parameters as JsonObject,
    env: [...configuration.environments],
    tags: [...tags],
    userProperties: userProperties as JsonObject,
    createdAt: timestampFromDate(configuration.createdAt),
    updatedAt: timestampFromDate(configuration.updatedAt),
    version: formatVersion(configuration.version),
  };
}
