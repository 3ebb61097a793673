// Annotation queues of a project: which events people are to score, and how many people each.
// Source: docs/queues.md; docs/decisions.md, 45.1.

import type { AccessChanges } from "../../access/changes/changes.ts";
import { changeInside, type ChangeParts, isChange, type Whose } from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { queueDescriptionLengthMax, queueNameLengthMax } from "../../base/field-limits.ts";
import { createUuid, isUuid, type ProjectId } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import {
  claimSecondsMax,
  queuesOfProjectMax,
  reviewersOfEventMax,
} from "../../base/tenant-limits.ts";
import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import { parseEventFilters } from "../metrics/event-filters.ts";
import { assertName, assertText } from "../../base/assert-text.ts";
import { createEnabledMemory, subjectOf } from "../../access/enabled-memory.ts";
import type { QueueItems } from "./items.ts";
import * as store from "./queue-store.ts";
import type { QueueRow, QueueSettings, RoutedQueue } from "./queue-store.ts";

export type { RoutedQueue };

export type Queue = QueueRow;

/** Fields of a request. An absent field keeps its stored value; a new queue gets the default. */
export type QueueFields = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly filters?: readonly FilterInput[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly reviewers_per_event?: number | undefined;
  readonly claim_seconds?: number | undefined;
  /** Ids of events to put in, and their field. */
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
};

/** Each change is audited and reaches every server when it commits. */
export type Queues = {
  /**
   * Creates a queue, with the events of `added`. Throws INVALID_ARGUMENT or INVALID_FILTER naming
   * the field.
   */
  create(project: ProjectScope, fields: QueueFields, actor: Actor): Promise<Queue>;
  /** Returns the queues, oldest first: all, or those that are enabled or not. */
  list(projectId: ProjectId, isEnabled: boolean | undefined): Promise<readonly Queue[]>;
  /** Returns a queue. Throws NOT_FOUND if the project has no such queue. */
  get(projectId: ProjectId, id: string): Promise<Queue>;
  /** Changes the given fields, adds and removes events. Throws like `create` and `get`. */
  update(whose: Whose, fields: QueueFields): Promise<Queue>;
  /** Deletes a queue with its claims and open events; scores stay. Throws like `get`. */
  delete(whose: Whose): Promise<void>;
  /** Returns the enabled queues with filters, cached for up to a minute. */
  enabledOf(projectId: ProjectId): Promise<readonly RoutedQueue[]>;
  /** Returns false only if certainly no events come into a queue by themselves; never waits. */
  mayHaveEnabled(projectId: ProjectId): boolean;
};

export type QueuesOptions = ChangeParts & {
  readonly scopes: Pick<Scopes, "find">;
  readonly changes: Pick<AccessChanges, "onForget">;
  readonly items: Pick<QueueItems, "add" | "remove" | "completeReviewed" | "deleteOpen">;
};

const reviewersDefault = 1;
const claimSecondsDefault = 900;

export function createQueues(options: QueuesOptions): Queues {
  const { database, scopes, changes } = options;
  const memory = createEnabledMemory<RoutedQueue>({
    kind: "queues",
    async list(projectId) {
      const project = await findProject(scopes, projectId);
      if (!project) return { orgId: projectId, enabled: [] };
      return { orgId: project.orgId, enabled: await store.listRouted(database.sql(), projectId) };
    },
  });
  changes.onForget((subject) => memory.forget(subject));

  async function get(projectId: ProjectId, id: string): Promise<Queue> {
    const row = isUuid(id) && (await store.findQueue(database.sql(), projectId, id));
    if (!row) throw notFound();
    return row;
  }

  return {
    create: (project, fields, actor) => create({ ...options, get }, project, { fields, actor }),
    list: (projectId, isEnabled) => store.listQueues(database.sql(), projectId, isEnabled),
    get,
    update: (whose, fields) => update({ ...options, get }, whose, fields),

    delete: ({ project, id, actor }) =>
      changeInside(options, { scope: project, actor }, async (sql) => {
        const { projectId } = project;
        await store.queueRows.lock(sql, projectId);
        const before = await get(projectId, id);
        await store.markDeleted(sql, projectId, id);
        await options.items.deleteOpen(project, id);
        const audit = { action: "queue.delete", targetId: id, before: stateOf(before) };
        return { result: undefined, audit, forget: subjectOf("queues", projectId) };
      }),

    enabledOf: (projectId) => memory.get(projectId),
    mayHaveEnabled: (projectId) => memory.mayHaveAny(projectId),
  };
}

