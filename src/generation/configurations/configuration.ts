// A configuration, the content of its versions, and the names of versions and environments. Pure.
// Source: docs/decisions.md, 44.1, 44.2; docs/prompts.md.

import { parseChoice } from "../../base/choices.ts";
import type { JsonObject } from "../../base/json.ts";
import { hashContent, parseVersion } from "../../base/versions.ts";

/** In the order of answers. */
export const environments = ["dev", "staging", "prod"] as const;
export type Environment = (typeof environments)[number];

export const configurationTypes = ["LLM", "pipeline"] as const;
export type ConfigurationType = (typeof configurationTypes)[number];

/** Content of a version; name and environments belong to the configuration. */
export type Content = {
  readonly type: ConfigurationType;
  readonly provider: string;
  /** Keys as the client sent them; the known ones are checked. */
  readonly parameters: JsonObject;
  readonly userProperties: JsonObject;
  readonly tags: readonly string[];
};

/** A configuration with the content of one of its versions. */
export type Configuration = Content & {
  readonly id: string;
  readonly name: string;
  /** Number of the version with this content. */
  readonly version: number;
  readonly lastVersion: number;
  /** Environments in which any version is deployed. */
  readonly environments: readonly Environment[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Throws INVALID_ARGUMENT naming the field unless the text names an environment. */
export function parseEnvironment(text: string, field = "env"): Environment {
  return parseChoice(field, environments, text);
}

/** Returns the number of a version from its name or number; undefined if it is malformed. */
export function parseVersionOrNumber(name: string): number | undefined {
  return parseVersion(name.startsWith("v") ? name : `v${name}`);
}

/** Returns the hash of a content. */
export function hashOf({ type, provider, parameters, userProperties, tags }: Content): string {
  return hashContent({ type, provider, parameters, userProperties, tags });
}
