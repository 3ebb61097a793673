// Deletes the sessions that a project keeps no longer, in batches that commit one by one. Where
// files are wanted, a batch is in a durable file before it is deleted.
// Source: docs/retention.md; docs/decisions.md, 50.1.

import type { ProjectScope } from "../../access/scope.ts";
import { createUuid } from "../../base/ids.ts";
import {
  retentionBatchBytesMax,
  retentionBatchEventsMax,
  retentionBatchSessionsMax,
} from "../../base/tenant-limits.ts";
import { applyRetentionEntry, type ApplyRetentionInput } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Database } from "../../postgres/database.ts";
import { unescapeText } from "../events/postgres-text.ts";
import type { Exports } from "../export/export.ts";
import { encodeParquet } from "../export/parquet.ts";
import { toStreamMessages } from "../export/stream-message.ts";
import type { TracingOf } from "../tracing.ts";
import type { FileStore } from "./file-store.ts";
import * as store from "./store.ts";
import * as updates from "./update-store.ts";
import type { ListedSession, RunRow, SessionPlace, SessionState } from "./store.ts";

/** A run after a step. */
export type RetentionStep = {
  readonly isDone: boolean;
  readonly sessions: number;
  readonly events: number;
};

export type Deletion = {
  /** Asks for the run of each project that has one due. Returns the number of runs. */
  startDue(): Promise<number>;
  /**
   * Deletes the next batch of a run. Safe to repeat: the deletion, the report and the place of the
   * run commit together.
   */
  step(input: ApplyRetentionInput, signal: AbortSignal): Promise<RetentionStep>;
};

export type DeletionOptions = {
  /** The control database. */
  readonly database: Database;
  readonly clusters: Pick<Clusters, "database">;
  readonly outbox: Outbox;
  readonly tracingOf: TracingOf;
  /** Returns an active project. */
  readonly findProject: (projectId: string) => Promise<ProjectScope | undefined>;
  /** Where deleted sessions are written before; undefined: nowhere. */
  readonly files: FileStore | undefined;
};

const dayMs = 86_400_000;
const dueBatch = 100;

export function createDeletion(options: DeletionOptions): Deletion {
  const { database, clusters, outbox, tracingOf, findProject, files } = options;

  return {
    async startDue() {
      let runs = 0;
      for (;;) {
        const { found, started } = await database.transaction(async (sql) => {
          const due = await store.lockDue(sql, dueBatch);
          const projects = await Promise.all(due.map((one) => findProject(one.projectId)));
          for (const [at, { projectId, days, updatedBy: actor }] of due.entries()) {
            await store.setDue(sql, projectId, new Date(Date.now() + dayMs));
            const project = projects[at];
            if (!project) continue;
            const { orgId, name } = project;
            const cutoffMs = Date.now() - days * dayMs;
            const run = { runId: createUuid(), projectName: name, days, cutoffMs };
            await outbox.append(applyRetentionEntry({ projectId, orgId, ...run, actor }));
          }
          return { found: due.length, started: projects.filter(Boolean).length };
        });
        runs += started;
        if (found === 0) return runs;
      }
    },

    async step({ projectId, runId, cutoffMs }, signal) {
      const project = await findProject(projectId);
      if (!project) return { isDone: true, sessions: 0, events: 0 };
      const events = clusters.database(project.clusterId).on("commits");
      const run = await openRun(events, { id: runId, projectId, cutoff: new Date(cutoffMs) });
      if (run.state === "completed") return toStep(run);
      // The days may have been raised, or the retention ended, since the run was requested. A newer
      // run deletes the remaining events, so that runs which fail for days do not pile up.
      const kept = await store.findRetention(database.sql(), projectId);
      const isWanted =
        kept !== undefined &&
        Date.now() - kept.days * dayMs >= cutoffMs &&
        !(await store.hasNewerRun(events.sql(), run));
      const batch = isWanted ? await findBatch(events, run) : undefined;
      if (!batch) {
        if (isWanted && (await deleteUpdates(events, run))) return toStep(run);
        await store.endRun(events.sql(), projectId, runId);
        return toStep({ ...run, state: "completed" });
      }
      const name = `${projectId}/${runId}/${String(run.batches + 1).padStart(6, "0")}.parquet`;
      const { exports } = tracingOf(project);
      if (files !== undefined && batch.old.length > 0) {
        const writing = { exports, project, sessions: batch.old, signal };
        const written = await writeFile(files, name, writing).catch(async (error: unknown) => {
          signal.throwIfAborted();
          await store.setError(events.sql(), run, describeFault(error));
          throw error;
        });
        await deleteBatch(events, run, { ...batch, file: { name, written } });
      } else {
        await deleteBatch(events, run, { ...batch, file: undefined });
      }
      return toStep((await store.findRun(events.sql(), projectId, runId)) ?? run);
    },
  };
}

function toStep({ state, sessions, events }: RunRow): RetentionStep {
  return { isDone: state === "completed", sessions, events };
}

