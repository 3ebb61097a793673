// A provider of models: its API, address and secrets. Source: docs/generations.md.

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
export type ProviderType = (typeof providerTypes)[number];

/** Returns whether the provider has OpenAI's API: request and answer bodies pass unchanged. */
export function speaksOpenAi(type: ProviderType): boolean {
  return type === "openai" || type === "azure" || type === "openai_compatible";
}

/** Returns whether the provider may have Anthropic's Messages API. */
export function speaksAnthropic(type: ProviderType): boolean {
  return type === "anthropic" || type === "openai_compatible";
}

export const secretNames = [
  "api_key",
  "access_key_id",
  "secret_access_key",
  "session_token",
] as const;
export type SecretName = (typeof secretNames)[number];
export type Secrets = { readonly [Name in SecretName]?: string };

/** Settings of a provider; null: the provider's default. */
export type Settings = {
  /** Without a trailing slash. */
  readonly baseUrl: string | null;
  /** Azure only. */
  readonly resourceName: string | null;
  /** Azure only. */
  readonly apiVersion: string | null;
  /** Bedrock only. */
  readonly region: string | null;
};

/** Address, API and secrets of one provider. */
export type Connection = Settings & {
  /** Identity for caches and socket pools: the same id means the same settings and secrets. */
  readonly id: string;
  /** Name before the slash in a model written as `provider/model`. */
  readonly name: string;
  readonly type: ProviderType;
  readonly secrets: Secrets;
  /** Whether the operator configured it: it may have a private address. */
  readonly isOperators: boolean;
  /** Reason why the connection is unusable: its secrets cannot be decrypted. */
  readonly fault?: ServiceError;
};

export type Target = {
  readonly connection: Connection;
  readonly model: string;
};

/** Result of resolving a request's `model`. */
export type Route = {
  readonly asked: string;
  /** At least one target, in the order in which they are tried. */
  readonly targets: readonly [Target, ...Target[]];
};
