// Settings and secrets of each provider type: which ones it takes and needs, and their forms.
// Source: docs/generations.md; the providers' own documentation.

import { parseChoice } from "../../../base/choices.ts";
import { refuse } from "../../../base/errors.ts";
import { baseUrlLengthMax } from "../../../base/field-limits.ts";
import { providerTypes, secretNames } from "../../provider.ts";
import type { ProviderType, SecretName, Secrets, Settings } from "../../provider.ts";

const settingNames = ["base_url", "resource_name", "api_version", "region"] as const;
type SettingName = (typeof settingNames)[number];
type FieldName = SettingName | SecretName;

/** Fields of a request by name; undefined if absent. */
export type CredentialFields = { readonly [Name in FieldName]?: string | undefined };

type ProviderForm = {
  readonly takes: readonly FieldName[];
  readonly needs: readonly FieldName[];
};

const withKey: ProviderForm = { takes: ["base_url", "api_key"], needs: ["api_key"] };

const forms: Readonly<Record<ProviderType, ProviderForm>> = {
  openai: withKey,
  anthropic: withKey,
  google: withKey,
  mistral: withKey,
  openai_compatible: { takes: ["base_url", "api_key"], needs: ["base_url"] },
  azure: {
    takes: ["base_url", "resource_name", "api_version", "api_key"],
    needs: ["api_key"],
  },
  bedrock: {
    takes: ["base_url", "region", "access_key_id", "secret_access_key", "session_token"],
    needs: ["region", "access_key_id", "secret_access_key"],
  },
};

/** Azure's resource names and AWS's regions become part of a host name: no character may end it. */
const settingForms: Readonly<Record<Exclude<SettingName, "base_url">, readonly [RegExp, string]>> =
  {
    resource_name: [
      /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
      "1 to 63 letters, digits and -, with a letter or digit at both ends",
    ],
    api_version: [/^[A-Za-z0-9._-]{1,64}$/, "1 to 64 letters, digits, . _ and -"],
    region: [/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/, "an AWS region, such as us-east-1"],
  };

/** Secrets are sent in headers. */
const secretForm = /^[\x21-\x7e]{1,8192}$/;
const namePattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Returns the provider. Fails with INVALID_ARGUMENT listing the known providers. */
export function parseProvider(text: string): ProviderType {
  return parseChoice("provider", providerTypes, text);
}

/** Returns whether a text may name credentials, as in `provider/` of a model. */
export function isCredentialName(text: string): boolean {
  return namePattern.test(text);
}

/** Returns the name of credentials. Fails with INVALID_ARGUMENT. */
export function parseName(text: string): string {
  if (isCredentialName(text)) return text;
  const wanted = "1 to 64 lower-case letters, digits, - and _, with a letter or digit first";
  return refuse("name", `must be ${wanted}`);
}

/**
 * Throws INVALID_ARGUMENT naming the field unless the fields are well formed and, together with the
 * kept secrets, fit the provider. Messages never repeat the values of secrets.
 */
export function assertFields(
  provider: ProviderType,
  fields: CredentialFields,
  kept: readonly SecretName[] = [],
): void {
  const { takes, needs } = forms[provider];
  for (const name of [...settingNames, ...secretNames]) {
    if (fields[name] === undefined) continue;
    if (!takes.includes(name)) refuse(name, `${provider} does not take it; leave it out`);
    assertForm(name, fields[name]);
  }
  for (const name of needs) {
    const isThere = fields[name] !== undefined || kept.some((one) => one === name);
    if (!isThere) refuse(name, `${provider} needs it`);
  }
  if (provider === "azure") assertOneAddress(fields);
}

function assertForm(name: FieldName, text: string): void {
  if (name === "base_url") parseBaseUrl(text);
  else if (isSecretName(name)) {
    if (!secretForm.test(text)) refuse(name, "must be visible ASCII characters, at most 8,192");
  } else {
    const [pattern, wanted] = settingForms[name];
    if (!pattern.test(text)) refuse(name, `must be ${wanted}`);
  }
}

function isSecretName(name: FieldName): name is SecretName {
  return secretNames.some((one) => one === name);
}

function assertOneAddress({ base_url: url, resource_name: resource }: CredentialFields): void {
  if (url === undefined && resource === undefined) {
    refuse("resource_name", "azure needs it, or else base_url");
  }
  if (url !== undefined && resource !== undefined) {
    refuse("resource_name", "says where requests go, as base_url does; leave one out");
  }
}

/** Returns the settings of well-formed fields. */
export function settingsOf(fields: CredentialFields): Settings {
  return {
    baseUrl: fields.base_url === undefined ? null : parseBaseUrl(fields.base_url),
    resourceName: fields.resource_name ?? null,
    apiVersion: fields.api_version ?? null,
    region: fields.region ?? null,
  };
}

/** Returns the secrets among the fields. */
export function secretsOf(fields: CredentialFields): Secrets {
  return Object.fromEntries(
    secretNames.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

/** Returns a base URL without a trailing slash. */
function parseBaseUrl(text: string): string {
  const url = text.length <= baseUrlLengthMax && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return refuse(
      "base_url",
      "must be an http or https URL, such as https://models.example.org/v1",
    );
  }
  // Everyone who may read the credentials sees the URL: it must not contain a secret.
  if (url.username + url.password !== "") refuse("base_url", "must not hold a user or password");
  if (/[?#]/.test(text)) refuse("base_url", "must have neither a query nor a fragment");
  return url.href.replace(/\/+$/, "");
}
