// The chunker: creates chunks of waiting runs and has their workflows started. While a chunk of an
// evaluator runs the next one gathers, which keeps chunks few: each costs a workflow and, for code,
// a sandbox. Source: docs/evaluators.md.

import type { ProjectScope } from "../../access/scope.ts";
import { createUuid } from "../../base/ids.ts";
import * as limits from "../../base/limits.ts";
import { chunksOfProjectMax } from "../../base/tenant-limits.ts";
import { evaluateChunkEntry } from "../../outbox/entry.ts";
import type { WorkflowStarter } from "../../outbox/relay.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import type { RunnableEvaluator } from "../metrics/definition.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { QueueRow } from "../online/queue-store.ts";
import * as chunkStore from "./chunk-store.ts";
import * as queuedStore from "./queued-store.ts";
import type { Scores } from "./scores.ts";

export type Chunker = {
  /**
   * Creates chunks of a project's runs, longest waiting first, up to the project's limit and
   * `roomInOrg`; returns the number. Drops waiting runs of evaluators that no longer run, and
   * routes runs of earlier versions again. Creates none while another worker handles the project.
   */
  makeChunks(
    project: ProjectScope,
    waiting: readonly queuedStore.WaitingSince[],
    roomInOrg: number,
  ): Promise<number>;
  /** Returns versions of a cluster with waiting runs, in projects after `afterId`. */
  listWaiting(
    clusterId: string,
    afterId: string,
    limit: number,
  ): Promise<readonly queuedStore.WaitingSince[]>;
  /** Counts the open chunks of a cluster's projects, without those of backfills. */
  countOpen(
    clusterId: string,
  ): Promise<readonly { readonly projectId: string; readonly count: number }[]>;
  /** Returns chunks whose workflow has not been started. */
  listUnstarted(clusterId: string): Promise<readonly chunkStore.OpenChunk[]>;
  /** Starts the workflow of a chunk; idempotent. */
  start(project: ProjectScope, chunk: chunkStore.OpenChunk): Promise<void>;
};

export type ChunkerOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly metrics: Pick<Metrics, "find">;
  readonly scores: Pick<Scores, "dropQueued" | "touchChunk">;
  /** The router's queue. */
  readonly queue: {
    /** Locks a project's queue until the transaction ends; false if another worker holds it. */
    lockProject(sql: Sql, projectId: string): Promise<boolean>;
    insertQueueRows(sql: Sql, rows: readonly QueueRow[]): Promise<void>;
  };
  readonly client: WorkflowStarter;
  /** Minimum time between two chunks of an evaluator that are not full. */
  readonly gatherMs?: number;
  readonly chunkEventsMax?: number;
};

/** Maximum workflows started at a time. */
const startsMax = 20;
/** Short next to the start of a workflow and a sandbox, and halves their number. */
const gatherMsDefault = 500;
/** Maximum versions of a project per turn: more than may have an open chunk. */
const versionsMax = 50;
/** Maximum open chunks of an evaluator while more runs wait than the next chunk takes. */
const fullChunksMax = 2;

/**
 * Age and number of old chunks to delete per new one. Sums cover some days, and more old chunks are
 * deleted than new ones are created; the scores themselves stay.
 */
const kept = { ageDays: 30, limit: 10 };

