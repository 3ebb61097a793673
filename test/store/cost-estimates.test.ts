// Estimates of cost on stored events: made at every write, kept when the event is moved, and made
// anew by recost. Source: docs/decisions.md, 18.2.

import { describe, expect, test } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createEstimateCost } from "../../src/generation/prices/event-usage.ts";
import { priceTableName } from "../../src/generation/prices/price-table.ts";
import { createPrices } from "../../src/generation/prices/prices.ts";
import { recost } from "../../src/generation/prices/recost.ts";
import { createEventArchive } from "../../src/tracing/archive/archive.ts";
import type { CostEstimate, EstimateCost, EventWrite } from "../../src/tracing/events/event.ts";
import { createRecorder } from "../../src/tracing/events/record.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { createTestProject } from "../support/project.ts";
import { givenARecorder } from "../support/recorder.ts";

const estimateCost = createEstimateCost(createPrices());
const atMs = Date.UTC(2026, 5, 1);
const span = { fromUs: atMs * 1000, toUs: (atMs + 1_000_000) * 1000 };

const pricingOf = async () => ({ estimateCost, priceTable: priceTableName });

const { database, recorder, events, sessions } = await givenARecorder({ pricingOf });

function aCall(fields: Partial<EventWrite> = {}): EventWrite {
  return {
    event_id: createUuid(),
    session_id: createUuid(),
    event_type: "model",
    config: { model: "gpt-4o", provider: "openai" },
    inputs: {},
    metadata: { prompt_tokens: 1_000, completion_tokens: 100 },
    start_time: atMs,
    ...fields,
  };
}

const known = { cost: 0.0035, price_table: priceTableName };

async function estimateOf(projectId: ProjectId, eventId: string) {
  return (await events.get(projectId, eventId)).cost_estimate;
}

describe("an event's estimate", () => {
  test("is stored beside what its sender says it cost, and is in no sum", async () => {
    const projectId = await createTestProject(database);
    const call = aCall({ metadata: { prompt_tokens: 1_000, completion_tokens: 100, cost: 7 } });
    const other = aCall({ session_id: call.session_id ?? "" });
    await recorder.record(projectId, [call, other]);

    const stored = await events.get(projectId, call.event_id);
    const { totals } = await sessions.get(projectId, call.session_id ?? "");

    expect(stored.cost_estimate).toEqual(known);
    expect(stored.metadata["cost"]).toBe(7);
    expect(totals).toMatchObject({ cost: 7, num_costs: 1 });
  });

  test("is null on events that have none", async () => {
    const projectId = await createTestProject(database);
    const tool = aCall({ event_type: "tool" });
    const uncounted = aCall({ metadata: {} });
    await recorder.record(projectId, [tool, uncounted]);

    expect(await estimateOf(projectId, tool.event_id)).toBeNull();
    expect(await estimateOf(projectId, uncounted.event_id)).toBeNull();
    expect(await estimateOf(projectId, tool.session_id ?? "")).toBeNull();
  });

  test("is that of the whole event, however its parts come in", async () => {
    const projectId = await createTestProject(database);
    const [late, early, twice] = [aCall({ metadata: {} }), aCall({ metadata: {} }), aCall()];
    const tokens = { metadata: { prompt_tokens: 1_000, completion_tokens: 100 } };
    await recorder.enrich(projectId, { event_id: early.event_id, ...tokens });
    await recorder.record(projectId, [late, early, twice, twice]);
    await recorder.update(projectId, { event_id: late.event_id, ...tokens });
    await recorder.record(projectId, [twice]);

    for (const { event_id } of [late, early, twice]) {
      expect(await estimateOf(projectId, event_id)).toEqual(known);
    }
  });

  test("follows every change of the event, and goes when there is nothing to price", async () => {
    const projectId = await createTestProject(database);
    const { event_id, ...call } = aCall();
    const update = (metadata: JsonObject) => recorder.update(projectId, { event_id, metadata });
    await recorder.record(projectId, [{ event_id, ...call }]);

    await update({ completion_tokens: 200 });
    expect(await estimateOf(projectId, event_id)).toEqual({ ...known, cost: 0.0045 });
    await update({ comment: "kept" });
    expect(await estimateOf(projectId, event_id)).toEqual({ ...known, cost: 0.0045 });
    await recorder.update(projectId, { event_id, config: { model: "odd \0 \ud800 \uE000" } });
    expect(await estimateOf(projectId, event_id)).toEqual({
      cost: null,
      reason: "the table has no price of odd \0 \ud800 \uE000 of openai",
      price_table: priceTableName,
    });
    await update({ prompt_tokens: "?", completion_tokens: "?" });
    expect(await estimateOf(projectId, event_id)).toBeNull();
  });

  test("goes into the archive with its event", async () => {
    const projectId = await createTestProject(database);
    await recorder.record(projectId, [aCall()]);
    const archive = createEventArchive(() => database);
    while ((await archive.moveSome({ projectId, clusterId: "default" })) > 0);

    const rows = await database.sql()`
      select cost_estimate from archived_events
      where project_id = ${projectId} and event_type = 'model'`;
    expect(rows).toEqual([{ cost_estimate: known }]);
  });
});

