// Project data on Citus: where its tables are, and that each statement is routed to one shard.
// Runs where CITUS_URL is set (test/support/citus.sh).

import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { createQueueItems } from "../../src/evaluation/queues/items.ts";
import type { Clusters } from "../../src/postgres/clusters.ts";
import { createEventArchive } from "../../src/tracing/archive/archive.ts";
import type { TracingOfClusters } from "../../src/tracing/tracing.ts";
import { skipWhereMissing } from "../clients/environment.ts";
import { citusUrl } from "../support/citus.ts";
import { givenTestDatabase, openTestClusters } from "../support/database.ts";
import { explainAll } from "../support/explained.ts";
import { createTestProject } from "../support/project.ts";
import { aChunk, anEvaluator, aScore, givenScoring } from "../support/scored.ts";

type Scoring = ReturnType<typeof givenScoring>;

const testDatabase = givenTestDatabase();
let clusters: Clusters;
let tracing: TracingOfClusters;
let scores: Scoring["scores"];

function skipWithoutCitus(context: TestContext): void {
  const isMissing = citusUrl === undefined;
  skipWhereMissing(
    context,
    isMissing ? "CITUS_URL, the URL of a coordinator, is not set" : undefined,
  );
}

beforeAll(async () => {
  clusters = openTestClusters(testDatabase.database);
  ({ tracing, scores } = givenScoring(clusters, { mayHaveEnabled: () => true }));
});

afterAll(async () => {
  await tracing.drain();
  await clusters.close();
});

/** Numbers of executed queries by the shards they went to, those inside functions included. */
async function countQueries(): Promise<{ readonly single: number; readonly multi: number }> {
  const [row] = await testDatabase.database.sql()<{ single: number; multi: number }[]>`
    select query_execution_single_shard as single, query_execution_multi_shard as multi
    from citus_stat_counters
    where name = current_database()`;
  return row ?? { single: 0, multi: 0 };
}

const everything = {
  fromMs: [],
  toMs: [],
  projections: [],
  filters: [{ field: "metadata.cost", operator: "greater than", value: 0, type: "number" }],
};

/** What callers do with a project's data, by name. */
const works: Readonly<Record<string, (project: Place) => Promise<unknown>>> = {
  "new events, which are written again": async (project) => {
    const { events } = tracing.of(project);
    await events.createBatch(project.projectId, items());
    await events.createBatch(project.projectId, items());
    await events.update(project.projectId, "e0", { event_id: "e0", metadata: { cost: 2, new: 1 } });
    await events.update(project.projectId, "e1", { event_id: "e1", outputs: { a: 1 } });
    await events.enrich(project.projectId, "later", { event_id: "later", outputs: { a: 1 } });
    await events.create(project.projectId, { ...items()[0]?.input, event_id: "later" });
  },
  "sessions and exports": async (project) => {
    const { sessions, exports } = tracing.of(project);
    await sessions.get(project.projectId, "s0");
    await sessions.skeleton(project.projectId, "s0");
    await exports.getPage(project.projectId, everything, { limitMax: 100 });
    await exports.getSchema(project.projectId);
  },
  feedback: async (project) => {
    const { feedback } = tracing.of(project);
    const input = { generationId: "e0", task: "t", items: { good: true }, groundTruth: "a" };
    await feedback.create(project.projectId, input);
  },
  scores: async (project) => {
    const evaluator = anEvaluator(project.projectId);
    const chunk = aChunk(evaluator);
    const of = { ...chunk, backfillId: createUuid(), workflowId: "w" };
    const eventIds = ["e0", "e1"];
    await scores.openChunk(project, of, { eventIds, includeFailed: true, skipped: 0 });
    await scores.commitResults(project, chunk, [aScore("e0", 0.5, "half right")]);
    await scores.endChunk(project, chunk.chunkId, "requeue");
  },
  "annotation queues": async (project) => {
    const queues = createQueueItems({ clusters, tracingOf: (place) => tracing.of(place) });
    const queueId = createUuid();
    await queues.add(project, queueId, { eventIds: ["e0", "e1"], field: "event_ids" });
    await queues.list(project, queueId, { limit: 10 });
    await queues.count(project, queueId);
    await queues.remove(project, queueId, ["e1"]);
  },
  "deletion and archiving": async (project) => {
    await tracing.of(project).events.delete(project.projectId, "e2");
    const archive = createEventArchive((id) => clusters.database(id));
    expect(await archive.moveSome(project)).toBeGreaterThan(0);
    await archive.deleteSomeDerived(project);
  },
};