export function createChunker(options: ChunkerOptions): Chunker {
  const { clusters, metrics, scores, queue, client } = options;
  const sqlOf = (clusterId: string) => clusters.database(clusterId).sql();
  const { gatherMs = gatherMsDefault, chunkEventsMax = limits.chunkEventsMax } = options;

  /** Returns how many chunks of a version may be created now. */
  function room({ open, ageMs, queued }: chunkStore.Load): number {
    if (queued === 0) return 0;
    if (queued > chunkEventsMax) return fullChunksMax - open;
    return ageMs !== null && ageMs < gatherMs ? 0 : 1 - open;
  }

  async function claim(sql: Sql, evaluator: RunnableEvaluator, roomInProject: number) {
    const { projectId, evaluatorId, version, enablement, definition } = evaluator;
    const load = await chunkStore.findLoad(sql, evaluator, chunkEventsMax + 1);
    const count = Math.min(room(load), roomInProject);
    let made = 0;
    for (; made < count; made += 1) {
      const { name } = definition;
      const chunk = { projectId, chunkId: createUuid(), evaluatorId, version, enablement, name };
      const { workflowId } = toEntry(chunk, { orgId: "", events: 0 });
      const events = await chunkStore.claimChunk(sql, { ...chunk, workflowId }, chunkEventsMax);
      if (events === 0) break;
      await chunkStore.deleteOldChunks(sql, evaluator, kept);
    }
    return made;
  }

  /** Returns runs of an earlier version to the router's queue. */
  async function routeAgain(sql: Sql, waiting: queuedStore.WaitingVersion): Promise<void> {
    const { projectId } = waiting;
    const events = await queuedStore.takeQueuedRuns(sql, waiting, chunkEventsMax);
    const [first] = events.toSorted((a, b) => a.queuedAt.getTime() - b.queuedAt.getTime());
    if (first === undefined) return;
    const eventIds = events.map(({ eventId }) => eventId);
    const { queuedAt } = first;
    await queue.insertQueueRows(sql, [{ projectId, queueId: createUuid(), eventIds, queuedAt }]);
  }

  return {
    async makeChunks(project, allWaiting, roomInOrg) {
      const { projectId, clusterId } = project;
      // Otherwise the first of many evaluators would take every place, over and over.
      const waiting = allWaiting
        .toSorted((a, b) => a.since.getTime() - b.since.getTime())
        .slice(0, versionsMax);
      const ids = new Set(waiting.map(({ evaluatorId }) => evaluatorId));
      const found = new Map<string, RunnableEvaluator>();
      for (const id of ids) {
        const evaluator = await metrics.find(projectId, id);
        if (evaluator?.definition.enabled_in_prod) found.set(id, evaluator);
        else await scores.dropQueued(project, id);
      }
      return clusters.database(clusterId).transaction(async (sql) => {
        if (!(await queue.lockProject(sql, projectId))) return 0;
        let made = 0;
        const open = await chunkStore.countOpenChunks(sql, projectId);
        const roomInProject = Math.min(chunksOfProjectMax - open, roomInOrg);
        for (const version of waiting) {
          const evaluator = found.get(version.evaluatorId);
          if (evaluator === undefined) continue;
          if (evaluator.version !== version.version) await routeAgain(sql, version);
          else made += await claim(sql, evaluator, roomInProject - made);
        }
        return made;
      });
    },

    listWaiting: (clusterId, afterId, limit) =>
      queuedStore.listWaitingVersions(sqlOf(clusterId), afterId, limit),

    countOpen: (clusterId) => chunkStore.countOpenByProject(sqlOf(clusterId)),

    listUnstarted: (clusterId) => chunkStore.listUnhanded(sqlOf(clusterId), startsMax),

    async start(project, chunk) {
      try {
        await client.start(toEntry(chunk, { orgId: project.orgId, events: chunk.events }));
      } catch (error) {
        // Moves it to the end of the line, so that others are started too.
        await scores.touchChunk(project, chunk.chunkId);
        throw error;
      }
      // Marked last: Temporal refuses a second start by the workflow id.
      await chunkStore.markHanded(sqlOf(project.clusterId), chunk.projectId, chunk.chunkId);
    },
  };
}

/** Actor of online chunks in Temporal. */
const actor = "system evaluation";

type NewChunk = Omit<chunkStore.OpenChunk, "workflowId" | "events">;

function toEntry(chunk: NewChunk, rest: { readonly orgId: string; readonly events: number }) {
  const { projectId, chunkId, evaluatorId, version, enablement, name: evaluatorName } = chunk;
  const work = { projectId, evaluatorId, evaluatorName, version, enablement, actor };
  return evaluateChunkEntry({ ...work, ...rest, chunkId });
}
