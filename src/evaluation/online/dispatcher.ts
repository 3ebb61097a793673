// The dispatcher: routes written events to evaluators, creates chunks of them and has their
// workflows started, repeatedly. Every worker runs it; workers take turns at a project.
// Source: docs/evaluators.md; docs/decisions.md, 22.2, 23, 24.1, 25.1, 26.

import { LRUCache } from "lru-cache";
import { type ProjectScope, systemScopeId } from "../../access/scope.ts";
import type { Logger } from "../../base/logger.ts";
import { chunksOfOrgMax } from "../../base/tenant-limits.ts";
import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import { type ChunkerOptions, createChunker } from "../scores/chunker.ts";
import { endLostChunks, type LostChunksOptions } from "../scores/lost-chunks.ts";
import { createOrgLanes, type OrgWork } from "./org-lanes.ts";
import { createRouter, type RouterOptions } from "./router.ts";
import * as queueStore from "./queue-store.ts";

export type Dispatcher = {
  /** Begins to take turns, until `stop`. Never fails. */
  follow(): void;
  /**
   * Takes one turn at all waiting work; returns whether there was any. Never fails. After `waitMs`
   * it stops waiting for slow organizations, whose work continues.
   */
  turn(waitMs?: number): Promise<boolean>;
  /** Takes no further turn and waits for running work. */
  stop(): Promise<void>;
};

export type DispatcherOptions = Omit<RouterOptions, "clusters" | "metrics" | "scores" | "logger"> &
  Omit<ChunkerOptions, "clusters" | "metrics" | "scores" | "queue" | "client"> &
  Omit<LostChunksOptions, "clusters" | "scores" | "client" | "logger"> & {
    readonly clusters: Pick<Clusters, "ids" | "database" | "away">;
    readonly scopes: Pick<Scopes, "find">;
    readonly metrics: RouterOptions["metrics"] & ChunkerOptions["metrics"];
    readonly scores: RouterOptions["scores"] &
      ChunkerOptions["scores"] &
      LostChunksOptions["scores"];
    /** Starts workflows, and queries Temporal about them. */
    readonly client: ChunkerOptions["client"] & LostChunksOptions["client"];
    readonly logger: Pick<Logger, "warn" | "info" | "debug">;
    /** Time between two turns while something waits, and while nothing waits. */
    readonly busyPollMs?: number;
    readonly idlePollMs?: number;
    /** Checks backfills and executions, as often as lost chunks are searched. */
    readonly watchWork?: () => Promise<void>;
    /** Time between two searches for lost chunks. */
    readonly lostPollMs?: number;
  };

const busyPollMsDefault = 200;
const idlePollMsDefault = 500;
const lostPollMsDefault = 30_000;