/** Moves the shard of a project's data to the other worker; returns its port. */
async function moveShard(projectId: string): Promise<number> {
  const sql = testDatabase.database.sql();
  const [row] = await sql<{ shardid: string; port: number }[]>`
    select placement.shardid::text as shardid, placement.nodeport as port
    from pg_dist_shard_placement as placement
    where placement.shardid = get_shard_id_for_distribution_column('events', ${projectId}::uuid)`;
  const [other] = await sql<{ nodename: string; nodeport: number }[]>`
    select nodename, nodeport
    from pg_dist_node
    where groupid <> 0 and nodeport <> ${row?.port ?? 0}`;
  const { nodename = "", nodeport = 0 } = other ?? {};
  await sql`
    select citus_move_shard_placement(
      ${row?.shardid ?? ""}::text::bigint, ${nodename}, ${row?.port ?? 0}, ${nodename}, ${nodeport},
      'force_logical')`;
  return nodeport;
}

type Place = { readonly projectId: Awaited<ReturnType<typeof createTestProject>> } & {
  readonly clusterId: string;
};

function items() {
  return Array.from({ length: 4 }, (_, index) => ({
    index,
    input: {
      event_id: `e${index}`,
      session_id: `s${index % 2}`,
      event_type: "model",
      inputs: { q: "a" },
      metadata: { cost: 1 },
      start_time: 1_700_000_000_000,
    },
  }));
}

describe("project data on Citus", () => {
  test("are in tables that are distributed by project, beside each other", async (context) => {
    skipWithoutCitus(context);

    const left = await testDatabase.database.sql()`
      select attrelid::regclass::text as name
      from pg_attribute
      join pg_class on pg_class.oid = attrelid and relkind in ('r', 'p') and not relispartition
      where attname = 'project_id' and relnamespace = 'public'::regnamespace
        and not exists (select from pg_dist_partition where logicalrelid = attrelid)
        and not exists (select from pg_constraint where conrelid = attrelid and contype = 'f')`;
    const groups = await testDatabase.database.sql()`
      select distinct colocation_id, distribution_column
      from citus_tables
      where citus_table_type = 'distributed'`;

    // Those of the control plane refer to others of it.
    expect(left).toEqual([]);
    expect(groups).toMatchObject([{ distribution_column: "project_id" }]);
  });

  test("lose nothing when their shard moves during writes", async (context) => {
    skipWithoutCitus(context);
    const { database } = testDatabase;
    const projectId = await createTestProject(database);
    const { events } = tracing.of({ clusterId: "default" });
    const stored: string[] = [];
    let isMoving = true;
    const write = async (writer: number): Promise<void> => {
      for (let count = 0; isMoving; count += 1) {
        const input = { event_type: "tool", inputs: {}, session_id: `s${count % 5}` };
        const event_id = `${writer}-${count}`;
        await events.create(projectId, { ...input, event_id, start_time: 1_700_000_000_000 });
        await events.update(projectId, event_id, { event_id, metadata: { updated: true } });
        stored.push(event_id);
      }
    };
    const writing = [1, 2, 3].map(write);

    const first = await moveShard(projectId);
    const second = await moveShard(projectId);
    isMoving = false;
    await Promise.all(writing);

    const held = await database.sql()<{ event_id: string }[]>`
      select event_id
      from events
      where project_id = ${projectId} and event_type = 'tool' and metadata ->> 'updated' = 'true'`;
    const [totals] = await database.sql()<{ count: number }[]>`
      select sum(num_events)::integer as count
      from session_totals
      where project_id = ${projectId}`;
    expect(first).not.toBe(second);
    expect(stored.length).toBeGreaterThan(20);
    expect(held.map(({ event_id: id }) => id).toSorted()).toEqual(stored.toSorted());
    expect(totals?.count).toBe(stored.length);
  });

  test("show in a plan that goes to every shard", async (context) => {
    skipWithoutCitus(context);
    const sent = new Map([["select count(*) from events", []]]);

    const [plan] = await explainAll(testDatabase.database.sql(), sent);

    expect(plan?.shards[0]).toBeGreaterThan(1);
  });

  test("are reached by statements that are routed to one shard", async (context) => {
    skipWithoutCitus(context);
    const { database } = testDatabase;
    const projectId = await createTestProject(database);
    const place = { projectId, clusterId: "default" };
    const before = await countQueries();
    const multi: Record<string, number> = {};

    for (const [name, work] of Object.entries(works)) {
      const at = await countQueries();
      await work(place);
      multi[name] = (await countQueries()).multi - at.multi;
    }

    expect(multi).toEqual(Object.fromEntries(Object.keys(works).map((name) => [name, 0])));
    expect((await countQueries()).single - before.single).toBeGreaterThan(100);
  });
});
