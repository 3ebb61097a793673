// Lists the model names that requests may use: the aliases, and all models of the project's
// providers. Azure and Bedrock do not list models with the keys that run them.
// Source: docs/decisions.md, 21.3; the providers' API references, "List models".

import type { ProjectScope } from "../../access/scope.ts";
import { createByteCache } from "../../base/byte-cache.ts";
import { ServiceError } from "../../base/errors.ts";
import { createFairPlaces } from "../../base/fair-places.ts";
import { hasMoreContainers } from "../../base/json-containers.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { memoryOf } from "../../base/json-memory.ts";
import { providerModelsBytesMax, providerModelsMax } from "../../base/tenant-limits.ts";
import { type AnswerMemory, currentAnswer } from "../calls/answer-memory.ts";
import { toNetworkError } from "../providers/network-error.ts";
import { type Outbound, readUpTo } from "../providers/outbound.ts";
import type { Connection, ProviderType } from "../provider.ts";
import { baseUrlOf } from "../providers/base-url.ts";
import { isModelName } from "../connections/routing/resolve.ts";
import type { Routing } from "../connections/routing/routing.ts";
import { anthropicVersion, keyHeaders } from "../providers/native-api.ts";

export type Model = {
  readonly id: string;
  /** Unix seconds; 0 if the provider does not return it. */
  readonly created: number;
  readonly ownedBy: string;
};

export type Models = {
  /** `unavailable`: providers that did not answer in time, or whose models are too many. */
  list(project: ProjectScope): Promise<{
    readonly models: readonly Model[];
    readonly unavailable: readonly string[];
  }>;
};

export type ModelsOptions = {
  readonly routing: Pick<Routing, "list">;
  readonly outbound: Pick<Outbound, "dispatcher">;
  /** Lists are charged to this memory while they arrive. */
  readonly answerMemory: AnswerMemory;
};

/** Time for which a list is cached; a failure, which may be temporary, is cached for less. */
const rememberedMs = 60_000;
const failureRememberedMs = 5_000;
const timeoutMs = 5_000;
const rememberedBytesMax = 32_000_000;
const answerModelsMax = 20_000;
const containersMax = 100_000;
/** Limits of concurrent list requests: a project may have hundreds of providers. */
const asking = {
  max: 32,
  orgMax: 16,
  projectMax: 16,
  waitMs: timeoutMs,
  waitersMax: 1_000,
  refusal: "the maximum number of concurrent requests for model lists is reached",
};

/** Owner of the aliases in the list. */
const ownName = "waggle";

/** Models of a provider; undefined if it did not answer. */
type Listed = readonly Model[] | undefined;

export function createModels({ routing, outbound, answerMemory }: ModelsOptions): Models {
  const known = createByteCache<{ readonly models: Listed }>({
    bytesMax: rememberedBytesMax,
    now: Date.now,
  });
  const running = new Map<string, Promise<Listed>>();
  const places = createFairPlaces(asking);

  async function listOf(connection: Connection, project: ProjectScope): Promise<Listed> {
    const { id } = connection;
    const list = known.find(id);
    if (list) return list.models;
    const begun = running.get(id) ?? begin(connection, project);
    running.set(id, begun);
    return begun;
  }

  async function begin(connection: Connection, project: ProjectScope): Promise<Listed> {
    const { id, isOperators } = connection;
    const remember = (models: Listed): Listed => {
      const ownerId = isOperators ? "operator" : project.orgId;
      const goodUntil = Date.now() + (models ? rememberedMs : failureRememberedMs);
      known.set(id, { models }, { ownerId, bytes: memoryOf(models ?? []), goodUntil });
      return models;
    };
    try {
      return remember(await askInTurn(connection, project));
    } catch (error) {
      return isOwnRefusal(error, connection) ? undefined : remember(undefined);
    } finally {
      running.delete(id);
    }
  }

  async function askInTurn(
    connection: Connection,
    project: ProjectScope,
  ): Promise<readonly Model[]> {
    const leave = await places.enter(project);
    const memory = answerMemory.open(project);
    try {
      return await currentAnswer.run(memory, () => askForModels(outbound, connection));
    } finally {
      memory.release();
      leave();
    }
  }

  return {
    async list(project) {
      const { connections, aliases } = await routing.list(project);
      const lists = await Promise.all(connections.map((one) => listOf(one, project)));
      const models = aliases.map(({ name }): Model => ({ id: name, created: 0, ownedBy: ownName }));
      const unavailable: string[] = [];
      connections.forEach(({ name }, index) => {
        const list = lists[index];
        if (list && models.length + list.length <= answerModelsMax) models.push(...list);
        else unavailable.push(name);
      });
      return { models, unavailable };
    },
  };
}

async function askForModels(
  outbound: Pick<Outbound, "dispatcher">,
  connection: Connection,
): Promise<readonly Model[]> {
  if (connection.fault) throw connection.fault;
  const api = apis[connection.type];
  if (!api) return [];
  const { origin, pathname } = new URL(`${baseUrlOf(connection)}/models`);
  const { statusCode, body } = await outbound.dispatcher(connection).request({
    origin,
    path: `${pathname}${api.query ?? ""}`,
    method: "GET",
    headers: { ...api.headers(connection), accept: "application/json", "user-agent": ownName },
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer = parseList(await readUpTo(body, providerModelsBytesMax + 1));
  const items = isJsonObject(answer) ? answer[api.member ?? "data"] : undefined;
  if (statusCode !== 200 || !isJsonArray(items)) throw new Error("no list of models");
  const models = items.slice(0, providerModelsMax).filter(isJsonObject);
  return models.flatMap((model) => toModel(connection, model));
}

/**
 * Returns whether the service refused the request itself, for lack of a place or of memory: another
 * project, or the next request, may find room for the same provider.
 */
function isOwnRefusal(error: unknown, connection: Connection): boolean {
  if (error instanceof ServiceError) return true;
  return toNetworkError(error, connection, "body")?.failure === "overloaded";
}

function parseList(bytes: Buffer): JsonValue {
  const isTooLong = bytes.length > providerModelsBytesMax;
  if (isTooLong || hasMoreContainers(bytes, containersMax)) throw new Error("no list of models");
  return JSON.parse(bytes.toString()) as JsonValue;
}

/** API with which a provider lists its models. */
type ListApi = {
  readonly headers: (connection: Connection) => Record<string, string>;
  readonly query?: string;
  /** Member of the answer that contains the list; default `data`. */
  readonly member?: string;
};

const bearer: ListApi = { headers: keyHeaders };

const apis: { readonly [Type in ProviderType]?: ListApi } = {
  openai: bearer,
  openai_compatible: bearer,
  mistral: bearer,
  anthropic: {
    headers: (connection) => ({
      ...keyHeaders(connection),
      "anthropic-version": anthropicVersion,
    }),
    query: "?limit=1000",
  },
  google: {
    headers: ({ secrets: { api_key = "" } }) => ({ "x-goog-api-key": api_key }),
    query: "?pageSize=1000",
    member: "models",
  },
};

function toModel({ name }: Connection, model: JsonObject): Model[] {
  const { id, name: resource, created, created_at: createdAt } = model;
  // Google's models have resource names: `models/gemini-2.5-flash`.
  const own = typeof id === "string" ? id : resource;
  if (typeof own !== "string" || !isModelName(own)) return [];
  const seconds = Number.isSafeInteger(created) ? Number(created) : secondsOf(createdAt);
  return [{ id: `${name}/${own.replace(/^models\//, "")}`, created: seconds, ownedBy: name }];
}

function secondsOf(time: JsonValue | undefined): number {
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1_000);
}
