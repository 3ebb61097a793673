// Lists the providers of a project, and resolves the `model` of a request among them.
// Source: docs/decisions.md, 21.3, 32.

import type { ProjectScope } from "../../../access/scope.ts";
import { createByteCache } from "../../../base/byte-cache.ts";
import { memoryOf } from "../../../base/json-memory.ts";
import { nearest } from "../owner/owner.ts";
import type { Connection, Route } from "../../provider.ts";
import { type Alias, type Providers, resolve } from "./resolve.ts";
import type { OperatorProvider } from "../../../provider-settings.ts";

export type Routing = {
  /**
   * Resolves a model name. `provider` names the connection; the model is then the whole name at
   * that provider.
   *
   * Fails with INVALID_ARGUMENT naming `model` or `provider` and listing the providers.
   */
  find(project: ProjectScope, model: string, provider?: string): Promise<Route>;
  /**
   * Returns the providers and aliases of a project, one of each name: the project's, else its
   * workspace's, else its organization's, else the operator's. Contains secrets.
   */
  list(project: ProjectScope): Promise<Providers>;
};

export type RoutingOptions = {
  /** Connections of a project, its workspace and its organization, the nearest first. */
  readonly connectionsFor: (project: ProjectScope) => Promise<readonly Connection[]>;
  readonly aliasesFor: (project: ProjectScope) => Promise<readonly Alias[]>;
  /** Providers and aliases of the deployment. */
  readonly operator: Providers;
  /** Registers a listener for the subjects to forget (access/changes/changes.ts). */
  readonly onForget: (listener: (subject: string) => void) => void;
  readonly now?: () => number;
  /** Maximum bytes of the cache of all projects. */
  readonly bytesMax?: number;
};

/** Maximum age of cached providers, in case no change is announced. */
const ageMsMax = 30_000;
/** Connections with secrets, and aliases: up to 12 MB for a project, usually some kB. */
const bytesMaxDefault = 64_000_000;
/**
 * Subjects that clear the whole cache. `providers:` carries an owner's id; which projects inherit
 * from the owner is not known here.
 */
const forgotten = /^(\*$|providers:)/;

export function createRouting(options: RoutingOptions): Routing {
  const { connectionsFor, aliasesFor, operator, onForget, now = Date.now } = options;
  const { bytesMax = bytesMaxDefault } = options;
  const known = createByteCache<Providers>({ bytesMax, now });
  const lookups = new Map<string, Promise<Providers>>();

  onForget((subject) => {
    if (!forgotten.test(subject)) return;
    known.clear();
    // A lookup that began before the change must not answer requests that come after it.
    lookups.clear();
  });

  async function read(project: ProjectScope): Promise<Providers> {
    const [connections, aliases] = await Promise.all([
      connectionsFor(project),
      aliasesFor(project),
    ]);
    return {
      connections: nearest([...connections, ...operator.connections]),
      aliases: nearest([...aliases, ...operator.aliases]),
    };
  }

  function lookUp(project: ProjectScope): Promise<Providers> {
    const askedAtMs = now();
    const lookup = read(project)
      .then((providers) => {
        // If the cache was cleared meanwhile, this may be the state before the change.
        if (lookups.get(project.id) === lookup) {
          const about = { ownerId: project.orgId, bytes: memoryOf(providers) };
          known.set(project.id, providers, { ...about, goodUntil: askedAtMs + ageMsMax });
        }
        return providers;
      })
      .finally(() => {
        if (lookups.get(project.id) === lookup) lookups.delete(project.id);
      });
    lookups.set(project.id, lookup);
    return lookup;
  }

  async function list(project: ProjectScope): Promise<Providers> {
    return known.find(project.id) ?? lookups.get(project.id) ?? lookUp(project);
  }

  return {
    list,

    async find(project, model, provider) {
      return resolve(await list(project), model, provider);
    },
  };
}

/** Converts the operator's settings for routing. */
export function toOperatorProviders(
  providers: readonly OperatorProvider[],
  aliases: readonly Alias[],
): Providers {
  const connections = providers.map((provider) => ({
    ...provider,
    id: `operator:${provider.name}`,
    isOperators: true,
  }));
  return { connections, aliases };
}
