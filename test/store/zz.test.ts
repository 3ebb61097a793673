import { test } from "vitest";
import { createTestDatabase } from "../support/database.ts";
import { createExports } from "../../src/tracing/export/export.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { anEvent, aProjectId, insertEvents } from "../support/events.ts";
test("x", async () => {
  const t = await createTestDatabase();
  const p = aProjectId();
  await insertEvents(t.database, p, [anEvent({ duration: null })]);
  const fields = createFieldCatalogue({ database: t.database });
  const exports = createExports({ database: t.database, fields });
  const q = (f: any) => exports.getPage(p, { filters: [f], fromMs: [], toMs: [], projections: [] }, { limitMax: 100 });
  for (const op of ["is", "less than", "greater than"]) for (const value of [0, 5, 0.1, -2.5, 1e21, 1709164800000, 1709164800000.5])
  console.log(op, value, (await q({ field: "duration", operator: op, value, type: "number" })).events.length);
  await t.drop();
});
