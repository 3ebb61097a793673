// The chunker: creates chunks of waiting runs and has their workflows started. While a chunk of an
// evaluator runs the next one gathers, which keeps chunks few: each costs a workflow and, for code,
// a sandbox. Source: docs/evaluators.md.

import type { ProjectScope } from "../../access/scope.ts";
import { createUuid } from "../../base/ids.ts";
import * as limits from "../../base/limits.ts";
import { chunksOfProjectMax } from "../../base/tenant-limits.ts";
import { evaluateChunkEntry } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { RunnableEvaluator } from "../metrics/definition.ts";
import type { Scores } from "../scores/scores.ts";
import * as chunkStore from "../scores/online-chunk-store.ts";
import * as queueStore from "./queue-store.ts";
import * as runStore from "../scores/queued-store.ts";

export type Chunker = {
  /**
   * Creates chunks of a project's runs, longest waiting first, up to the project's limit and
   * `roomInOrg`; returns the number. Drops waiting runs of evaluators that no longer run, and
   * routes runs of earlier versions again. Creates none while another worker handles the project.
   */
  makeChunks(
    project: ProjectScope,
    waiting: readonly runStore.WaitingSince[],
    roomInOrg: number,
  ): Promise<number>;
  /** Puts the workflow of a chunk into the outbox; idempotent. */
  hand(project: ProjectScope, chunk: chunkStore.OpenChunk): Promise<void>;
};

export type ChunkerOptions = {
  /** The control database, which holds the outbox. */
  readonly database: Database;
  readonly clusters: Pick<Clusters, "database">;
  readonly metrics: {
    /** Returns the evaluator as it is in the database now; undefined if it was deleted. */
    find(
      projectId: ProjectScope["projectId"],
      evaluatorId: string,
    ): Promise<RunnableEvaluator | undefined>;
  };
  readonly scores: Pick<Scores, "dropQueued">;
  readonly outbox: Outbox;
  /** Minimum time between two chunks of an evaluator that are not full. */
  readonly gatherMs?: number;
  readonly chunkEventsMax?: number;
};

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
  const { database, clusters, metrics, scores, outbox } = options;
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
  async function routeAgain(sql: Sql, waiting: runStore.WaitingVersion): Promise<void> {
    const { projectId } = waiting;
    const events = await runStore.takeQueuedRuns(sql, waiting, chunkEventsMax);
    const [first] = events.toSorted((a, b) => a.queuedAt.getTime() - b.queuedAt.getTime());
    if (first === undefined) return;
    const eventIds = events.map(({ eventId }) => eventId);
    const { queuedAt } = first;
    await queueStore.insertQueueRows(sql, [
      { projectId, queueId: createUuid(), eventIds, queuedAt },
    ]);
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
        if (!(await queueStore.lockProject(sql, projectId))) return 0;
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

    async hand(project, chunk) {
      const entry = toEntry(chunk, { orgId: project.orgId, events: chunk.events });
      await database.transaction(() => outbox.append(entry));
      // Marked last: an unmarked chunk is handed again, to the workflow of the same id.
      const sql = clusters.database(project.clusterId).sql();
      await chunkStore.markHanded(sql, chunk.projectId, chunk.chunkId);
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
