// Resolves a model name among the providers of a project. Source: docs/decisions.md, 21.3.

import { refuse } from "../../../base/errors.ts";
import { modelLengthMax } from "../../../base/field-limits.ts";
import {
  type Connection,
  type ProviderType,
  providerTypes,
  type Route,
  type Target,
} from "../../provider.ts";

/** Name for a list of models, each written as a request would name it; aliases are not nested. */
export type Alias = {
  readonly name: string;
  readonly targets: readonly string[];
};

/** If several have the same name, the first one counts. */
export type Providers = {
  readonly connections: readonly Connection[];
  readonly aliases: readonly Alias[];
};

const namesMax = 20;

/**
 * Resolves a request's `model`, in this order: an alias; `provider/model`; a model whose name tells
 * its provider; a model of the only provider. With `provider`, which names a connection, `model` is
 * always a model of this connection.
 *
 * Fails with INVALID_ARGUMENT naming `model` or `provider` and listing the providers, and with
 * CREDENTIAL_UNREADABLE if every target has unreadable credentials.
 */
export function resolve(providers: Providers, model: string, provider?: string): Route {
  assertName("model", model);
  if (provider !== undefined) {
    return { asked: model, targets: usable([findNamed(providers, model, provider)]) };
  }
  const alias = providers.aliases.find(({ name }) => name === model);
  const names = alias?.targets ?? [model];
  const targets = names.flatMap((name) => findTarget(providers, name) ?? []);
  const [first, ...rest] = targets;
  if (!first) return refuse("model", unresolved(providers, alias));
  return { asked: model, targets: usable([first, ...rest]) };
}

/** Omits unusable targets if at least one is usable; else throws the fault of the first. */
function usable(targets: Route["targets"]): Route["targets"] {
  const [first, ...rest] = targets.filter(({ connection }) => !connection.fault);
  if (first) return [first, ...rest];
  throw targets[0].connection.fault ?? new Error("no target, and no fault of one");
}

/** Returns whether a model name is allowed: it becomes part of headers, URLs and events. */
export function isModelName(text: string): boolean {
  return text !== "" && text.length <= modelLengthMax && !/[^\x21-\x7e]/.test(text);
}

function assertName(field: string, text: string): void {
  if (isModelName(text)) return;
  refuse(field, `must be 1 to ${modelLengthMax} visible ASCII characters`);
}

function findNamed(providers: Providers, model: string, provider: string): Target {
  assertName("provider", provider);
  const connection = providers.connections.find(({ name }) => name === provider);
  if (connection) return { connection, model };
  return refuse("provider", `there is none of this name; ${listed(providers)}`);
}

function findTarget({ connections }: Providers, model: string): Target | undefined {
  const slash = model.indexOf("/");
  const before = model.slice(0, Math.max(slash, 0));
  const named = connections.find(({ name }) => name === before);
  const rest = model.slice(slash + 1);
  if (named && rest !== "") return { connection: named, model: rest };
  const connection = findGuessed(connections, model) ?? findOnly(connections, before);
  return connection && { connection, model };
}

/** Prefers a connection that is named like the provider over others of its type. */
function findGuessed(connections: readonly Connection[], model: string): Connection | undefined {
  const type = guessType(model);
  const ofType = connections.filter((one) => one.type === type);
  return ofType.find(({ name }) => name === type) ?? ofType[0];
}

/**
 * Returns the only connection, if there is exactly one. A model that names another provider is not
 * meant for it, except on an OpenAI-compatible server, which may have models of such names.
 */
function findOnly(connections: readonly Connection[], before: string): Connection | undefined {
  const [only, ...others] = connections;
  if (!only || others.length > 0) return undefined;
  const isOfAnother = providerTypes.some((type) => type === before);
  return isOfAnother && only.type !== "openai_compatible" ? undefined : only;
}

function unresolved(providers: Providers, alias: Alias | undefined): string {
  const what = alias ? `no provider is known for any model of alias ${alias.name}` : "";
  const way = "name it as provider/model, such as openai/gpt-4o-mini";
  return `${what || `no provider is known for it; ${way}`}; ${listed(providers)}`;
}

function listed({ connections }: Providers): string {
  const names = [...new Set(connections.map(({ name }) => name))];
  if (names.length === 0) return "no provider is set up for this project";
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : "";
  return `providers: ${names.slice(0, namesMax).join(", ")}${more}`;
}

const bedrockMakers = [
  "ai21|amazon|anthropic|cohere|deepseek|google|luma|meta|minimax|mistral|moonshot|nvidia",
  "openai|qwen|stability|twelvelabs|writer",
].join("|");

/** Bedrock's ids begin with the maker, or with a region group and the maker. */
const bedrockId = new RegExp(
  "^(?:arn:aws[\\w-]*:bedrock:" +
    `|(?:(?:us|eu|apac|jp|au|ca|global|us-gov)\\.)?(?:${bedrockMakers})\\.)`,
);

const forms: readonly (readonly [RegExp, ProviderType])[] = [
  [/^(?:ft:)?(?:gpt-|chatgpt-|o[134](?:$|-)|text-embedding-)/, "openai"],
  [/^claude(?:$|-)/, "anthropic"],
  [/^gemini(?:$|-)/, "google"],
  [/^(?:open-)?(?:mistral|mixtral|codestral|ministral|pixtral|magistral)(?:$|-)/, "mistral"],
  [bedrockId, "bedrock"],
];

/** Returns the type of the provider whose models have such names; undefined if none has. */
export function guessType(model: string): ProviderType | undefined {
  return forms.find(([form]) => form.test(model))?.[1];
}