describe("recost", () => {
  const outdated: EstimateCost = (event) => {
    const estimate = estimateCost(event);
    return estimate && { cost: 1, price_table: "older table" };
  };

  /** Stores events as a service with another price table did. */
  async function givenOutdated(projectId: ProjectId, writes: readonly EventWrite[]): Promise<void> {
    const fields = createFieldCatalogue({ database });
    const older = createRecorder({
      database,
      fields,
      pricingOf: async () => ({ estimateCost: outdated, priceTable: "older table" }),
    });
    await older.record(projectId, writes);
  }

  const run = (projectId: ProjectId, applies: boolean) =>
    recost({ database, projectId, span, estimateCost, applies });

  type Row = { readonly estimate: CostEstimate | null; readonly others: string };

  /** Returns the estimates of a project's events, and a hash of everything else of each. */
  const rowsOf = (projectId: string) => database.sql()<Row[]>`
    select cost_estimate as estimate, md5((to_jsonb(e) - 'cost_estimate')::text) as others
    from events as e
    where project_id = ${projectId}
    order by event_id`;

  test("reports before and after, and changes nothing unless it is told to", async () => {
    const projectId = await createTestProject(database);
    const other = await createTestProject(database);
    const unpriced = aCall({ config: { model: "mine", provider: "openai" } });
    const tool = aCall({ event_type: "tool" });
    await givenOutdated(projectId, [aCall(), aCall(), unpriced, tool, aCall({ metadata: {} })]);
    await givenOutdated(other, [aCall()]);
    const [before, otherBefore] = [await rowsOf(projectId), await rowsOf(other)];

    const report = await run(projectId, false);

    expect(await rowsOf(projectId)).toEqual(before);
    expect(report).toEqual({
      models: [
        { name: "openai/gpt-4o", events: 2, before: 2, after: 0.007, changed: 2, unknown: 0 },
        { name: "openai/mine", events: 1, before: 1, after: null, changed: 1, unknown: 1 },
      ],
      total: { events: 3, before: 3, after: 0.007, changed: 3, unknown: 1 },
      reasons: [{ reason: "the table has no price of mine of openai", events: 1 }],
    });

    expect(await run(projectId, true)).toEqual(report);
    const after = await rowsOf(projectId);
    expect(after.map(({ others }) => others)).toEqual(before.map(({ others }) => others));
    expect(await estimateOf(projectId, unpriced.event_id)).toMatchObject({ cost: null });
    expect(await estimateOf(projectId, tool.event_id)).toBeNull();
    expect(await rowsOf(other)).toEqual(otherBefore);
    const again = await run(projectId, true);
    expect(again.total).toEqual({ ...report.total, before: 0.007, changed: 0 });
    expect(await rowsOf(projectId)).toEqual(after);
  });

  test("takes the events of the span alone, page after page", async () => {
    const projectId = await createTestProject(database);
    const times = [-1, 0, 1, 999_999, 1_000_000].map((offset) => atMs + offset);
    const edge = times.map((start_time) => aCall({ start_time, session_id: "s" }));
    // More than a page, most of one time.
    const many = Array.from({ length: 1_100 }, (_, index) =>
      aCall({ start_time: atMs + 10 + Math.floor(index / 600), session_id: "s" }),
    );
    await givenOutdated(projectId, [...edge, ...many]);

    const { total } = await run(projectId, true);

    expect(total).toMatchObject({ events: 1_103, changed: 1_103, before: 1_103 });
    expect(total.after).toBeCloseTo(1_103 * known.cost, 9);
    const costs = await Promise.all(
      edge.map(async ({ event_id }) => (await estimateOf(projectId, event_id))?.cost),
    );
    expect(costs).toEqual([1, known.cost, known.cost, known.cost, 1]);
  });

  test("estimates what stands there when writers are at work at the same time", async () => {
    const projectId = await createTestProject(database);
    const calls = Array.from({ length: 300 }, () => aCall({ session_id: "s" }));
    await givenOutdated(projectId, calls);
    const metadata = { completion_tokens: 200 };
    const writing = calls.map(({ event_id }) => recorder.update(projectId, { event_id, metadata }));
    await Promise.all([run(projectId, true), ...writing]);

    const costs = await Promise.all(
      // The maximum that waits for a read at once.
      calls
        .slice(0, 100)
        .map(async ({ event_id }) => (await estimateOf(projectId, event_id))?.cost),
    );
    expect(new Set(costs)).toEqual(new Set([0.0045]));
  });

  test("has a bounded number of rows, whatever senders call their models", async () => {
    const projectId = await createTestProject(database);
    const calls = Array.from({ length: 600 }, (_, index) =>
      aCall({ config: { model: `m${index}` }, session_id: "s" }),
    );
    await givenOutdated(projectId, calls);

    const { models, reasons, total } = await run(projectId, false);

    expect(models).toHaveLength(501);
    expect(reasons).toHaveLength(501);
    expect(models.find(({ name }) => name === "(others)")?.events).toBe(100);
    expect(total.events).toBe(600);
  });

  test("reads no large value, and takes it for none as the service does", async () => {
    const projectId = await createTestProject(database);
    const huge = { text: "x".repeat(50_000) };
    const call = aCall({
      config: { model: "gpt-4o", provider: "openai", template: [huge] },
      metadata: { prompt_tokens: 1_000, completion_tokens: 100, usage: huge, response_model: huge },
    });
    await recorder.record(projectId, [call]);

    expect((await run(projectId, true)).total).toMatchObject({ events: 1, changed: 0 });
    expect(await estimateOf(projectId, call.event_id)).toEqual(known);
  });
});
