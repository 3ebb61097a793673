// The stand-in as the operator's providers: one of each type, named by its type.

import type { StandIn, StandInApi } from "../openai-stand-in.ts";

export const standInApis = [
  "openai",
  "azure",
  "openai_compatible",
  "anthropic",
  "google",
  "mistral",
  "bedrock",
] as const satisfies readonly StandInApi[];

/** Returns the setting `providers`; the secrets contain the text `key`. */
export function providersOf({ urls }: Pick<StandIn, "urls">, key = "stand-in-key"): string {
  const secrets = {
    access_key_id: `AKIA-${key}`,
    secret_access_key: key,
    region: "us-east-1",
  };
  const entries = standInApis.map((provider) => [
    provider,
    {
      provider,
      base_url: urls[provider],
      ...(provider === "bedrock" ? secrets : { api_key: key }),
    },
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}
