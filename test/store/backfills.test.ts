// Backfills against Postgres, step by step as their workflow asks: chunks, pauses, ends, and
// recovery when a workflow dies between two steps. The tests commit scores by hand.
// Source: docs/decisions.md, 24.6 and 24.7; docs/evaluators.md, "Backfills".

import { describe, expect, test, vi } from "vitest";
import type { ProjectScope } from "../../src/access/scope.ts";
import { watchBackfills } from "../../src/evaluation/backfills/backfill-watch.ts";
import type { NextChunk } from "../../src/evaluation/backfills/backfill-runs.ts";
import type { Backfill, BackfillRequest } from "../../src/evaluation/backfills/backfills.ts";
import { disableAfterFailures } from "../../src/evaluation/metrics/disable-after-failures.ts";
import type { DefinitionFields } from "../../src/evaluation/metrics/fields.ts";
import type { EvaluateChunkInput } from "../../src/outbox/entry.ts";
import { createFairPlaces } from "../../src/base/fair-places.ts";
import { createLogger } from "../../src/base/logger.ts";
import { givenStarted } from "../support/given.ts";
import { addBackfill, addMetric } from "../support/metrics.ts";
import { reasonOf } from "../support/reason.ts";
import { actor, startEvaluation, type TestEvaluation } from "../support/evaluation.ts";
import { patience } from "../support/patience.ts";
import { givenASibling } from "../support/project.ts";

const evaluation = givenStarted(() => startEvaluation({ chunkEventsMax: 3 }));

const all: BackfillRequest = { filters: [], fromMs: [], toMs: [], includeFailed: false };
const at = 1_760_000_000_000;

/** A project with events `e0`, `e1`, …, each a second after the one before, and a judge of them. */
async function given(
  count: number,
  fields: DefinitionFields = {},
  groundTruth = (n: number) => n < 0,
) {
  const project = await evaluation.aProject();
  await writeEvents(project, 0, count, groundTruth);
  const isModel = { field: "event_type", operator: "is", value: "model" };
  const id = await evaluation.aJudge(project, { filters: [isModel], ...fields });
  return { project, id };
}

async function writeEvents(
  { projectId, clusterId }: ProjectScope,
  from: number,
  to: number,
  hasGroundTruth = (n: number) => n < 0,
): Promise<void> {
  const items = Array.from({ length: to - from }, (_, index) => ({
    index,
    input: {
      event_id: `e${from + index}`,
      event_type: "model",
      source: "test",
      start_time: at + (from + index) * 1000,
      inputs: {},
      metadata: { n: from + index },
      ...(hasGroundTruth(from + index) && { feedback: { ground_truth: "Paris" } }),
    },
  }));
  await evaluation.tracingOf({ clusterId }).events.createBatch(projectId, items);
}

const create = (project: ProjectScope, id: string, request: Partial<BackfillRequest> = {}) =>
  evaluation.backfills.create(id, { ...all, ...request }, { project, actor });

/** The same with a backfill of the judge. */
async function givenBackfill(count: number) {
  const { project, id } = await given(count);
  return { project, id, backfill: await create(project, id) };
}

const runOf = ({ id, projectId, run }: Backfill) => ({ backfillId: id, projectId, run });

function chunkOf(next: NextChunk): EvaluateChunkInput {
  if (next.kind !== "chunk") throw new Error(`there is no chunk: it is ${next.kind}`);
  return next.chunk;
}

/** Commits a result for each event of a chunk, as its workflow would, and ends it. */
async function runChunk(
  project: ProjectScope,
  chunk: EvaluateChunkInput,
  { isFailure = (eventId: string): boolean => eventId === "" } = {},
): Promise<readonly string[]> {
  const { scores } = evaluation;
  const ids = await scores.runningOf(project, chunk.chunkId);
  const results = ids.map((eventId) => ({
    eventId,
    result: isFailure(eventId)
      ? ({ kind: "failure", reason: "NO_SCORE", message: "none", output: "" } as const)
      : ({ kind: "score", score: 5, explanation: undefined, output: "" } as const),
  }));
  await scores.commitResults(project, { ...chunk, name: chunk.evaluatorName }, results);
  await scores.endChunk(project, chunk.chunkId, "drop");
  return ids;
}

/** Runs a backfill to its end, and returns the ids of its chunks' events. */
async function runAll(project: ProjectScope, backfill: Backfill) {
  const ids: string[][] = [];
  for (;;) {
    const next = await evaluation.runs.nextChunk(runOf(backfill));
    if (next.kind === "again") continue;
    if (next.kind !== "chunk") return { ids, next };
    ids.push([...(await runChunk(project, next.chunk))]);
  }
}

