// Filters on columns of kinds that events have none of, but sessions and other lists have.

import { beforeAll, describe, expect, test } from "vitest";
import { type FilterInput, parseFilters } from "../../src/tracing/export/filter.ts";
import { conditionsSql } from "../../src/tracing/export/filter-sql.ts";
import { givenTestDatabase } from "../support/database.ts";
import { anEvent, aProjectId, insertEvents } from "../support/events.ts";

const noFields = { fields: [], isComplete: true };
const projectId = aProjectId();
const given = givenTestDatabase();

beforeAll(async () => {
  const events = [
    anEvent({ event_id: "failed", error: "e" }),
    anEvent({ event_id: "good", event_name: "Greeting", inputs: { question: "What do BEES do?" } }),
  ];
  await insertEvents(given.database, projectId, events);
});

async function idsWhere(filter: Omit<FilterInput, "field">): Promise<string[]> {
  const conditions = parseFilters([{ field: "has_error", ...filter }], noFields, {
    columns: { has_error: "boolean" },
  });
  const sql = given.database.sql();
  const columns = { has_error: (one: typeof sql) => one`(e.error is not null)` };
  const rows = await sql<{ event_id: string }[]>`
    select e.event_id
    from events as e
    where e.project_id = ${projectId} ${conditionsSql(sql, conditions, columns)}
    order by e.event_id`;
  return rows.map(({ event_id }) => event_id);
}

describe("a boolean column", () => {
  test.each([
    { operator: "is", value: true, want: ["failed"] },
    { operator: "is", value: "false", want: ["good"] },
    { operator: "is not", value: true, want: ["good"] },
    { operator: "exists", want: ["failed", "good"] },
    { operator: "is", value: null, want: [] },
  ])("$operator $value", async ({ want, ...filter }) => {
    expect(await idsWhere(filter)).toEqual(want);
  });

  test.each([
    { operator: "is", value: "yes" },
    { operator: "contains", value: "t" },
    { operator: "greater than", value: 0 },
  ])("refuses $operator $value", async (filter) => {
    await expect(idsWhere(filter)).rejects.toMatchObject({ reason: "INVALID_FILTER" });
  });
});

describe("any_text", () => {
  test.each([
    { name: "the name", text: "greet", want: ["good"] },
    { name: "the error", text: "E", want: ["failed", "good"] },
    { name: "the inputs, in any case", text: "bees do?", want: ["good"] },
    { name: "no event", text: "wasps", want: [] },
  ])("finds $name", async ({ text, want }) => {
    const filter = { field: "any_text", operator: "contains", value: text };
    const conditions = parseFilters([filter], noFields);
    const sql = given.database.sql();
    const rows = await sql<{ event_id: string }[]>`
      select e.event_id
      from events as e
      where e.project_id = ${projectId} ${conditionsSql(sql, conditions)}
      order by e.event_id`;
    expect(rows.map(({ event_id }) => event_id)).toEqual(want);
  });
});
