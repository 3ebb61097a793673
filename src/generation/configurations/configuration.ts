// A configuration, the content of its versions, and the names of versions and environments. Pure.
// Source: docs/decisions.md, 44.1, 44.2; docs/prompts.md.

import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { refuse } from "../openai/fields.ts";

/** In the order of answers. */
export const environments = ["dev", "staging", "prod"] as const;
export type Environment = (typeof environments)[number];

export const configurationTypes = ["LLM", "pipeline"] as const;
export type ConfigurationType = (typeof configurationTypes)[number];

/** What a version keeps; the name and the environments are the configuration's own. */
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
  const environment = environments.find((one) => one === text);
  return environment ?? refuse(field, "must be dev, staging or prod");
}

/** Returns the name of a version: `v1`, `v2`, …. */
export function formatVersion(version: number): string {
  return `v${version}`;
}

/** Returns the number of a version from its name or number; undefined if it is malformed. */
export function parseVersion(name: string): number | undefined {
  const [, digits] = /^v?([1-9]\d{0,8})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the SHA-256 of a content in hexadecimal; equal contents have equal hashes. */
export function hashContent(content: Content): string {
  const { type, provider, parameters, userProperties, tags } = content;
  const text = JSON.stringify(inOrder({ type, provider, parameters, userProperties, tags }));
  return createHash("sha256").update(text).digest("hex");
}

/** Sorts keys, because the order of keys is no difference. */
function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(inOrder);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key] ?? null)]));
}
