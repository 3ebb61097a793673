// The plan that Postgres makes for the summaries of a chart, whatever it knows about the events.

import { expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { Read } from "../../src/postgres/database.ts";
import { listSummaries } from "../../src/tracing/charts/summaries/store.ts";
import { givenTestDatabase } from "../support/database.ts";

const testDatabase = givenTestDatabase();

type Statement = Parameters<Read>[0];

const hourUs = 3_600_000_000;

/** Returns the plan, with what ran, of a statement that reads hours; no index leads to them. */
async function explain(hours: readonly number[]): Promise<string> {
  const stretches = hours.map((hour) => ({
    bucket: hour,
    fromUs: hour * hourUs,
    toUs: (hour + 1) * hourUs,
    hour,
    isWhole: true,
    version: null,
  }));
  const sources = [{ source: { kind: "duration" } as const, keeps: ["sum"] as const }];
  const plan = { key: "", split: undefined, sources, sourceOf: [0] };
  const query = { projectId: createUuid(), conditions: [], fromUs: 0, toUs: 168 * hourUs };
  const lines: string[] = [];
  const read = async (statement: Statement) => {
    await testDatabase.database.transaction(async (sql) => {
      await sql`set local enable_indexscan = off`;
      await sql`set local enable_indexonlyscan = off`;
      await sql`set local enable_bitmapscan = off`;
      const rows = await sql<{ "QUERY PLAN": string }[]>`
        explain (analyze, timing off) ${statement(sql) as never}`;
      lines.push(...rows.map((row) => row["QUERY PLAN"]));
    });
    return [];
  };
  await listSummaries(read as Read, query, { plan, stretches, cellsMax: 1_000 });
  return lines.join("\n");
}

/** Returns how often the events of the project were scanned. */
function scansOf(plan: string): number {
  return Number(/ on events_\d.* loops=(\d+)/.exec(plan)?.[1]);
}

test("each run of hours reads its own events: none is compared with other runs", async () => {
  const plan = await explain([1, 2, 5]);

  expect(scansOf(plan)).toBe(2);
  expect(plan).not.toMatch(/Join Filter: .*start_time_us/);
});

test("hours without a gap are one scan, since an index of metadata knows no time", async () => {
  const week = Array.from({ length: 168 }, (_, hour) => hour);

  expect(scansOf(await explain(week))).toBe(1);
  expect(scansOf(await explain([...week, 200, 201, 300]))).toBe(3);
});
