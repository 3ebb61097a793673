// Reviews of a queue's events: claim, release, complete. The places of an event are given under one
// lock of its queue. Source: docs/queues.md; docs/decisions.md, 45.2, 45.3.

import type { ProjectRef } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { reviewerNameLengthMax, reviewExplanationLengthMax } from "../../base/field-limits.ts";
import { type JsonObject, type JsonValue, type MutableObject, setOwn } from "../../base/json.ts";
import { scoresOfReviewMax } from "../../base/tenant-limits.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import type { MetricsMerge } from "../../tracing/events/metrics.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import { assertName, assertText } from "../../base/assert-text.ts";
import type { Evaluator } from "../metrics/metrics.ts";
import { toMetrics } from "../scores/result-row.ts";
import { checkScore } from "../scores/score.ts";
import type { HumanMetrics } from "./human-metrics.ts";
import * as itemStore from "./item-store.ts";
import { type QueueItem, withReviews } from "./items.ts";
import { notFound, type Queue } from "./queues.ts";
import * as store from "./review-store.ts";
import type { GivenScore, ItemKey, Reviewer, ScoreRow } from "./review-store.ts";
import { toStanding } from "./standing.ts";
import type { Actor } from "../../base/actor.ts";

/** A score as a caller gives it; `metric` is an id or a name. */
export type AskedScore = {
  readonly metric: string;
  readonly value: JsonValue | undefined;
  readonly explanation?: string | undefined;
};

export type Reviewed = {
  readonly item: QueueItem;
  /** Values on the event, by metric. */
  readonly metrics: JsonObject;
};

export type ItemDetails = {
  readonly item: QueueItem;
  /** Scores of people; empty until the event is completed. */
  readonly scores: readonly ScoreRow[];
};

/** Every method acts on a queue that the project has. */
export type Reviews = {
  /** Returns an event with its reviews. Throws NOT_FOUND. */
  get(project: ProjectRef, queue: Queue, eventId: string): Promise<ItemDetails>;
  /**
   * Gives a person a place at an event: the given one, else the one that the person holds, else the
   * next; undefined if there is none. Throws NOT_FOUND, and ITEM_TAKEN if a given event has no free
   * place.
   */
  claim(
    project: ProjectRef,
    queue: Queue,
    wanted: { readonly reviewer: Reviewer; readonly eventId: string | undefined },
  ): Promise<QueueItem | undefined>;
  /** Gives up a claim; returns whether there was one. Throws NOT_FOUND. */
  release(
    project: ProjectRef,
    queue: Queue,
    held: { readonly reviewer: Reviewer; readonly eventId: string },
  ): Promise<boolean>;
  /**
   * Stores a person's scores of an event and writes what stands into its metrics, both or neither.
   * Throws NOT_FOUND, INVALID_ARGUMENT naming the score, and ITEM_TAKEN if the event has no free
   * place for the person.
   */
  complete(
    project: ProjectRef,
    queue: Queue,
    given: {
      readonly reviewer: Reviewer;
      readonly eventId: string;
      readonly scores: readonly AskedScore[];
    },
  ): Promise<Reviewed>;
};

export type ReviewsOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly tracingOf: TracingOf;
  readonly humanMetrics: HumanMetrics;
};

export function createReviews({ clusters, tracingOf, humanMetrics }: ReviewsOptions): Reviews {
  const databaseOf = ({ clusterId }: ProjectRef) => clusters.database(clusterId);

  return {
    async get(project, { id: queueId }, eventId) {
      const key = { projectId: project.projectId, queueId, eventId };
      const sql = databaseOf(project).sql();
      const item = await getItem(sql, key);
      // Hidden until then, so that people judge for themselves.
      const isShown = item.state === "completed";
      return { item, scores: isShown ? await store.listItemScores(sql, key) : [] };
    },

    claim: (project, queue, { reviewer, eventId: wanted }) =>
      databaseOf(project).transaction(async (sql) => {
        const key = { projectId: project.projectId, queueId: queue.id };
        await itemStore.lockQueue(sql, key);
        const eventId =
          wanted ??
          (await store.findHeld(sql, key, reviewer.id)) ??
          (await store.findFree(sql, key, { reviewer: reviewer.id, reviewers: queue.reviewers }));
        if (eventId === undefined) return undefined;
        const itemKey = { ...key, eventId };
        await assertPlace(sql, itemKey, { queue, reviewer });
        await store.upsertClaim(sql, itemKey, { reviewer, seconds: queue.claimSeconds });
        return getItem(sql, itemKey);
      }),

    release: (project, { id: queueId }, { reviewer, eventId }) =>
      databaseOf(project).transaction(async (sql) => {
        const key = { projectId: project.projectId, queueId, eventId };
        await itemStore.lockQueue(sql, key);
        if (!(await store.lockItem(sql, key))) throw notFound();
        return store.releaseClaim(sql, key, reviewer.id);
      }),

    async complete(project, queue, { reviewer, eventId, scores: asked }) {
      const { projectId } = project;
      const key = { projectId, queueId: queue.id, eventId };
      const checked = await checkScores(humanMetrics, project, asked);
      return databaseOf(project).transaction(async (sql) => {
        const { metrics } = tracingOf(project);
        // The event first, in the order of every writer.
        const types = await metrics.lock(projectId, [eventId]);
        await itemStore.lockQueue(sql, key);
        await assertPlace(sql, key, { queue, reviewer });
        await store.upsertCompleted(sql, key, reviewer);
        const scores = checked.map(({ score }) => score);
        await store.insertScores(sql, key, { reviewer: reviewer.id, scores });
        await itemStore.completeReviewed(sql, key, queue.reviewers);
        const evaluators = checked.map(({ metric }) => metric);
        const standing = await toMerge(sql, key, evaluators);
        await metrics.merge(projectId, types, [standing.merge]);
        return { item: await getItem(sql, key), metrics: standing.shown };
      });
    },
  };
}