async function openRun(
  events: Database,
  run: Pick<RunRow, "id" | "projectId" | "cutoff">,
): Promise<RunRow> {
  await store.insertRun(events.sql(), run);
  const found = await store.findRun(events.sql(), run.projectId, run.id);
  if (!found) throw new Error("no run after its start");
  return found;
}

/** Deletes old updates that still wait for an event. Returns whether there may be more. */
async function deleteUpdates(events: Database, run: RunRow): Promise<boolean> {
  const { projectId, cutoff } = run;
  const page = { beforeUs: cutoff.getTime() * 1_000, limit: retentionBatchEventsMax };
  return events.transaction(
    async (sql) => {
      const deleted = await updates.deleteUpdates(sql, projectId, page);
      await updates.dateUpdates(sql, projectId, page.limit);
      await updates.addUpdates(sql, run, deleted);
      return deleted === page.limit;
    },
    { owner: projectId },
  );
}

type FoundBatch = {
  /** Sessions all of whose events are old. */
  readonly old: readonly SessionState[];
  /** The last session that was looked at. */
  readonly after: SessionPlace;
};

/** Returns the next sessions of a run; undefined at the end. */
async function findBatch(events: Database, run: RunRow): Promise<FoundBatch | undefined> {
  const { projectId, afterUs, afterId } = run;
  const beforeUs = run.cutoff.getTime() * 1_000;
  const after =
    afterUs === null || afterId === null ? undefined : { startUs: afterUs, sessionId: afterId };
  const page = { beforeUs, after, limit: retentionBatchSessionsMax };
  const places = fittingOf(await store.listSessions(events.sql(), projectId, page));
  const ids = places.map(({ sessionId }) => sessionId);
  const states = new Map(
    (await store.listStates(events.sql(), projectId, ids)).map((one) => [one.sessionId, one]),
  );
  const old: SessionState[] = [];
  let [bytes, rows] = [0, 0];
  let last: SessionPlace | undefined;
  for (const place of places) {
    const state = states.get(place.sessionId);
    bytes += state?.bytes ?? 0;
    rows += state?.events ?? 0;
    const isFull = bytes > retentionBatchBytesMax || rows > retentionBatchEventsMax;
    if (isFull && last) break;
    last = place;
    if (state && state.newestUs < beforeUs) old.push(state);
  }
  return last && { old, after: last };
}

/** Returns the first sessions whose events fit into a batch; at least one. */
function fittingOf(sessions: readonly ListedSession[]): readonly ListedSession[] {
  let rows = 0;
  const end = sessions.findIndex((one) => (rows += one.events) > retentionBatchEventsMax);
  return end === -1 ? sessions : sessions.slice(0, Math.max(1, end));
}

type Writing = {
  readonly exports: Pick<Exports, "stream">;
  readonly project: ProjectScope;
  readonly sessions: readonly SessionState[];
  readonly signal: AbortSignal;
};

/** Writes the events of sessions to a file. Returns the number of events of each session. */
async function writeFile(
  files: FileStore,
  name: string,
  { exports, project, sessions, signal }: Writing,
): Promise<ReadonlyMap<string, number>> {
  const { projectId, orgId: organization } = project;
  const written = new Map<string, number>();
  async function* groups() {
    for (const { sessionId } of sessions) {
      const value = unescapeText(sessionId);
      const filters = [{ field: "session_id", operator: "is", value, type: "string" }];
      const selection = { filters, projections: [], fromMs: [], toMs: [] };
      const { groups } = await exports.stream(projectId, selection, { organization, signal });
      let count = 0;
      for await (const group of groups) {
        count += group.length;
        yield group;
      }
      written.set(sessionId, count);
    }
  }
  await files.put(name, encodeParquet(toStreamMessages(projectId, groups())), signal);
  return written;
}

/** Returns an error's name for the report; its message may hold a path or a bucket. */
function describeFault(error: unknown): string {
  const { name, code = name } = error as Error & { readonly code?: string };
  return `the file of the next sessions cannot be written (${code}); it is tried again`;
}

type DeletedBatch = FoundBatch & {
  /** Undefined where no file is wanted. */
  readonly file:
    | { readonly name: string; readonly written: ReadonlyMap<string, number> }
    | undefined;
};

async function deleteBatch(
  events: Database,
  run: RunRow,
  { old, after, file }: DeletedBatch,
): Promise<void> {
  const { projectId } = run;
  const ids = old.map(({ sessionId }) => sessionId);
  await events.transaction(
    async (sql) => {
      await store.lockSessions(sql, projectId, ids);
      const now = new Map(
        (await store.listStates(sql, projectId, ids)).map((one) => [one.sessionId, one.state]),
      );
      // A session that got or changed an event since is newer than the file, and is kept; so is
      // one that the file does not hold as a whole.
      const same = old.filter(
        ({ sessionId, state, events: count }) =>
          now.get(sessionId) === state &&
          (file === undefined || file.written.get(sessionId) === count),
      );
      const deleted = await store.deleteSessions(
        sql,
        projectId,
        same.map(({ sessionId }) => sessionId),
      );
      const skipped = old.length - same.length;
      await store.addBatch(sql, run, { deleted, skipped, file: file?.name, after });
    },
    { owner: projectId },
  );
}
