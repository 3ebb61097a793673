// `waggle prices recost`: its output, its changes, and the confirmation that it asks for.

import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { priceTableName } from "../../src/generation/prices/price-table.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { CostEstimate } from "../../src/tracing/events/event.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { anEvent, insertEvents } from "../support/events.ts";
import { run } from "../support/process.ts";
import { givenAProject } from "../support/project.ts";

const timeoutMs = 300_000;
const span = ["--from", "2026-05-01", "--to", "2026-06-01T00:00Z"];
const older: CostEstimate = { cost: 1, price_table: "older table" };
const newer = { cost: 0.0035, price_table: priceTableName };

let control: TestDatabase;
let project: LocalProject;

async function givenADatabase(): Promise<TestDatabase> {
  const own = await createTestDatabase();
  onTestFinished(() => own.drop());
  return own;
}

beforeEach(async () => {
  control = await givenADatabase();
  project = await givenAProject(control.database);
});

async function givenCalls(database: Database, ...models: readonly string[]): Promise<void> {
  const calls = models.map((model) =>
    anEvent({
      event_type: "model",
      config: { model, provider: "openai" },
      metadata: { prompt_tokens: 1_000, completion_tokens: 100, cost: 5 },
      start_time: Date.UTC(2026, 4, 31),
      cost_estimate: older,
    }),
  );
  await insertEvents(database, project.projectId, calls);
}

async function estimatesIn(database: Database): Promise<readonly unknown[]> {
  const rows = await database.sql()<{ estimate: unknown; cost: number }[]>`
    select cost_estimate as estimate, (metadata -> 'cost')::integer as cost
    from events
    where project_id = ${project.projectId}
    order by config ->> 'model'`;
  expect(rows.map(({ cost }) => cost)).toEqual(rows.map(() => 5));
  return rows.map(({ estimate }) => estimate);
}

function recost(...words: readonly string[]) {
  return run("prices", "recost", "--database-url", control.url, ...words).ended();
}

describe("waggle prices recost", { timeout: timeoutMs }, () => {
  test("reports what would change, and changes it when told to", async () => {
    await givenCalls(control.database, "gpt-4o", "mine \u001b[31m");

    const dry = await recost("--project", "demo", ...span);
    const untouched = await estimatesIn(control.database);
    const applied = await recost("--project", project.projectId, ...span, "--apply");

    expect(dry.code).toBe(0);
    expect(dry.output.split("\n").map((line) => line.trimEnd())).toEqual([
      "MODEL              EVENTS  BEFORE     AFTER      CHANGED  UNKNOWN",
      "openai/gpt-4o      1       $1.000000  $0.003500  1        0",
      "openai/mine �[31m  1       $1.000000  unknown    1        1",
      "total              2       $2.000000  $0.003500  2        1",
      "",
      "price not known:",
      "  1 × the table has no price of mine �[31m of openai",
      "",
      `price table: ${priceTableName}`,
      "2 of 2 estimates would be changed; nothing was, without --apply",
      "",
    ]);
    expect(untouched).toEqual([older, older]);
    expect(applied.code).toBe(0);
    expect(applied.output).toContain("2 of 2 estimates were changed; metadata.cost is as");
    expect(await estimatesIn(control.database)).toEqual([
      newer,
      expect.objectContaining({ cost: null }),
    ]);
  });

  test("takes the operator's prices before the table's", async () => {
    await givenCalls(control.database, "gpt-4o", "mine");
    const prices = ["--prices", '{"mine": {"input_mtok": 1, "output_mtok": 2}}'];

    const applied = await recost("--project", "demo", ...span, "--apply", ...prices);

    expect(applied.code).toBe(0);
    const table = expect.stringMatching(/^genai-prices .+, own [0-9a-f]{8}$/) as string;
    expect(await estimatesIn(control.database)).toEqual([
      { cost: 0.0035, price_table: table },
      { cost: 0.0012, price_table: table },
    ]);
  });

  test("takes the prices of the project before the operator's", async () => {
    await givenCalls(control.database, "gpt-4o", "mine");
    const rates = { input_mtok: 3, output_mtok: 0 };
    const sql = control.database.sql();
    await sql`
      insert into model_prices (price_id, project_id, name, rates, updated_by)
      values (gen_random_uuid(), ${project.projectId}, 'mine', ${sql.json(rates)}, 'test')`;
    const flat = { input_mtok: 1, output_mtok: 0 };
    const prices = ["--prices", JSON.stringify({ Mine: flat, "gpt-4o": flat })];

    const applied = await recost("--project", "demo", ...span, "--apply", ...prices);

    expect(applied.code).toBe(0);
    expect(await estimatesIn(control.database)).toMatchObject([{ cost: 0.001 }, { cost: 0.003 }]);
  });

  test("works on the cluster of the project, and nowhere else", async () => {
    const cluster = await givenADatabase();
    const clusters = ["--clusters", JSON.stringify({ eu: cluster.url })];
    await control.database.sql()`
      update dataplanes set cluster_id = 'eu' where org_id = ${project.orgId}`;
    await givenCalls(control.database, "gpt-4o");
    await givenCalls(cluster.database, "gpt-4o");

    const nowhere = await recost("--project", "demo", ...span, "--apply");
    const there = await recost("--project", "demo", ...span, "--apply", ...clusters);

    expect(nowhere).toEqual({
      code: 1,
      output:
        "waggle: the project's events are in cluster eu, which is not configured; " +
        "give --clusters\n",
    });
    expect(there.code).toBe(0);
    expect(await estimatesIn(cluster.database)).toEqual([newer]);
    expect(await estimatesIn(control.database)).toEqual([older]);
  });

  test("says what is wrong with its flags", async () => {
    const other = await givenAProject(control.database, "twice");
    await givenAProject(control.database, "twice");
    const outputs = await Promise.all(
      [
        ["--project", "demo", "--to", "2026-06-01"],
        ["--project", "demo", "--from", "yesterday", "--to", "2026-06-01"],
        ["--project", "demo", "--from", "2026-06-01", "--to", "2026-06-01"],
        span,
        ["--project", "nobody", ...span],
        ["--project", "twice", ...span],
        ["--project", other.projectId, ...span],
      ].map(async (words) => (await recost(...words)).output.split("\n")[0]),
    );

    expect(outputs).toEqual([
      "waggle: --from must be a time",
      "waggle: --from must be a time",
      "waggle: --from must be before --to",
      "waggle: --project is required",
      "waggle: no active project nobody; name one with --project",
      "waggle: several projects are named twice; name one by its id",
      "MODEL  EVENTS  BEFORE   AFTER    CHANGED  UNKNOWN",
    ]);
  });
});
