// Retention of a project: how many days it keeps its sessions, and the reports of its deletions.
// Source: docs/retention.md; docs/decisions.md, 50.1.

import { type ChangeParts, changeInside } from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { refuse } from "../../base/errors.ts";
import { type Page, type PageRequest, parsePageOptions, toPage } from "../../base/pages.ts";
import { retentionDaysMax } from "../../base/tenant-limits.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import * as store from "./store.ts";
import type { RetentionRow, RunRow } from "./store.ts";

export type { RetentionRow, RunRow };

export type Retention = {
  /** Returns the retention of a project; undefined if it keeps everything. */
  get(project: ProjectScope): Promise<RetentionRow | undefined>;
  /** Sets the days. Audited. Throws INVALID_ARGUMENT naming the field. */
  put(project: ProjectScope, days: number | undefined, actor: Actor): Promise<RetentionRow>;
  /** Ends the retention. Audited. */
  delete(project: ProjectScope, actor: Actor): Promise<void>;
  /**
   * Counts what a retention of so many days would delete now; default: the days of the project.
   * Throws INVALID_ARGUMENT naming the field, and DEADLINE_EXCEEDED.
   */
  preview(project: ProjectScope, asked: PreviewRequest): Promise<RetentionPreview>;
  /** Lists the deletions of a project, newest first. */
  listRuns(project: ProjectScope, page: PageRequest): Promise<Page<RunRow>>;
};

export type PreviewRequest = {
  readonly days: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type RetentionPreview = {
  readonly days: number;
  /** Sessions whose newest event ended before this time would go. */
  readonly cutoff: Date;
  readonly sessions: number;
  /** Sessions included. */
  readonly events: number;
};

const dayMs = 86_400_000;

export type RetentionOptions = ChangeParts & { readonly clusters: Pick<Clusters, "database"> };

export function createRetention(options: RetentionOptions): Retention {
  const { database, clusters } = options;
  return {
    get: ({ projectId }) => store.findRetention(database.sql(), projectId),

    put: (project, days, actor) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        assertDays(days);
        const { projectId } = project;
        const before = await store.findRetention(sql, projectId);
        if (before?.days === days) return { result: before };
        await store.putRetention(sql, projectId, { days, updatedBy: describeActor(actor) });
        const result = await store.findRetention(sql, projectId);
        if (!result) throw new Error("no retention after its change");
        const audit = {
          action: "retention.put",
          targetId: projectId,
          after: { days },
          ...(before && { before: { days: before.days } }),
        };
        return { result, audit };
      }),

    delete: (project, actor) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        const { projectId } = project;
        const before = await store.findRetention(sql, projectId);
        if (!before) return { result: undefined };
        await store.deleteRetention(sql, projectId);
        const state = { days: before.days };
        const audit = { action: "retention.delete", targetId: projectId, before: state };
        return { result: undefined, audit };
      }),

    async preview({ projectId, orgId: organization, clusterId }, { days: given, signal }) {
      const days = given ?? (await store.findRetention(database.sql(), projectId))?.days;
      assertDays(days);
      const cutoff = new Date(Date.now() - days * dayMs);
      const read = clusters.database(clusterId).reader({
        owner: projectId,
        organization,
        signal,
        kind: "selections",
        lesserRead: "more days",
      });
      return { days, cutoff, ...(await store.countOld(read, projectId, cutoff)) };
    },

    async listRuns({ projectId, clusterId }, request) {
      const page = parsePageOptions("retention-runs", request);
      const rows = await clusters
        .database(clusterId)
        .readInTurn(projectId, (sql) =>
          store.listRuns(sql, projectId, { ...page, limit: page.limit + 1 }),
        );
      return toPage("retention-runs", rows, page.limit);
    },
  };
}

function assertDays(days: number | undefined): asserts days is number {
  if (days === undefined || days < 1 || days > retentionDaysMax) {
    refuse("days", `must be from 1 to ${retentionDaysMax}`);
  }
}
