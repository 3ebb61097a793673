// The operator's settings of model providers: usual variables, JSON texts, private hosts.

import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { toOperatorProviders } from "../../../src/generation/connections/routing/routing.ts";

const nothing = {
  baseUrl: null,
  resourceName: null,
  apiVersion: null,
  region: null,
};

const names = (environment: Readonly<Record<string, string>>) =>
  readConfig({}, environment).operatorProviders.map(({ name }) => name);

describe("variables of providers", () => {
  test("make a provider each", () => {
    const { operatorProviders } = readConfig(
      {},
      {
        OPENAI_API_KEY: "k1",
        OPENAI_BASE_URL: "http://127.0.0.1:8000/v1/",
        AZURE_API_KEY: "k2",
        AZURE_RESOURCE_NAME: "acme",
        AZURE_API_VERSION: "2024-10-21",
        ANTHROPIC_API_KEY: "k3",
        GOOGLE_GENERATIVE_AI_API_KEY: "k4",
        MISTRAL_API_KEY: "k5",
        AWS_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: "id",
        AWS_SECRET_ACCESS_KEY: "k6",
        AWS_SESSION_TOKEN: "k7",
      },
    );

    expect(operatorProviders).toEqual([
      {
        ...nothing,
        name: "openai",
        type: "openai",
        secrets: { api_key: "k1" },
        baseUrl: "http://127.0.0.1:8000/v1",
      },
      {
        ...nothing,
        name: "azure",
        type: "azure",
        secrets: { api_key: "k2" },
        resourceName: "acme",
        apiVersion: "2024-10-21",
      },
      { ...nothing, name: "anthropic", type: "anthropic", secrets: { api_key: "k3" } },
      { ...nothing, name: "google", type: "google", secrets: { api_key: "k4" } },
      { ...nothing, name: "mistral", type: "mistral", secrets: { api_key: "k5" } },
      {
        ...nothing,
        name: "bedrock",
        type: "bedrock",
        region: "us-east-1",
        secrets: { access_key_id: "id", secret_access_key: "k6", session_token: "k7" },
      },
    ]);
  });

  test("make none where its keys are absent or empty", () => {
    expect(names({})).toEqual([]);
    expect(names({ OPENAI_BASE_URL: "http://127.0.0.1:8000", OPENAI_API_KEY: "" })).toEqual([]);
    expect(names({ AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "id" })).toEqual([]);
    expect(names({ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" })).toEqual([]);
  });

  test.each([
    {
      want: /^AZURE_RESOURCE_NAME: azure needs it/,
      environment: { AZURE_API_KEY: "secret" },
    },
    {
      want: /^OPENAI_BASE_URL: must be an http/,
      environment: { OPENAI_API_KEY: "secret", OPENAI_BASE_URL: "secret.example.org" },
    },
    {
      want: /^MISTRAL_BASE_URL: must not hold a user/,
      environment: { MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: "https://me:secret@example.org" },
    },
    {
      want: /^ANTHROPIC_API_KEY: must be visible/,
      environment: { ANTHROPIC_API_KEY: "secret\nkey" },
    },
  ])("are refused by name, without values: $want", ({ environment, want }) => {
    const read = () => readConfig({}, environment);

    expect(read).toThrow(want);
    expect(read).not.toThrow("secret");
  });
});

describe("providers", () => {
  test("are read by their names, which may be a provider's own", () => {
    const providers = {
      ollama: { provider: "openai_compatible", base_url: "http://127.0.0.1:11434/v1" },
      openai: { api_key: "k" },
    };

    const { operatorProviders } = readConfig({}, { WAGGLE_PROVIDERS: JSON.stringify(providers) });

    expect(operatorProviders).toEqual([
      {
        ...nothing,
        name: "ollama",
        type: "openai_compatible",
        secrets: {},
        baseUrl: "http://127.0.0.1:11434/v1",
      },
      { ...nothing, name: "openai", type: "openai", secrets: { api_key: "k" } },
    ]);
  });

  test("go before variables of the same name", () => {
    const environment = {
      OPENAI_API_KEY: "variable",
      MISTRAL_API_KEY: "variable",
      WAGGLE_PROVIDERS: '{"openai": {"api_key": "text"}}',
    };

    const { operatorProviders } = readConfig({}, environment);

    expect(operatorProviders.map(({ name, secrets }) => [name, secrets.api_key])).toEqual([
      ["openai", "text"],
      ["mistral", "variable"],
    ]);
  });

  test("become connections of the operator's", () => {
    const { operatorProviders, operatorAliases } = readConfig(
      { providers: '{"openai": {"api_key": "k"}}', "model-aliases": '{"fast": ["openai/m"]}' },
      {},
    );

    expect(toOperatorProviders(operatorProviders, operatorAliases)).toMatchObject({
      connections: [{ id: "operator:openai", name: "openai", isOperators: true }],
      aliases: [{ name: "fast", targets: ["openai/m"] }],
    });
  });

  test.each([
    { value: '{"a": {"api_key": "hidden"', want: "must be a JSON object" },
    { value: '["hidden"]', want: "must be a JSON object" },
    { value: '{"A": {"api_key": "hidden"}}', want: "must have names of 1 to 64" },
    { value: '{"a": "hidden"}', want: "of a must be a JSON object" },
    { value: '{"a": {"api_key": "hidden"}}', want: "of a provider: must be one of openai," },
    { value: '{"openai": {"key": "hidden"}}', want: "of openai key: must be one of provider," },
    { value: '{"openai": {"api_key": ["hidden"]}}', want: "of openai api_key: must be a text" },
    { value: '{"openai": {}}', want: "of openai api_key: openai needs it" },
    { value: '{"openai": {"api_key": "k", "region": "hidden"}}', want: "of openai region: openai" },
  ])("refuses $value, without its secret", ({ value, want }) => {
    const read = () => readConfig({}, { WAGGLE_PROVIDERS: value });

    expect(read).toThrow(`WAGGLE_PROVIDERS (--providers) ${want}`);
    expect(read).not.toThrow("hidden");
  });

  test("are bounded in number", () => {
    const many = Array.from({ length: 101 }, (_, index) => [`c${index}`, {}]);

    const read = () => readConfig({ providers: JSON.stringify(Object.fromEntries(many)) }, {});

    expect(read).toThrow("must name at most 100");
  });
});

describe("model-aliases", () => {
  test("are read with their targets in order", () => {
    const { operatorAliases } = readConfig({ "model-aliases": '{"fast": ["a/b", "c"]}' }, {});

    expect(operatorAliases).toEqual([{ name: "fast", targets: ["a/b", "c"] }]);
  });

  test.each([
    { value: "fast", want: "must be a JSON object" },
    { value: '{"a b": ["m"]}', want: "must have names of 1 to 64" },
    { value: '{"fast": "m"}', want: "of fast must list 1 to 10 models" },
    { value: '{"fast": []}', want: "of fast must list 1 to 10 models" },
    { value: '{"fast": [1]}', want: "of fast must list 1 to 10 models" },
    { value: '{"fast": [""]}', want: "of fast must list 1 to 10 models" },
    { value: `{"fast": [${Array(11).fill('"m"').join()}]}`, want: "of fast must list 1 to 10" },
  ])("refuses $value", ({ value, want }) => {
    expect(() => readConfig({ "model-aliases": value }, {})).toThrow(
      `WAGGLE_MODEL_ALIASES (--model-aliases) ${want}`,
    );
  });
});

describe("provider-private-hosts", () => {
  test("are read as URLs write them", () => {
    const value = "10.0.0.1, VLLM.internal:8000,[::1]:9000,[0:0::1],0x7f.1";

    expect(readConfig({ "provider-private-hosts": value }, {}).providerPrivateHosts).toEqual([
      "10.0.0.1",
      "vllm.internal:8000",
      "[::1]:9000",
      "[::1]",
      "127.0.0.1",
    ]);
  });

  test.each(["http://host", "host:port", "host/path", "me@host", "::1", "a b", ":80"])(
    "refuses %s",
    (value) => {
      expect(() => readConfig({ "provider-private-hosts": value }, {})).toThrow(
        "must list host or host:port with commas",
      );
    },
  );
});
