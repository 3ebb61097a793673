// The services of evaluation on a test's database, without a runner of evaluators: tests commit a
// runner's results by hand.

import type { Actor } from "../../src/base/actor.ts";
import { createAudit } from "../../src/access/audit/audit.ts";
import { createAccessChanges } from "../../src/access/changes/changes.ts";
import { isProject, type ProjectScope } from "../../src/access/scope.ts";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { createScopes } from "../../src/controlplane/scopes/scopes.ts";
import {
  createBackfillRuns,
  createSearchTurns,
} from "../../src/evaluation/backfills/backfill-runs.ts";
import { type Backfills, createBackfills } from "../../src/evaluation/backfills/backfills.ts";
import type { DefinitionFields } from "../../src/evaluation/metrics/fields.ts";
import { createMetrics } from "../../src/evaluation/metrics/metrics.ts";
import type { RunResult } from "../../src/evaluation/runner/runner.ts";
import { createScores } from "../../src/evaluation/scores/scores.ts";
import { createOutbox } from "../../src/outbox/outbox.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createTracing, type TracingOf } from "../../src/tracing/tracing.ts";
import { createTestDatabase, openTestClusters } from "./database.ts";
import { givenAProject } from "./project.ts";

export const actor: Actor = { type: "user", id: createUuid(), name: "ada@example.com" };

export type TestEvaluation = Awaited<ReturnType<typeof startEvaluation>>;

/** Starts the services on a separate database; chunks have at most `chunkEventsMax` events. */
export async function startEvaluation({ chunkEventsMax = 3 } = {}) {
  const testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  const evaluation = composeEvaluation(database, { chunkEventsMax });
  return {
    ...evaluation,
    async stop(): Promise<void> {
      await evaluation.stop();
      await testDatabase.drop();
    },
  };
}

/** Composes the services on a database, which may be that of a whole service. */
export function composeEvaluation(database: Database, { chunkEventsMax = 1_000 } = {}) {
  const clusters = openTestClusters(database);
  const scopes = createScopes(database);
  const tracing = createTracing({ clusters });
  const parts = {
    database,
    scopes,
    clusters,
    tracingOf: tracing.of,
    audit: createAudit(database),
    changes: createAccessChanges({ database }),
    outbox: createOutbox(database),
    scores: createScores({ clusters, tracingOf: tracing.of, failuresMax: 10 }),
  };
  // Metrics and backfills end each other's work; the service's composition has the same cycle.
  const knot: { backfills?: Backfills } = {};
  const metrics = createMetrics({
    ...parts,
    // Only judges: no code is parsed.
    sandbox: { inspect: () => Promise.reject(new Error("no code in this test")) },
    codeBytesMax: 100_000,
    cancelBackfills: async (...of) => knot.backfills?.cancelOpenOf(...of),
  });
  const backfills = createBackfills({ ...parts, metrics });
  knot.backfills = backfills;
  return {
    ...parts,
    metrics,
    backfills,
    runs: createBackfillRuns({ ...parts, metrics, chunkEventsMax }),
    /** Returns runs of backfills with other access to events, or other places. */
    runsWith: (tracingOf: TracingOf, places = createSearchTurns()) =>
      createBackfillRuns({ ...parts, metrics, chunkEventsMax, tracingOf, places }),
    async aProject(): Promise<ProjectScope> {
      const { projectId } = await givenAProject(database);
      const scope = await scopes.find("project", projectId);
      if (!isProject(scope)) throw new Error("a project was made and is not there");
      return scope;
    },
    /** Makes a judge and returns its id. */
    async aJudge(project: ProjectScope, fields: DefinitionFields = {}): Promise<string> {
      const model = { model_provider: "openai", model_name: "gpt-4o-mini" };
      const judge = { type: "LLM", ...(fields.type !== "HUMAN" && model) };
      const asked = { name: `judge ${createUuid()}`, prompt: "Rate it: [[5]]", ...judge };
      return (await metrics.create(project, { ...asked, ...fields }, actor)).id;
    },
    async stop(): Promise<void> {
      await tracing.drain();
      await clusters.close();
    },
  };
}

type Parts = Pick<ReturnType<typeof composeEvaluation>, "metrics" | "scores">;

export type EventsOfChunk = {
  readonly metricId: string;
  readonly eventIds: readonly string[];
  readonly includeFailed: boolean;
};

/** Opens a chunk of events for the metric's deployed version, as a backfill would. */
export async function openChunk(
  { metrics, scores }: Parts,
  projectId: ProjectId,
  { metricId, eventIds, includeFailed }: EventsOfChunk,
) {
  const project = { projectId, clusterId: "default" };
  const evaluator = await metrics.find(projectId, metricId);
  if (!evaluator) throw new Error("a metric was made and is not there");
  const { version, enablement, definition } = evaluator;
  const chunk = {
    chunkId: createUuid(),
    evaluatorId: metricId,
    version,
    enablement,
    name: definition.name,
    backfillId: createUuid(),
    workflowId: `evaluate-${createUuid()}`,
  };
  await scores.openChunk(project, chunk, { eventIds, includeFailed, skipped: 0 });
  return { project, chunk };
}

/**
 * Runs an evaluator on an event as a worker would, and commits the result; without one the event
 * stays in a running chunk. Returns the id of the workflow.
 */
export async function runOnEvent(
  evaluation: Parts,
  projectId: ProjectId,
  { metricId, eventId, result }: RunOfEvent,
): Promise<string> {
  const events = { metricId, eventIds: [eventId], includeFailed: true };
  const { project, chunk } = await openChunk(evaluation, projectId, events);
  if (result) {
    await evaluation.scores.commitResults(project, chunk, [{ eventId, result }]);
    await evaluation.scores.endChunk(project, chunk.chunkId, "drop");
  }
  return chunk.workflowId;
}

export type RunOfEvent = {
  readonly metricId: string;
  readonly eventId: string;
  readonly result?: RunResult | undefined;
};