const stateOf = async (project: ProjectScope, { evaluatorId, id }: Backfill) => {
  const { state, error } = await evaluation.backfills.get(project, { evaluatorId, backfillId: id });
  return { state, error };
};

const change = (project: ProjectScope, backfill: Backfill, action: "pause" | "resume" | "cancel") =>
  evaluation.backfills.change(
    project,
    { evaluatorId: backfill.evaluatorId, backfillId: backfill.id },
    action,
    actor,
  );

async function workflowsOf(backfill: Backfill): Promise<readonly string[]> {
  const rows = await evaluation.database.sql()<{ workflowId: string }[]>`
    select workflow_id as "workflowId"
    from outbox
    where input ->> 'backfillId' = ${backfill.id}
    order by outbox_id`;
  return rows.map(({ workflowId }) => workflowId);
}

const countScores = async ({ projectId }: ProjectScope, state: string) => {
  const [row] = await evaluation.database.sql()<{ count: number }[]>`
    select count(*)::integer as count from scores
    where project_id = ${projectId} and state = ${state}`;
  return row?.count;
};

describe("a backfill", () => {
  test("takes every event once, the newest first, in chunks", async () => {
    const { project, id } = await given(7);

    const backfill = await create(project, id);
    const { ids, next } = await runAll(project, backfill);

    expect(backfill).toMatchObject({ state: "running", version: 1, progress: { matched: 7 } });
    expect(ids).toEqual([["e4", "e5", "e6"], ["e1", "e2", "e3"], ["e0"]]);
    expect(next).toMatchObject({ kind: "completed", progress: { matched: 7, done: 7, scored: 7 } });
    expect(await stateOf(project, backfill)).toEqual({ state: "completed", error: null });
    expect(await countScores(project, "scored")).toBe(7);
  });

  test("keeps to the filters of metric and request, and to the dates", async () => {
    const { project, id } = await given(6);
    const notTwo = { field: "metadata.n", operator: "is not", value: 2 };

    const backfill = await create(project, id, {
      filters: [notTwo],
      fromMs: [at + 1000],
      toMs: [at + 4000],
    });
    const { ids } = await runAll(project, backfill);

    expect(backfill.progress.matched).toBe(3);
    expect(ids).toEqual([["e1", "e3", "e4"]]);
  });

  test("skips what the version has scored, and failed events unless asked for", async () => {
    const { project, id } = await given(3);
    const first = await create(project, id);
    const chunk = chunkOf(await evaluation.runs.nextChunk(runOf(first)));
    await runChunk(project, chunk, { isFailure: (eventId) => eventId === "e1" });
    await runAll(project, first);
    await writeEvents(project, 3, 4);

    const again = await runAll(project, await create(project, id));
    const failed = await runAll(project, await create(project, id, { includeFailed: true }));

    expect(again.ids).toEqual([["e3"]]);
    expect(again.next.progress).toMatchObject({ done: 4, scored: 1, skipped: 3 });
    expect(failed.ids).toEqual([["e1"]]);
    expect(await countScores(project, "failed")).toBe(0);
  });

  test("leaves out events without the ground truth that the version reads", async () => {
    const prompt = "Is {{ outputs.content }} like {{ feedback.ground_truth }}? [[5]]";
    const { project, id } = await given(6, { prompt }, (n) => n % 2 === 0);

    const { ids, next } = await runAll(project, await create(project, id));

    expect(ids.flat().toSorted()).toEqual(["e0", "e2", "e4"]);
    expect(next.progress).toMatchObject({ done: 6, scored: 3, skipped: 3 });
  });

  test("ends, though events are written all the while", async () => {
    const { project, backfill } = await givenBackfill(2);

    const first = chunkOf(await evaluation.runs.nextChunk(runOf(backfill)));
    await writeEvents(project, 2, 4);
    await runChunk(project, first);

    expect((await evaluation.runs.nextChunk(runOf(backfill))).kind).toBe("completed");
  });

  test("whose chunk died in the middle hands it out again; what is done stays done", async () => {
    const { project, backfill } = await givenBackfill(3);
    const run = runOf(backfill);

    const first = chunkOf(await evaluation.runs.nextChunk(run));
    const result = { kind: "score", score: 1, explanation: undefined, output: "" } as const;
    const key = { ...first, name: first.evaluatorName };
    await evaluation.scores.commitResults(project, key, [{ eventId: "e2", result }]);
    const second = chunkOf(await evaluation.runs.nextChunk(run));

    expect(second).toEqual(first);
    expect(await runChunk(project, second)).toEqual(["e0", "e1"]);
    const end = await evaluation.runs.nextChunk(run);
    expect(end).toMatchObject({ kind: "completed", progress: { done: 3, scored: 3 } });
  });

  test("that died before it had moved on takes no event twice and leaves none out", async () => {
    const { project, backfill } = await givenBackfill(7);
    const first = chunkOf(await evaluation.runs.nextChunk(runOf(backfill)));
    // As if the process had ended between the two databases.
    await evaluation.database.sql()`
      update evaluator_backfills set after_us = null, after_event_id = null
      where backfill_id = ${backfill.id}`;

    const chunk = chunkOf(await evaluation.runs.nextChunk(runOf(backfill)));
    await runChunk(project, chunk);
    const { ids, next } = await runAll(project, backfill);

    expect(chunk).toEqual(first);
    expect(ids).toEqual([["e1", "e2", "e3"], ["e0"]]);
    expect(next.progress).toMatchObject({ done: 7, scored: 7, skipped: 0 });
  });

  test("is refused while another has not ended, and for people's metrics", async () => {
    const { project, id } = await given(1);
    const people = await evaluation.aJudge(project, { type: "HUMAN" });
    const first = await create(project, id);

    const got = await Promise.all([
      reasonOf(create(project, id)),
      reasonOf(create(project, people)),
      reasonOf(create(await evaluation.aProject(), id)),
    ]);
    await runAll(project, first);

    expect(got.map((reason) => reason.split(" ")[0])).toEqual([
      "BACKFILL_RUNNING",
      "INVALID_ARGUMENT",
      "NOT_FOUND",
    ]);
    expect((await create(project, id)).state).toBe("running");
  });
});

