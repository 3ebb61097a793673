// Creates the Vercel AI SDK's models for a connection. Every setting is given explicitly, because
// the SDK reads absent ones from the operator's environment. The first call imports this file: the
// SDK takes 30 MB. Source: docs/generations.md; docs/decisions.md, 20.1.

import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createAzure } from "@ai-sdk/azure";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { EmbeddingModelV4, LanguageModelV4 } from "@ai-sdk/provider";
import { refuse } from "../../../base/errors.ts";
import type { Connection, ProviderType, Target } from "../../provider.ts";
import { azureApiVersionDefault, baseUrlOf } from "../base-url.ts";

export type Fetch = typeof globalThis.fetch;

/**
 * Returns a model for `doGenerate` and `doStream` that sends its requests by `fetch`. It does not
 * retry; `toProviderError` converts its errors. Fails with INVALID_ARGUMENT if the provider cannot
 * have a model of this name.
 */
export function chatModel({ connection, model }: Target, fetch: Fetch): LanguageModelV4 {
  assertName(connection.type, model);
  return providers[connection.type](connection, fetch).chat(model);
}

/** Like `chatModel`, but fails with INVALID_ARGUMENT also if the provider has no embeddings. */
export function embeddingModel({ connection, model }: Target, fetch: Fetch): EmbeddingModelV4 {
  assertName(connection.type, model);
  const provider = providers[connection.type](connection, fetch);
  if (provider.embedding) return provider.embedding(model);
  return refuse("model", `provider ${connection.name} makes no embeddings`);
}

type Provider = {
  chat(model: string): LanguageModelV4;
  embedding?(model: string): EmbeddingModelV4;
};

// Created for each call, in microseconds, so that secrets live no longer than connections.
const providers: { readonly [Type in ProviderType]: (from: Connection, fetch: Fetch) => Provider } =
  {
    openai: (from, fetch) => createOpenAI({ ...settingsOf(from), fetch }),
    azure: (from, fetch) =>
      createAzure({
        ...settingsOf(from),
        apiVersion: from.apiVersion ?? azureApiVersionDefault,
        useDeploymentBasedUrls: true,
        fetch,
      }),
    anthropic(from, fetch) {
      const anthropic = createAnthropic({ ...settingsOf(from), fetch });
      return { chat: (model) => anthropic.chat(model) };
    },
    google: (from, fetch) => createGoogle({ ...settingsOf(from), fetch }),
    bedrock(from, fetch) {
      const bedrock = createAmazonBedrock({
        ...settingsOf(from),
        region: from.region ?? "",
        credentialProvider: () => Promise.resolve(awsCredentialsOf(from)),
        fetch,
      });
      return {
        chat: (model) => bedrock.languageModel(model),
        embedding: (model) => bedrock.embedding(model),
      };
    },
    mistral: (from, fetch) => createMistral({ ...settingsOf(from), fetch }),
    openai_compatible(from, fetch) {
      const settings = { ...settingsOf(from), name: from.name, includeUsage: true, fetch };
      const compatible = createOpenAICompatible(settings);
      return {
        chat: (model) => compatible.chatModel(model),
        embedding: (model) => compatible.embeddingModel(model),
      };
    },
  };

// An empty key counts as given: the SDK then does not read the environment.
function settingsOf(connection: Connection): { readonly baseURL: string; readonly apiKey: string } {
  return { baseURL: baseUrlOf(connection), apiKey: connection.secrets.api_key ?? "" };
}

function awsCredentialsOf({ secrets }: Connection): {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
} {
  const { access_key_id = "", secret_access_key = "", session_token } = secrets;
  const own = { accessKeyId: access_key_id, secretAccessKey: secret_access_key };
  return session_token === undefined ? own : { ...own, sessionToken: session_token };
}

/** Allowed model names of providers that put the name into a path, which it must not leave. */
const pathNames: { readonly [Type in ProviderType]?: RegExp } = {
  azure: /^[^\s/?#%\\]+$/,
  google: /^[^\s?#%\\]+$/,
  bedrock: /./,
};

function assertName(type: ProviderType, model: string): void {
  const pattern = pathNames[type];
  if (!pattern) return;
  const hasDots = model.split("/").some((part) => part === "." || part === "..");
  if (pattern.test(model) && !hasDots) return;
  refuse("model", `is not a valid model name of ${type}`);
}
