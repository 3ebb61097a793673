// What a request's `model` may be: the aliases, and every model that the providers of a project
// list. Called by handlers.ts. Azure and Bedrock list no models under the keys that run them.
// Source: docs/decisions.md, 21; the providers' API references, "List models".

import type { ProjectScope } from "../../access/scope.ts";
import { hasMoreContainers } from "../../base/json-containers.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Outbound } from "../calls/outbound.ts";
import type { Connection, ProviderType } from "../provider.ts";
import { baseUrlOf } from "../providers/base-url.ts";
import { isModelName } from "../routing/resolve.ts";
import type { Routing } from "../routing/routing.ts";
import { keyHeaders } from "./pass-through.ts";

export type Model = {
  readonly id: string;
  /** Unix seconds; 0 where the provider does not say. */
  readonly created: number;
  readonly ownedBy: string;
};

export type ModelList = {
  readonly models: readonly Model[];
  /** Names of providers that did not tell theirs in time. */
  readonly unavailable: readonly string[];
};

export type Models = {
  list(project: ProjectScope): Promise<ModelList>;
};

export type ModelsOptions = {
  readonly routing: Pick<Routing, "list">;
  readonly outbound: Pick<Outbound, "dispatcher">;
};

/** A list is remembered so long; a failure shorter, as it may be over. */
const rememberedMs = 60_000;
const failureRememberedMs = 5_000;
const timeoutMs = 5_000;
const listsMax = 256;
const modelsMax = 5_000;
/** Of a provider's list; as many are read at a time as a project has providers. */
const listBytesMax = 2_000_000;
const containersMax = 100_000;

/** Owner of the aliases. */
const ownName = "waggle";

/** Undefined where the provider did not tell. */
type Listed = Promise<readonly Model[] | undefined>;

export function createModels({ routing, outbound }: ModelsOptions): Models {
  const lists = new Map<string, { readonly list: Listed; untilMs: number }>();

  function listOf(connection: Connection): Listed {
    const known = lists.get(connection.id);
    if (known && known.untilMs > Date.now()) return known.list;
    const list = ask(connection).catch(() => undefined);
    const entry = { list, untilMs: Date.now() + rememberedMs };
    lists.delete(connection.id);
    lists.set(connection.id, entry);
    for (const id of lists.keys()) if (lists.size > listsMax) lists.delete(id);
    void list.then((models) => {
      if (!models) entry.untilMs = Date.now() + failureRememberedMs;
    });
    return list;
  }

  async function ask(connection: Connection): Promise<readonly Model[]> {
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
    const answer = parseList(await readList(body));
    const items = isJsonObject(answer) ? answer[api.member ?? "data"] : undefined;
    if (statusCode !== 200 || !isJsonArray(items)) throw new Error("no list of models");
    const models = items.slice(0, modelsMax).filter(isJsonObject);
    return models.flatMap((model) => toModel(connection, model));
  }

  return {
    async list(project) {
      const { connections, aliases } = await routing.list(project);
      const lists = await Promise.all(connections.map(listOf));
      return {
        models: [
          ...aliases.map(({ name }) => ({ id: name, created: 0, ownedBy: ownName })),
          ...lists.flatMap((models) => models ?? []),
        ],
        unavailable: connections.filter((_, index) => !lists[index]).map(({ name }) => name),
      };
    },
  };
}

async function readList(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > listBytesMax) throw new Error("no list of models: it is too long");
  }
  return Buffer.concat(chunks);
}

function parseList(bytes: Buffer): JsonValue {
  if (hasMoreContainers(bytes, containersMax)) throw new Error("no list of models");
  return JSON.parse(bytes.toString()) as JsonValue;
}

/** How a provider lists its models. */
type ListApi = {
  readonly headers: (connection: Connection) => Record<string, string>;
  readonly query?: string;
  /** Member of the answer that holds the list; else `data`. */
  readonly member?: string;
};

const bearer: ListApi = { headers: keyHeaders };

const apis: { readonly [Type in ProviderType]?: ListApi } = {
  openai: bearer,
  openai_compatible: bearer,
  mistral: bearer,
  anthropic: {
    headers: ({ secrets: { api_key = "" } }) => ({
      "x-api-key": api_key,
      "anthropic-version": "2023-06-01",
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
  // Google's are resources: `models/gemini-2.5-flash`.
  const own = typeof id === "string" ? id : resource;
  if (typeof own !== "string" || !isModelName(own)) return [];
  const seconds = Number.isSafeInteger(created) ? Number(created) : secondsOf(createdAt);
  return [{ id: `${name}/${own.replace(/^models\//, "")}`, created: seconds, ownedBy: name }];
}

function secondsOf(time: JsonValue | undefined): number {
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1_000);
}
