// Fields of each provider's credentials, and texts of refusals.

import { describe, expect, test } from "vitest";
import {
  assertFields,
  parseName,
  parseProvider,
  settingsOf,
} from "../../../src/generation/connections/credentials/fields.ts";
import type { CredentialFields } from "../../../src/generation/connections/credentials/fields.ts";
import type { ProviderType } from "../../../src/generation/provider.ts";

const url = "https://models.example.org/v1";
const key = "sk-of-a-test";
const aws = { access_key_id: "AKIA1", secret_access_key: "s3cret", region: "us-east-1" };

type Case = {
  readonly provider: ProviderType;
  readonly fields: CredentialFields;
  readonly want?: string;
};

describe("assertFields", () => {
  test.each<Case>([
    { provider: "openai", fields: { api_key: key } },
    { provider: "openai", fields: { api_key: key, base_url: url } },
    { provider: "anthropic", fields: { api_key: key } },
    { provider: "google", fields: { api_key: key } },
    { provider: "mistral", fields: { api_key: key } },
    { provider: "azure", fields: { api_key: key, resource_name: "ours", api_version: "v1" } },
    { provider: "azure", fields: { api_key: key, base_url: url } },
    { provider: "bedrock", fields: aws },
    { provider: "bedrock", fields: { ...aws, session_token: "t/+=", base_url: url } },
    { provider: "openai_compatible", fields: { base_url: "http://models.example.org:8000" } },
    { provider: "openai_compatible", fields: { base_url: url, api_key: key } },
  ])("takes $fields for $provider", ({ provider, fields }) => {
    expect(() => assertFields(provider, fields)).not.toThrow();
  });

  test.each<Case>([
    { provider: "openai", fields: {}, want: "api_key: openai needs it" },
    { provider: "openai", fields: { api_key: "" }, want: "api_key: must be visible ASCII" },
    { provider: "openai", fields: { api_key: `${key}\r\nx: y` }, want: "api_key: must be visible" },
    { provider: "openai", fields: { api_key: `${key}é` }, want: "api_key: must be visible ASCII" },
    { provider: "openai", fields: { api_key: key + "x".repeat(8_192) }, want: "api_key: must be" },
    { provider: "openai", fields: { api_key: key, region: "us-east-1" }, want: "region: openai" },
    { provider: "openai", fields: { api_key: key, ...aws }, want: "region: openai does not take" },
    {
      provider: "anthropic",
      fields: { api_key: key, api_version: "v1" },
      want: "api_version: anthropic does not take it; leave it out",
    },
    { provider: "azure", fields: { api_key: key }, want: "resource_name: azure needs it, or else" },
    { provider: "azure", fields: { resource_name: "ours" }, want: "api_key: azure needs it" },
    {
      provider: "azure",
      fields: { api_key: key, resource_name: "ours", base_url: url },
      want: "resource_name: says where requests go, as base_url does",
    },
    {
      provider: "azure",
      fields: { api_key: key, resource_name: "thief.example.org/" },
      want: "resource_name: must be 1 to 63 letters",
    },
    {
      provider: "azure",
      fields: { api_key: key, resource_name: "ours", api_version: "v1&x=y" },
      want: "api_version: must be",
    },
    { provider: "bedrock", fields: { ...aws, region: undefined }, want: "region: bedrock needs" },
    {
      provider: "bedrock",
      fields: { ...aws, secret_access_key: undefined },
      want: "secret_access_key: bedrock needs it",
    },
    {
      provider: "bedrock",
      fields: { ...aws, region: "x.thief.example.org#" },
      want: "region: must be an AWS region",
    },
    { provider: "bedrock", fields: { ...aws, api_key: key }, want: "api_key: bedrock does not" },
    {
      provider: "openai_compatible",
      fields: { api_key: key },
      want: "base_url: openai_compatible",
    },
  ])("refuses $fields for $provider", ({ provider, fields, want = "" }) => {
    const check = () => assertFields(provider, fields);

    expect(check).toThrow(expect.objectContaining({ reason: "INVALID_ARGUMENT" }));
    expect(check).toThrow(want);
    expect(check).not.toThrow(key);
  });

  test("takes secrets that are stored for given", () => {
    expect(() => assertFields("openai", {}, ["api_key"])).not.toThrow();
    expect(() => assertFields("bedrock", { region: "eu-west-1" }, ["access_key_id"])).toThrow(
      "secret_access_key: bedrock needs it",
    );
  });
});

describe("base_url", () => {
  test.each([
    { text: "https://models.example.org", want: "https://models.example.org" },
    { text: "https://models.example.org/v1///", want: "https://models.example.org/v1" },
    { text: "HTTP://Models.Example.ORG:80/V1", want: "http://models.example.org/V1" },
  ])("of $text is kept as $want", ({ text, want }) => {
    expect(settingsOf({ base_url: text }).baseUrl).toBe(want);
  });

  test.each([
    { text: "", want: "must be an http or https URL" },
    { text: "models.example.org", want: "must be an http or https URL" },
    { text: "ftp://models.example.org", want: "must be an http or https URL" },
    { text: "file:///etc/passwd", want: "must be an http or https URL" },
    { text: `https://models.example.org/${"x".repeat(2_048)}`, want: "must be an http or https" },
    { text: "https://u:hidden@models.example.org", want: "must not hold a user or password" },
    { text: "https://models.example.org/v1?key=hidden", want: "neither a query nor a fragment" },
    { text: "https://models.example.org/v1#hidden", want: "neither a query nor a fragment" },
    { text: "https://models.example.org/v1?", want: "neither a query nor a fragment" },
  ])("of $text is refused", ({ text, want }) => {
    const check = () => assertFields("openai_compatible", { base_url: text });

    expect(check).toThrow("base_url: ");
    expect(check).toThrow(want);
    expect(check).not.toThrow("hidden");
  });
});

describe("names", () => {
  test.each(["openai", "0", "my-vllm_2", "a".repeat(64)])("may be %s", (name) => {
    expect(parseName(name)).toBe(name);
  });

  test.each(["", "-a", "_a", "OpenAI", "a/b", "a b", "é", "a\0", "a".repeat(65), "a\n"])(
    "may not be %j",
    (name) => {
      expect(() => parseName(name)).toThrow("name: must be 1 to 64 lower-case letters");
    },
  );

  test("of providers are those there are", () => {
    expect(parseProvider("mistral")).toBe("mistral");
    expect(() => parseProvider("OpenAI")).toThrow("provider: must be one of openai, azure,");
  });
});