/** Limits of a turn; the next turn continues after the last project. */
const projectsPerTurnMax = 100;
const versionsPerTurnMax = 2_000;
/** Maximum portions of one project's events per turn, before other projects. */
const portionsPerTurnMax = 5;
const projectMsMax = 1_000;
const rowsDeletedMax = 1_000;
/** Organizations served concurrently; each takes one of the worker's few connections. */
const lanes = { max: 2, orgMsMax: 2_000 };
/** Maximum wait of a turn for slow organizations. */
const turnWaitMs = 5_000;
/** Maximum cached organizations of projects; they never expire, because a project never moves. */
const orgsRememberedMax = 10_000;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { clusters, scopes, scores, logger } = options;
  const { busyPollMs = busyPollMsDefault, idlePollMs = idlePollMsDefault } = options;
  const { lostPollMs = lostPollMsDefault } = options;
  const router = createRouter(options);
  const chunker = createChunker({ ...options, queue: queueStore });
  const orgLanes = createOrgLanes(lanes);
  const orgs = new LRUCache<string, string>({ max: orgsRememberedMax });
  /** Last project of the previous turn, by cluster; the next turn begins after it. */
  const routedUpTo = new Map<string, string>();
  const chunkedUpTo = new Map<string, string>();
  const report = createReport(logger);
  let lookedForLostAt = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<boolean> | undefined;
  let isStopped = false;

  /**
   * Runs the work of each project in its organization's turn, or `drop` if the project is not
   * active.
   */
  async function workFor(
    clusterId: string,
    projectIds: readonly string[],
    { task, work, drop, waitMs }: ClusterWork,
  ): Promise<void> {
    const works: OrgWork[] = [];
    for (const projectId of projectIds) {
      const project = await findProject(scopes, projectId);
      const step = () => (project ? work(project) : drop(projectId));
      works.push({
        orgId: project?.orgId ?? systemScopeId,
        run: () => report({ clusterId, projectId, task }, async () => isStopped || step()),
      });
    }
    await orgLanes.run(works, waitMs);
  }

  async function routeCluster(clusterId: string, waitMs: number | undefined): Promise<boolean> {
    const sql = clusters.database(clusterId).sql();
    const after = routedUpTo.get(clusterId) ?? systemScopeId;
    const projectIds = await queueStore.listQueuedProjects(sql, after, projectsPerTurnMax);
    const last = projectIds.length === projectsPerTurnMax ? projectIds.at(-1) : undefined;
    routedUpTo.set(clusterId, last ?? systemScopeId);
    await workFor(clusterId, projectIds, {
      task: "route",
      work: routeProject,
      drop: (projectId) => queueStore.deleteQueueRows(sql, projectId, rowsDeletedMax),
      waitMs,
    });
    return projectIds.length > 0;
  }

  async function routeProject(project: ProjectScope): Promise<void> {
    const deadline = Date.now() + projectMsMax;
    for (let portions = 0; portions < portionsPerTurnMax && !isStopped; portions += 1) {
      if ((await router.route(project)) === 0 || Date.now() > deadline) return;
    }
  }

  async function chunkCluster(clusterId: string, waitMs: number | undefined): Promise<boolean> {
    const after = chunkedUpTo.get(clusterId) ?? systemScopeId;
    const versions = await chunker.listWaiting(clusterId, after, versionsPerTurnMax);
    const last = versions.length === versionsPerTurnMax ? versions.at(-1) : undefined;
    chunkedUpTo.set(clusterId, last?.projectId ?? systemScopeId);
    const waiting = Map.groupBy(versions, (version): string => version.projectId);
    const open = await countOpenByOrg(clusterId);
    await workFor(clusterId, [...waiting.keys()], {
      task: "chunk",
      async work(project) {
        const { orgId, projectId } = project;
        const count = open.get(orgId) ?? 0;
        const own = waiting.get(projectId) ?? [];
        const made = await chunker.makeChunks(project, own, chunksOfOrgMax - count);
        open.set(orgId, count + made);
      },
      async drop(projectId) {
        for (const { projectId: id, evaluatorId } of waiting.get(projectId) ?? []) {
          await scores.dropQueued({ projectId: id, clusterId }, evaluatorId);
        }
      },
      waitMs,
    });
    return versions.length > 0;
  }

  /** Counts the open chunks of each organization in a cluster, without those of backfills. */
  async function countOpenByOrg(clusterId: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    const rows = await chunker.countOpen(clusterId);
    for (const { projectId, count } of rows) {
      const orgId = orgs.get(projectId) ?? (await findProject(scopes, projectId))?.orgId;
      if (orgId === undefined) continue;
      orgs.set(projectId, orgId);
      counts.set(orgId, (counts.get(orgId) ?? 0) + count);
    }
    return counts;
  }

  async function startWorkflows(clusterId: string): Promise<void> {
    const starts: Promise<void>[] = [];
    for (const chunk of await chunker.listUnstarted(clusterId)) {
      const { projectId, chunkId } = chunk;
      const project = await findProject(scopes, projectId);
      const start = () =>
        project
          ? chunker.start(project, chunk)
          : scores.endChunk({ projectId, clusterId }, chunkId, "drop");
      // A task of its own: routing and chunks go on while Temporal is away.
      starts.push(report({ clusterId, projectId, task: "start" }, start));
    }
    await Promise.all(starts);
  }

  async function turn(waitMs?: number): Promise<boolean> {
    let isBusy = false;
    const looksForLost = Date.now() - lookedForLostAt >= lostPollMs;
    if (looksForLost) lookedForLostAt = Date.now();
    for (const clusterId of clusters.ids()) {
      if (isStopped || clusters.away().includes(clusterId)) continue;
      await report({ clusterId }, async () => {
        const wasQueued = await routeCluster(clusterId, waitMs);
        const waits = await chunkCluster(clusterId, waitMs);
        await startWorkflows(clusterId);
        isBusy ||= wasQueued || waits;
      });
      if (looksForLost) {
        await report({ clusterId, task: "lost chunks" }, () => endLostChunks(options, clusterId));
      }
    }
    const { watchWork } = options;
    if (looksForLost && watchWork) await report({ task: "watch" }, watchWork);
    return isBusy;
  }

  async function turnAndGoOn(): Promise<void> {
    running = turn(turnWaitMs);
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
      await orgLanes.idle();
    },
  };
}

type ClusterWork = {
  /** Names the work in the log; each task of a project fails and runs again on its own. */
  readonly task: string;
  readonly work: (project: ProjectScope) => Promise<unknown>;
  /** Called if no active project has the id. */
  readonly drop: (projectId: string) => Promise<unknown>;
  /** Maximum wait for the work; undefined for no limit. */
  readonly waitMs: number | undefined;
};

type Subject = {
  readonly clusterId?: string;
  readonly projectId?: string;
  readonly task?: string;
};

/** Maximum subjects whose faults are remembered; further faults are logged on every turn. */
const subjectsMax = 1_000;

/** Returns a function that runs work and logs a failure once, until the work succeeds again. */
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