type Parts = QueuesOptions & Pick<Queues, "get">;

function create(
  parts: Parts,
  project: ProjectScope,
  { fields, actor }: { readonly fields: QueueFields; readonly actor: Actor },
): Promise<Queue> {
  const { projectId } = project;
  const settings = toSettings(fields, undefined);
  return changeInside(parts, { scope: project, actor }, async (sql) => {
    await store.queueRows.lock(sql, projectId);
    if ((await store.queueRows.count(sql, projectId)) >= queuesOfProjectMax) {
      refuse("name", `a project has at most ${queuesOfProjectMax} queues; delete one first`);
    }
    const id = createUuid();
    const createdBy = describeActor(actor);
    await store.insertQueue(sql, projectId, { ...settings, id, createdBy });
    // Last, because on another cluster this commits by itself: if the change fails after all, the
    // events are in a queue that does not exist.
    await parts.items.add(project, id, { eventIds: fields.added ?? [], field: "event_ids" });
    const result = await parts.get(projectId, id);
    const audit = { action: "queue.create", targetId: id, after: stateOf(result) };
    return { result, audit, forget: subjectOf("queues", projectId) };
  });
}

function update(parts: Parts, whose: Whose, fields: QueueFields): Promise<Queue> {
  const { project, id, actor } = whose;
  const { projectId } = project;
  return changeInside(parts, { scope: project, actor }, async (sql) => {
    await store.queueRows.lock(sql, projectId);
    const before = await parts.get(projectId, id);
    const after = toSettings(fields, before);
    const { added: eventIds = [], removed: removedIds = [] } = fields;
    const removed = await parts.items.remove(project, id, removedIds);
    const added = await parts.items.add(project, id, { eventIds, field: "add_event_ids" });
    const moved = removed + added > 0 ? { added, removed } : {};
    const audit = {
      action: "queue.update",
      targetId: id,
      before: stateOf(before),
      after: { ...stateOf(after), ...moved },
    };
    if (added > 0 || after.reviewers !== before.reviewers) {
      await parts.items.completeReviewed(project, id, after.reviewers);
    }
    if (isChange(audit)) await store.updateQueue(sql, projectId, { ...after, id });
    const result = await parts.get(projectId, id);
    return { result, audit, forget: subjectOf("queues", projectId) };
  });
}

function toSettings(fields: QueueFields, before: QueueSettings | undefined): QueueSettings {
  const { name = before?.name ?? "", description = before?.description ?? "" } = fields;
  const { filters: given, enabled: isEnabled = before?.isEnabled ?? true } = fields;
  const reviewers = fields.reviewers_per_event ?? before?.reviewers ?? reviewersDefault;
  const claimSeconds = fields.claim_seconds ?? before?.claimSeconds ?? claimSecondsDefault;
  if (name !== before?.name) assertName("name", name, queueNameLengthMax);
  assertText("description", description, queueDescriptionLengthMax);
  assertCount("reviewers_per_event", reviewers, reviewersOfEventMax);
  assertCount("claim_seconds", claimSeconds, claimSecondsMax);
  const filters = given ? parseEventFilters(given) : (before?.filters ?? { filterArray: [] });
  return { name, description, filters, isEnabled, reviewers, claimSeconds };
}

function assertCount(field: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 1 || value > max) refuse(field, `must be 1 to ${max}`);
}

/** Returns a queue's state for the audit log. */
function stateOf(queue: QueueSettings): JsonObject {
  const { name, description, filters, isEnabled, reviewers, claimSeconds } = queue;
  return {
    name,
    description,
    filters: filters as unknown as JsonObject,
    enabled: isEnabled,
    reviewers_per_event: reviewers,
    claim_seconds: claimSeconds,
  };
}

export function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such queue, or the queue does not have the event");
}
