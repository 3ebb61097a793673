// Parses the operator's settings of model providers: the usual variables of each provider, and the
// settings as JSON. They contain secrets, which no error repeats.
// Source: docs/decisions.md, 21.3; docs/generations.md.

import { ServiceError } from "./base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./base/json.ts";
import {
  assertFields,
  type CredentialFields,
  isCredentialName,
  parseProvider,
  secretsOf,
  settingsOf,
} from "./generation/connections/credentials/fields.ts";
import { type Connection, type ProviderType, secretNames } from "./generation/provider.ts";
import { parseList, parseObject } from "./setting-parsers.ts";

/** Provider from the operator's settings. */
export type OperatorProvider = Omit<Connection, "id" | "isOperators">;

/** Name for a list of models, each written as a request names it. */
export type OperatorAlias = { readonly name: string; readonly targets: readonly string[] };

const fieldNames = [
  "base_url",
  "resource_name",
  "api_version",
  "region",
  ...secretNames,
] as const satisfies readonly (keyof CredentialFields)[];
type FieldName = (typeof fieldNames)[number];

/** Variables by provider; a provider exists if all variables of `needs` are set. */
const variables: Readonly<
  Partial<
    Record<
      ProviderType,
      { readonly needs: readonly FieldName[]; readonly of: { readonly [N in FieldName]?: string } }
    >
  >
> = {
  openai: {
    needs: ["api_key"],
    of: { api_key: "OPENAI_API_KEY", base_url: "OPENAI_BASE_URL" },
  },
  azure: {
    needs: ["api_key"],
    of: {
      api_key: "AZURE_API_KEY",
      resource_name: "AZURE_RESOURCE_NAME",
      api_version: "AZURE_API_VERSION",
      base_url: "AZURE_BASE_URL",
    },
  },
  anthropic: {
    needs: ["api_key"],
    of: { api_key: "ANTHROPIC_API_KEY", base_url: "ANTHROPIC_BASE_URL" },
  },
  google: {
    needs: ["api_key"],
    of: { api_key: "GOOGLE_GENERATIVE_AI_API_KEY", base_url: "GOOGLE_BASE_URL" },
  },
  mistral: {
    needs: ["api_key"],
    of: { api_key: "MISTRAL_API_KEY", base_url: "MISTRAL_BASE_URL" },
  },
  bedrock: {
    // Without a region the AWS variables are set for another purpose.
    needs: ["region", "access_key_id", "secret_access_key"],
    of: {
      region: "AWS_REGION",
      access_key_id: "AWS_ACCESS_KEY_ID",
      secret_access_key: "AWS_SECRET_ACCESS_KEY",
      session_token: "AWS_SESSION_TOKEN",
      base_url: "BEDROCK_BASE_URL",
    },
  },
};

/** Names of the variables by provider. */
export const providerVariables: readonly (readonly [provider: string, names: readonly string[]])[] =
  Object.entries(variables).map(([type, { of }]) => [type, Object.values(of)]);

/** Maximum providers: each has a connection pool, and a line in error messages. */
const providersMax = 100;
const aliasesMax = 500;
const targetsMax = 10;

/**
 * Returns the providers whose usual variables are set.
 *
 * Fails with an Error naming the variable.
 */
export function readProviderVariables(
  environment: Readonly<Record<string, string | undefined>>,
): readonly OperatorProvider[] {
  const types = Object.keys(variables) as ProviderType[];
  return types.flatMap((type) => {
    const { needs, of } = variables[type] ?? { needs: [], of: {} };
    const fields = pickFields((name) => {
      const variable = of[name];
      // A shell or a compose file unsets a variable by setting it to the empty text.
      return (variable === undefined ? undefined : environment[variable]) || undefined;
    });
    if (needs.some((name) => fields[name] === undefined)) return [];
    return [toProvider(type, type, fields, (name) => of[name as FieldName] ?? name)];
  });
}

const providersForm =
  'must be a JSON object such as {"ollama": {"provider": "openai_compatible", ' +
  '"base_url": "http://127.0.0.1:11434/v1"}}';

/** Returns the providers of a JSON object by name; none for an empty text. */
export function parseProviders(text: string): readonly OperatorProvider[] {
  const entries = Object.entries(parseObject(text, providersForm));
  if (entries.length > providersMax) throw new Error(`must name at most ${providersMax}`);
  return entries.map(([name, value]) => {
    if (!isCredentialName(name)) {
      throw new Error("must have names of 1 to 64 lower-case letters, digits, - and _");
    }
    if (!isJsonObject(value)) throw new Error(`of ${name} ${providersForm}`);
    return parseOne(name, value);
  });
}

function parseOne(name: string, value: JsonObject): OperatorProvider {
  const known = ["provider", ...fieldNames];
  for (const [field, content] of Object.entries(value)) {
    if (!known.includes(field)) throw new Error(`of ${name} ${field}: must be ${oneOf(known)}`);
    if (typeof content !== "string") throw new Error(`of ${name} ${field}: must be a text`);
  }
  const text = (field: string) => value[field] as string | undefined;
  const label = (field: string) => `of ${name} ${field}`;
  const type = explained(label, () => parseProvider(text("provider") ?? name));
  return toProvider(name, type, pickFields(text), label);
}

const aliasesForm =
  'must be a JSON object such as {"fast": ["openai/gpt-4o-mini", "mistral/mistral-small-latest"]}';
const aliasNamePattern = /^[A-Za-z0-9._-]{1,64}$/;

/** Returns the aliases of a JSON object by name; none for an empty text. */
export function parseModelAliases(text: string): readonly OperatorAlias[] {
  const entries = Object.entries(parseObject(text, aliasesForm));
  if (entries.length > aliasesMax) throw new Error(`must name at most ${aliasesMax} aliases`);
  return entries.map(([name, targets]) => {
    if (!aliasNamePattern.test(name)) {
      throw new Error("must have names of 1 to 64 letters, digits, ., - and _");
    }
    if (!isTargets(targets)) throw new Error(`of ${name} must list 1 to ${targetsMax} models`);
    return { name, targets };
  });
}

function isTargets(value: JsonValue | undefined): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > targetsMax) return false;
  return value.every((one) => typeof one === "string" && /^[\x21-\x7e]{1,512}$/.test(one));
}

/** Returns `host` or `host:port` items in the form of URLs. */
export function parsePrivateHosts(text: string): readonly string[] {
  return parseList(text).map(parseHost);
}

function parseHost(item: string): string {
  const [, host = "", port] = /^(\[[^\]]+\]|[^:/@?#\s]+)(?::(\d{1,5}))?$/.exec(item) ?? [];
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (!url || host === "") {
    throw new Error(`must list host or host:port with commas, not ${JSON.stringify(item)}`);
  }
  return port === undefined ? url.hostname : `${url.hostname}:${port}`;
}

function toProvider(
  name: string,
  type: ProviderType,
  fields: CredentialFields,
  label: (field: string) => string,
): OperatorProvider {
  explained(label, () => assertFields(type, fields));
  const secrets = Object.freeze(secretsOf(fields));
  return Object.freeze({ name, type, ...settingsOf(fields), secrets });
}

function pickFields(find: (name: FieldName) => string | undefined): CredentialFields {
  const entries = fieldNames.map((name) => [name, find(name)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Rethrows a fault of a field: `label` replaces the field's name by the operator's name for it. */
function explained<T>(label: (field: string) => string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new Error(error.message.replace(/^[a-z_]+/, label), { cause: error });
  }
}

function oneOf(words: readonly string[]): string {
  return `one of ${words.join(", ")}`;
}