describe("backfills of an organization", () => {
  test("are sixteen in all of its projects; those that are paused do not count", async () => {
    const { project, backfill } = await givenBackfill(1);
    await change(project, backfill, "pause");
    await evaluation.runs.nextChunk(runOf(backfill));
    for (let count = 0; count < 16; count += 1) {
      const sibling = await givenASibling(evaluation.database, project);
      const metricId = await addMetric(evaluation.database, sibling);
      await addBackfill(evaluation.database, sibling, metricId);
    }
    const other = await evaluation.aJudge(project);

    const refusal = /^BACKFILL_RUNNING 16 backfills of the organization run/;
    expect(await reasonOf(create(project, other))).toMatch(refusal);
    expect(await reasonOf(change(project, backfill, "resume"))).toMatch(refusal);
    expect(await stateOf(project, backfill)).toMatchObject({ state: "paused" });
    const elsewhere = await given(1);
    expect(await create(elsewhere.project, elsewhere.id)).toMatchObject({ state: "running" });
  });

  test("have filters of a bounded length", async () => {
    const { project, id } = await given(1);
    const filters = [{ field: "event_name", operator: "is", value: "x".repeat(20_000) }];

    expect(await reasonOf(create(project, id, { filters }))).toBe(
      "INVALID_ARGUMENT filters: must be at most 20000 bytes long",
    );
  });
});

describe("pausing a backfill", () => {
  test("stops it after its events, and resuming goes on in the middle of the chunk", async () => {
    const { project, backfill } = await givenBackfill(4);
    const first = chunkOf(await evaluation.runs.nextChunk(runOf(backfill)));

    const pausing = await change(project, backfill, "pause");
    expect(await evaluation.runs.isRunning(runOf(backfill))).toBe(false);
    const paused = await evaluation.runs.nextChunk(runOf(backfill));
    const resumed = await change(project, backfill, "resume");
    const again = chunkOf(await evaluation.runs.nextChunk(runOf(resumed)));

    expect([pausing.state, paused.kind, resumed.state]).toEqual(["pausing", "paused", "running"]);
    expect(again).toEqual(first);
    expect(await workflowsOf(backfill)).toEqual([backfill.workflowId, resumed.workflowId]);
    expect(resumed.workflowId).toBe(backfill.workflowId.replace(/1$/, "2"));
  });

  test("and resuming before it has stopped lets it go on, without another workflow", async () => {
    const { project, backfill } = await givenBackfill(1);

    await change(project, backfill, "pause");
    const resumed = await change(project, backfill, "resume");

    expect(resumed).toMatchObject({ state: "running", run: 1 });
    expect((await evaluation.runs.nextChunk(runOf(backfill))).kind).toBe("chunk");
  });

  test("leaves the workflow of an earlier run nothing to do", async () => {
    const { project, backfill } = await givenBackfill(4);
    await change(project, backfill, "pause");
    await evaluation.runs.nextChunk(runOf(backfill));
    await change(project, backfill, "resume");

    const late = await evaluation.runs.nextChunk(runOf(backfill));
    await evaluation.runs.finish(runOf(backfill), { state: "cancelled" });

    expect(late.kind).toBe("superseded");
    expect((await stateOf(project, backfill)).state).toBe("running");
  });
});