async function getItem(sql: Sql, key: ItemKey): Promise<QueueItem> {
  const row = await itemStore.findItem(sql, key, key.eventId);
  const [item] = row ? await withReviews(sql, key, [row]) : [];
  if (!item) throw notFound();
  return item;
}

/**
 * Throws ITEM_TAKEN unless a person has a place at an event or may take one. An expired claim
 * counts as none, and its person may take the place again until another does.
 */
async function assertPlace(
  sql: Sql,
  key: ItemKey,
  { queue, reviewer }: { readonly queue: Queue; readonly reviewer: Reviewer },
): Promise<void> {
  if (!(await store.lockItem(sql, key))) throw notFound();
  const { state, reviews } = await getItem(sql, key);
  const own = reviews.find((review) => review.reviewer === reviewer.id);
  if (own?.completedAt) throw taken("you have reviewed the event");
  if (state === "completed") throw taken("the event has all its reviews");
  if (!own && reviews.length >= queue.reviewers) {
    throw taken("the event is claimed by other reviewers");
  }
}

function taken(message: string): ServiceError {
  return new ServiceError("ITEM_TAKEN", `event_id: ${message}; claim another`);
}

type CheckedScore = { readonly metric: Evaluator; readonly score: GivenScore };

/** Checks scores against the definitions of their metrics. */
async function checkScores(
  humanMetrics: HumanMetrics,
  { projectId }: ProjectRef,
  asked: readonly AskedScore[],
): Promise<readonly CheckedScore[]> {
  if (asked.length === 0 || asked.length > scoresOfReviewMax) {
    refuse("scores", `must be 1 to ${scoresOfReviewMax}, each of another metric`);
  }
  const found = await humanMetrics.find(
    projectId,
    asked.map(({ metric }) => metric),
  );
  const seen = new Set<string>();
  return asked.map(({ metric: named, value, explanation }, index) => {
    const field = `scores[${index}]`;
    const metric = found.get(named);
    if (!metric) refuse(`${field}.metric`, "the project has no such metric of type HUMAN");
    if (seen.has(metric.id)) refuse(`${field}.metric`, "has a score already");
    seen.add(metric.id);
    return { metric, score: toGivenScore(field, metric, { value, explanation }) };
  });
}

function toGivenScore(
  field: string,
  { id, version, definition }: Evaluator,
  { value, explanation }: Pick<AskedScore, "value" | "explanation">,
): GivenScore {
  if (value === undefined) refuse(`${field}.value`, "is required");
  // The rule of judges holds: a number must be within the scale, and not a boolean.
  const checked = checkScore(value, { ...definition, type: "LLM" });
  if ("fault" in checked) refuse(`${field}.value`, checked.fault);
  assertText(`${field}.explanation`, explanation ?? "", reviewExplanationLengthMax);
  return {
    evaluatorId: id,
    version,
    returnType: definition.return_type,
    value: checked.score,
    explanation: explanation?.trim() ? explanation : null,
  };
}

/** Returns what stands on an event by some metrics, for the merge and for the caller. */
async function toMerge(
  sql: Sql,
  key: ItemKey,
  evaluators: readonly Evaluator[],
): Promise<{ readonly merge: MetricsMerge; readonly shown: JsonObject }> {
  const ids = evaluators.map(({ id }) => id);
  const rows = await store.listEventScores(sql, key, ids);
  const metrics: MutableObject = {};
  const shown: MutableObject = {};
  const removed: string[] = [];
  for (const { id, definition } of evaluators) {
    const own = rows.filter(({ evaluatorId }) => evaluatorId === id);
    const standing = toStanding(own, definition.return_type);
    if (!standing) throw new Error("a score was stored and does not stand");
    const { eventId } = key;
    const none = { failure: null, judge: null };
    const row = { eventId, state: "scored", result: standing.score, ...none } as const;
    const merge = toMetrics({ ...row, explanation: standing.explanation }, definition.name);
    for (const [name, value] of Object.entries(merge.metrics)) setOwn(metrics, name, value);
    removed.push(...merge.removed);
    setOwn(shown, definition.name, standing.score);
  }
  return { merge: { eventId: key.eventId, metrics, removed }, shown };
}

/**
 * Returns the person on whose behalf an actor reviews. Throws INVALID_ARGUMENT for a name that is
 * blank, too long, or given by a signed-in person, who has one.
 */
export function toReviewer({ type, id, name }: Actor, given: string | undefined): Reviewer {
  if (given === undefined) return { id: `${type}:${id}`, name };
  if (type === "user") refuse("reviewer", "is for calls with a key; you review as yourself");
  assertName("reviewer", given, reviewerNameLengthMax);
  return { id: `${type}:${id}/${given}`, name: given };
}
