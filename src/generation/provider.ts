// A provider of models as the rest of generation sees it: how it is reached, and with which
// secrets. Found by routing; read by whatever calls a model. Source: docs/generations.md.

import type { ServiceError } from "../base/errors.ts";

export const providerTypes = [
  "openai",
  "azure",
  "anthropic",
  "google",
  "bedrock",
  "mistral",
  "openai_compatible",
] as const;
/** Which API a provider speaks. */
export type ProviderType = (typeof providerTypes)[number];

/** Providers whose API is OpenAI's: bodies pass to and from them as they are. */
export function speaksOpenAi(type: ProviderType): boolean {
  return type === "openai" || type === "azure" || type === "openai_compatible";
}

export const secretNames = [
  "api_key",
  "access_key_id",
  "secret_access_key",
  "session_token",
] as const;
export type SecretName = (typeof secretNames)[number];
export type Secrets = { readonly [Name in SecretName]?: string };

/** How the models of one provider are reached. */
export type Connection = {
  /** Tells connections apart in memory: the same id, the same settings and secrets. */
  readonly id: string;
  /** What `provider/` of a model names. */
  readonly name: string;
  readonly type: ProviderType;
  /** Without a slash at its end; undefined where the provider's own address is used. */
  readonly baseUrl: string | undefined;
  /** Azure. */
  readonly resourceName: string | undefined;
  /** Azure. */
  readonly apiVersion: string | undefined;
  /** Bedrock. */
  readonly region: string | undefined;
  readonly secrets: Secrets;
  /** Named by the operator, so it may be at a private address. */
  readonly isOperators: boolean;
  /** Why it cannot be used: its secrets cannot be opened. */
  readonly fault?: ServiceError;
};

/** A model of a provider. */
export type Target = {
  readonly connection: Connection;
  /** As the provider names it. */
  readonly model: string;
};

/** What a request's `model` stands for. */
export type Route = {
  /** As the request said. */
  readonly asked: string;
  /** The alias that it is; undefined where it names a model itself. */
  readonly alias: string | undefined;
  /** At least one; the next is asked when one fails. */
  readonly targets: readonly [Target, ...Target[]];
};