describe("cancelling a backfill", () => {
  test("keeps its scores and lets go of what it had not come to", async () => {
    const { project, id, backfill } = await givenBackfill(5);
    await runChunk(project, chunkOf(await evaluation.runs.nextChunk(runOf(backfill))));
    await evaluation.runs.nextChunk(runOf(backfill));

    const cancelling = await change(project, backfill, "cancel");
    const next = await evaluation.runs.nextChunk(runOf(backfill));

    expect(cancelling.state).toBe("cancelling");
    expect(next).toMatchObject({ kind: "cancelled", progress: { scored: 3 } });
    expect([await countScores(project, "scored"), await countScores(project, "running")]).toEqual([
      3, 0,
    ]);
    const { ids } = await runAll(project, await create(project, id));
    expect(ids.flat().toSorted()).toEqual(["e0", "e1"]);
  });

  test("that is paused takes a workflow, which lets go of it", async () => {
    const { project, backfill } = await givenBackfill(2);
    await evaluation.runs.nextChunk(runOf(backfill));
    await change(project, backfill, "pause");
    await evaluation.runs.nextChunk(runOf(backfill));

    const cancelling = await change(project, backfill, "cancel");
    const next = await evaluation.runs.nextChunk(runOf(cancelling));

    expect(cancelling).toMatchObject({ state: "cancelling", run: 2 });
    expect(next.kind).toBe("cancelled");
    expect(await countScores(project, "running")).toBe(0);
  });

  test.each([{ isPaused: false }, { isPaused: true }])(
    "of a deleted metric happens with the deletion (paused: $isPaused)",
    async ({ isPaused }) => {
      const { project, id, backfill } = await givenBackfill(2);
      await evaluation.runs.nextChunk(runOf(backfill));
      if (isPaused) {
        await change(project, backfill, "pause");
        await evaluation.runs.nextChunk(runOf(backfill));
      }

      await evaluation.metrics.delete({ project, id, actor });
      const run = isPaused ? 2 : 1;
      const next = await evaluation.runs.nextChunk({ ...runOf(backfill), run });

      expect(next.kind).toBe("cancelled");
      expect(await workflowsOf(backfill)).toHaveLength(run);
      expect(await countScores(project, "running")).toBe(0);
    },
  );

  test.each(["pause", "resume", "cancel"] as const)(
    "or to %s it is refused once it has completed",
    async (action) => {
      const { project, backfill } = await givenBackfill(1);
      await runAll(project, backfill);

      expect(await reasonOf(change(project, backfill, action))).toMatch(/^BACKFILL_ENDED /);
    },
  );
});

describe("a backfill whose metric the service disabled", () => {
  test("fails, and says why", async () => {
    const { project, id, backfill } = await givenBackfill(2);

    const error = "disabled after 10 failures in a row: EXCEPTION: what an event says";
    await evaluation.runs.failOpenOf(project.projectId, id, error);
    const next = await evaluation.runs.nextChunk(runOf(backfill));

    const path = { evaluatorId: id, backfillId: backfill.id };
    expect(await evaluation.backfills.get(project, path)).toMatchObject({ error });
    // Temporal keeps what the workflow is told.
    expect(next).toMatchObject({ kind: "failed" });
    expect(JSON.stringify(next)).not.toContain("what an event says");
  });

  test("is not one that began after the failures", async () => {
    const { project, id } = await given(1);
    const { enablement } = await evaluation.metrics.get(project.projectId, id);
    const backfill = await create(project, id);

    const parts = { metrics: evaluation.metrics, backfills: evaluation.runs, failuresMax: 10 };
    const chunk = { projectId: project.projectId, evaluatorId: id, enablement };
    const got = await disableAfterFailures(parts, chunk, { failuresInRow: 10 });

    expect(got).toBeUndefined();
    expect(await stateOf(project, backfill)).toEqual({ state: "running", error: null });
  });

  test("counts failures afresh when it is started again", async () => {
    const { project, id } = await given(1);
    const before = await evaluation.metrics.get(project.projectId, id);

    await runAll(project, await create(project, id));

    const after = await evaluation.metrics.get(project.projectId, id);
    expect(after.enablement).toBe(before.enablement + 1);
  });
});

