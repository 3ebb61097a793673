// The skeleton of a session in pages: all that a tree, a waterfall or a flame graph needs, of a
// session of any size. Source: docs/decisions.md, 19, 57.3.

import { refuse, ServiceError } from "../../base/errors.ts";
import { skeletonEventBytes, skeletonLimitMax } from "../../base/limits.ts";
import type { JsonObject } from "../../base/json.ts";
import { toPageBy } from "../../base/pages.ts";
import type { Database } from "../../postgres/database.ts";
import { createReadContext, type ReadContext, type Reading } from "../events/sized-read.ts";
import { formatCursor, parseCursor } from "../export/cursor.ts";
import * as store from "./skeleton-store.ts";
import { findTotals } from "./store.ts";
import { emptyTotals, type Totals, totalsOf } from "./totals.ts";

export type SkeletonEvent = store.SkeletonEvent & {
  readonly totals: Pick<Totals, "prompt_tokens" | "completion_tokens" | "total_tokens">;
  /** Cost as the sender says; undefined if absent. */
  readonly cost: number | undefined;
};

export type SkeletonPage = {
  /** The session and its sums; on the first page only. */
  readonly session: { readonly event: SkeletonEvent; readonly totals: Totals } | undefined;
  readonly events: readonly SkeletonEvent[];
  readonly nextCursor: string | undefined;
};

export type SkeletonOptions = {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
};

export type Skeletons = {
  /** Throws NOT_FOUND if the project has no such session. */
  list(
    projectId: string,
    sessionId: string,
    options: SkeletonOptions,
    reading?: Reading,
  ): Promise<SkeletonPage>;
};

const limitDefault = 1_000;

export function createSkeletons(options: { readonly database: Database }): Skeletons {
  return {
    async list(projectId, sessionId, { limit = limitDefault, cursor }, reading) {
      if (limit > skeletonLimitMax) refuse("limit", `must be at most ${skeletonLimitMax}`);
      const context = createReadContext(options.database, projectId, reading);
      context.memory.grow(limit * skeletonEventBytes);
      const question = [projectId, "skeleton", sessionId];
      const after = cursor === undefined ? undefined : parseCursor(cursor, question);
      const session = after === undefined ? await findSession(context, sessionId) : undefined;
      // One extra row tells whether there is a next page.
      const page = { projectId, sessionId, after, limit: limit + 1 };
      const rows = await store.listSkeleton(context.read, page);
      const { items, nextCursor } = toPageBy(rows, limit, (last) =>
        formatCursor({ startTimeUs: last.startTimeUs, eventId: last.event_id }, question),
      );
      return { session, events: await withParents(context, sessionId, items), nextCursor };
    },
  };
}

async function findSession(context: ReadContext, sessionId: string) {
  const { read, projectId } = context;
  const [event, totals] = await Promise.all([
    store.findSkeleton(read, projectId, sessionId),
    findTotals(read, projectId, sessionId),
  ]);
  if (!event) throw new ServiceError("NOT_FOUND", "no such session");
  return { event: withAmounts(event), totals: totals ?? emptyTotals };
}

/** Gives each event without a parent the one that lists it, else the session. */
async function withParents(
  { read, projectId }: ReadContext,
  sessionId: string,
  rows: readonly store.SkeletonEvent[],
): Promise<readonly SkeletonEvent[]> {
  const orphans = rows.filter((row) => row.parent_id === null).map((row) => row.event_id);
  const listing =
    orphans.length === 0
      ? new Map<string, string>()
      : await store.findListingParents(read, projectId, sessionId, orphans);
  return rows.map((row) => ({
    ...withAmounts(row),
    parent_id: row.parent_id ?? listing.get(row.event_id) ?? sessionId,
  }));
}

function withAmounts(row: store.SkeletonEvent): SkeletonEvent {
  const metadata = JSON.parse(row.amounts) as JsonObject;
  const totals = totalsOf({ event_type: "model", error: null, feedback: {}, metadata });
  return { ...row, totals, cost: totals.num_costs > 0 ? totals.cost : undefined };
}
