// Messages of configurations, in today's form and in the older one.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { OldConfigurationSchema } from "../../../gen/waggle/compat/v0/configuration_pb.js";
import type { ConfigurationSchema } from "../../../gen/waggle/v1/configuration_pb.js";
import { formatVersion } from "../../base/versions.ts";
import { toStruct } from "../../base/struct.ts";
import { type Configuration } from "./configuration.ts";

export function toConfigurationMessage(
  configuration: Configuration,
): MessageInitShape<typeof ConfigurationSchema> {
  const { id, name, type, provider, parameters, tags, userProperties } = configuration;
  return {
    id,
    name,
    type,
    provider,
    parameters: toStruct(parameters),
    env: [...configuration.environments],
    tags: [...tags],
    userProperties: toStruct(userProperties),
    createdAt: timestampFromDate(configuration.createdAt),
    updatedAt: timestampFromDate(configuration.updatedAt),
    version: formatVersion(configuration.version),
  };
}

/** Converts a configuration to the older form, which names its project. */
export function toOldConfigurationMessage(
  configuration: Configuration,
  project: string,
): MessageInitShape<typeof OldConfigurationSchema> {
  const { id, name, type, provider, parameters, userProperties } = configuration;
  return {
    Id: id,
    project,
    name,
    env: [...configuration.environments],
    provider,
    type,
    parameters: toStruct(parameters),
    userProperties: toStruct(userProperties),
  };
}
