// The dispatcher: routes events that were written to evaluators, makes chunks of them and has their
// workflows started, over and over. Run by every worker, any number at a time: they take turns at a
// project. Made by evaluation.ts. Source: docs/evaluators.md; docs/decisions.md, 22 to 26.

import { isProject, type ProjectScope, systemScopeId } from "../../access/scope.ts";
import type { Logger } from "../../base/logger.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import { type ChunkerOptions, createChunker } from "./chunker.ts";
import { createLostChunks, type LostChunksOptions } from "./lost-chunks.ts";
import { createRouter, type RouterOptions } from "./router.ts";
import * as chunkStore from "./chunk-store.ts";
import * as queueStore from "./queue-store.ts";
import * as runStore from "./run-store.ts";

export type Dispatcher = {
  /** Begins to take turns, until `stop`. Never fails. */
  follow(): void;
  /** Takes one turn at everything that waits; returns whether there was anything. Never fails. */
  turn(): Promise<boolean>;
  /** Takes no further turn; the one that is under way is waited for. */
  stop(): Promise<void>;
};

export type DispatcherOptions = Omit<RouterOptions, "clusters" | "evaluators" | "logger"> &
  Omit<ChunkerOptions, "clusters" | "evaluators" | "scores"> &
  Omit<LostChunksOptions, "clusters" | "logger"> & {
    readonly clusters: Pick<Clusters, "ids" | "database" | "away">;
    readonly scopes: Pick<Scopes, "find">;
    readonly evaluators: RouterOptions["evaluators"] & ChunkerOptions["evaluators"];
    readonly scores: ChunkerOptions["scores"] & LostChunksOptions["scores"];
    readonly logger: Pick<Logger, "warn" | "info">;
    /** Time between two turns while something waits, and while nothing does. */
    readonly busyPollMs?: number;
    readonly idlePollMs?: number;
    /** Time between two looks for lost chunks. */
    readonly lostPollMs?: number;
  };

const busyPollMsDefault = 200;
const idlePollMsDefault = 500;
const lostPollMsDefault = 30_000;

/** Looked at in a turn; the next turn goes on behind them. */
const projectsPerTurnMax = 100;
const versionsPerTurnMax = 2_000;
const chunksPerTurnMax = 200;
/** Portions of one project's events in a turn, before others have theirs. */
const portionsPerTurnMax = 5;
const projectMsMax = 1_000;
const rowsDeletedMax = 1_000;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { clusters, scopes, scores, logger } = options;
  const { busyPollMs = busyPollMsDefault, idlePollMs = idlePollMsDefault } = options;
  const { lostPollMs = lostPollMsDefault } = options;
  const router = createRouter(options);
  const chunker = createChunker(options);
  const lostChunks = createLostChunks(options);
  /** Where the next turn at a cluster begins: behind this project. */
  const routedUpTo = new Map<string, string>();
  const chunkedUpTo = new Map<string, string>();
  const report = createReport(logger);
  let lookedForLostAt = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<boolean> | undefined;
  let isStopped = false;

  async function findProject(projectId: string): Promise<ProjectScope | undefined> {
    const scope = await scopes.find("project", projectId);
    return isProject(scope) ? scope : undefined;
  }

  async function routeCluster(clusterId: string): Promise<boolean> {
    const sql = clusters.database(clusterId).sql();
    const after = routedUpTo.get(clusterId) ?? systemScopeId;
    const projectIds = await queueStore.listQueuedProjects(sql, after, projectsPerTurnMax);
    const last = projectIds.length === projectsPerTurnMax ? projectIds.at(-1) : undefined;
    routedUpTo.set(clusterId, last ?? systemScopeId);
    for (const projectId of projectIds) {
      await report({ clusterId, projectId }, async () => {
        const project = await findProject(projectId);
        if (project) await routeProject(project);
        else await queueStore.deleteQueueRows(sql, projectId, rowsDeletedMax);
      });
    }
    return projectIds.length > 0;
  }

  async function routeProject(project: ProjectScope): Promise<void> {
    const deadline = Date.now() + projectMsMax;
    for (let portions = 0; portions < portionsPerTurnMax && !isStopped; portions += 1) {
      if ((await router.route(project)) === 0 || Date.now() > deadline) return;
    }
  }

  async function chunkCluster(clusterId: string): Promise<boolean> {
    const sql = clusters.database(clusterId).sql();
    const after = chunkedUpTo.get(clusterId) ?? systemScopeId;
    const versions = await runStore.listWaitingVersions(sql, after, versionsPerTurnMax);
    const last = versions.length === versionsPerTurnMax ? versions.at(-1) : undefined;
    chunkedUpTo.set(clusterId, last?.projectId ?? systemScopeId);
    for (const [projectId, waiting] of Map.groupBy(versions, (version) => version.projectId)) {
      await report({ clusterId, projectId }, async () => {
        const project = await findProject(projectId);
        if (project) await chunker.makeChunks(project, waiting);
        else {
          const place = { projectId, clusterId };
          for (const { evaluatorId } of waiting) await scores.dropQueued(place, evaluatorId);
        }
      });
    }
    return versions.length > 0;
  }

  async function handChunks(clusterId: string): Promise<void> {
    const sql = clusters.database(clusterId).sql();
    for (const chunk of await chunkStore.listUnhanded(sql, chunksPerTurnMax)) {
      const { projectId, chunkId } = chunk;
      await report({ clusterId, projectId }, async () => {
        const project = await findProject(projectId);
        if (project) await chunker.hand(project, chunk);
        else await scores.endChunk({ projectId, clusterId }, chunkId, "drop");
      });
    }
  }

  async function turn(): Promise<boolean> {
    let isBusy = false;
    const looksForLost = Date.now() - lookedForLostAt >= lostPollMs;
    if (looksForLost) lookedForLostAt = Date.now();
    for (const clusterId of clusters.ids()) {
      if (isStopped || clusters.away().includes(clusterId)) continue;
      await report({ clusterId }, async () => {
        const wasQueued = await routeCluster(clusterId);
        const waits = await chunkCluster(clusterId);
        await handChunks(clusterId);
        isBusy ||= wasQueued || waits;
      });
      if (looksForLost) {
        await report({ clusterId, task: "lost chunks" }, () => lostChunks.endLost(clusterId));
      }
    }
    return isBusy;
  }

  async function turnAndGoOn(): Promise<void> {
    running = turn();
    const isBusy = await running;
    running = undefined;
    schedule(isBusy ? busyPollMs : idlePollMs);
  }

  function schedule(delayMs: number): void {
    if (isStopped) return;
    timer = setTimeout(() => void turnAndGoOn(), delayMs).unref();
  }

  return {
    turn,
    follow: () => schedule(0),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

type Subject = {
  readonly clusterId: string;
  readonly projectId?: string;
  readonly task?: string;
};

/** Subjects whose faults are remembered; of more, each turn's is logged. */
const subjectsMax = 1_000;

/** Returns what does work and logs that it fails, once until it is well again. */
function createReport(logger: Pick<Logger, "warn" | "info">) {
  const faulty = new Set<string>();
  return async (subject: Subject, work: () => Promise<unknown>): Promise<void> => {
    const key = Object.values(subject).join(" ");
    try {
      await work();
      if (faulty.delete(key)) logger.info(subject, "evaluators run again");
    } catch (error) {
      if (!faulty.has(key)) logger.warn({ err: error, ...subject }, "evaluators cannot run now");
      if (faulty.size < subjectsMax) faulty.add(key);
    }
  };
}
