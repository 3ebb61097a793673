// Address of a provider's API for connections without a base URL. Source: docs/generations.md.

import { refuse } from "../../base/errors.ts";
import type { Connection, ProviderType } from "../provider.ts";

const own: { readonly [Type in ProviderType]?: string } = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
  mistral: "https://api.mistral.ai/v1",
};

/** Version of Azure's API for a connection without one. */
export const azureApiVersionDefault = "2024-10-21";

/** One label of a host name, so that a region or resource cannot contain another host or a path. */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Returns the base URL of the provider's API, without a trailing slash; Azure's ends in `/openai`.
 * Fails with INVALID_ARGUMENT if the connection lacks the setting that determines it.
 */
export function baseUrlOf(connection: Connection): string {
  const { baseUrl, type, name } = connection;
  const resourceName = connection.resourceName ?? "";
  const region = connection.region ?? "";
  const known = baseUrl ?? own[type];
  if (known !== undefined) return known;
  if (type === "azure" && label.test(resourceName)) {
    return `https://${resourceName}.openai.azure.com/openai`;
  }
  if (type === "bedrock" && label.test(region)) {
    const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
    return `https://bedrock-runtime.${region}.${suffix}`;
  }
  return refuse("model", `provider ${name} has no address: ${cure[type]}`);
}

const cure: { readonly [Type in ProviderType]?: string } = {
  azure: "its credentials need a base_url or a resource_name",
  bedrock: "its credentials need a region",
  openai_compatible: "its credentials need a base_url",
};