describe("the watch over backfills", () => {
  const watch = (
    workflow: "running" | "completed" | "failed" | "absent",
    options: { readonly stillMs?: number } = { stillMs: 0 },
  ) =>
    watchBackfills({
      ...evaluation,
      client: { getState: () => Promise.resolve(workflow) },
      logger: createLogger("silent"),
      ...options,
    });

  test.each([
    { workflow: "running", state: "running", run: 1 },
    { workflow: "failed", state: "failed", run: 1 },
    { workflow: "absent", state: "running", run: 2 },
  ] as const)("makes $state of one whose workflow is $workflow", async ({ workflow, ...want }) => {
    const { project, id, backfill } = await givenBackfill(2);
    await evaluation.runs.nextChunk(runOf(backfill));

    await watch(workflow);

    const path = { evaluatorId: id, backfillId: backfill.id };
    expect(await evaluation.backfills.get(project, path)).toMatchObject(want);
    expect(await countScores(project, "running")).toBe(want.state === "failed" ? 0 : 2);
  });

  test("looks after one that has not moved for a minute", async () => {
    const { project, backfill } = await givenBackfill(1);
    await evaluation.database.sql()`
      update evaluator_backfills set moved_at = now() - interval '1 minute'
      where project_id = ${project.projectId} and backfill_id = ${backfill.id}`;

    await watch("failed", {});

    expect((await stateOf(project, backfill)).state).toBe("failed");
  });

  test.each([
    { action: "pause", state: "paused" },
    { action: "cancel", state: "cancelled" },
  ] as const)("does what was asked for where the workflow cannot: $action", async (row) => {
    const { project, backfill } = await givenBackfill(2);
    await change(project, backfill, row.action);

    await watch("failed");

    expect((await stateOf(project, backfill)).state).toBe(row.state);
  });

  test("leaves alone what is paused", async () => {
    const { project, backfill } = await givenBackfill(2);
    await change(project, backfill, "pause");
    await evaluation.runs.nextChunk(runOf(backfill));

    await watch("failed");

    expect((await stateOf(project, backfill)).state).toBe("paused");
  });
});

/** A way to events on which searches of one project wait until `go` is called. */
function givenSlowSearches(slow: ProjectScope) {
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  let begun = 0;
  const tracingOf: TestEvaluation["tracingOf"] = (project) => {
    const tracing = evaluation.tracingOf(project);
    const page: typeof tracing.selection.page = async (projectId, ...search) => {
      if (projectId === slow.projectId) {
        begun += 1;
        await gone;
      }
      return tracing.selection.page(projectId, ...search);
    };
    return { ...tracing, selection: { ...tracing.selection, page } };
  };
  return { tracingOf, go, begun: () => begun };
}

describe("backfills that look for events", () => {
  test("do so one at a time in an organization, and leave the others their turn", async () => {
    const { project, id } = await given(3);
    const second = await create(project, await evaluation.aJudge(project));
    const first = await create(project, id);
    const others = await given(3);
    const other = await create(others.project, others.id);
    const { tracingOf, go, begun } = givenSlowSearches(project);
    const runs = evaluation.runsWith(tracingOf);

    const slow = [runs.nextChunk(runOf(first)), runs.nextChunk(runOf(second))];
    await vi.waitUntil(() => begun() > 0, patience);
    const next = await runs.nextChunk(runOf(other));

    expect(chunkOf(next).events).toBe(3);
    expect(begun()).toBe(1);
    go();
    const chunks = (await Promise.all(slow)).map(chunkOf);
    expect(chunks.map(({ events }) => events)).toEqual([3, 3]);
  });

  test("step aside where there is no turn for long", async () => {
    const { project, backfill } = await givenBackfill(3);
    const places = createFairPlaces({
      max: 1,
      orgMax: 1,
      projectMax: 1,
      waitMs: 1,
      waitersMax: 1,
      refusal: "none",
    });
    const leave = await places.enter(project);
    const runs = evaluation.runsWith(evaluation.tracingOf, places);

    const aside = await runs.nextChunk(runOf(backfill));
    leave();
    const next = await runs.nextChunk(runOf(backfill));

    expect(aside).toMatchObject({ kind: "again", pauseMs: expect.any(Number) as number });
    expect(chunkOf(next).events).toBe(3);
  });
});
