// Events of many megabytes: what changes them costs what it changes, and others do not wait for it.
// Source: docs/decisions.md, 6 and 36.3.

import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { eventBytesMax, listItemsMax } from "../../src/base/limits.ts";
import type { EventWrite } from "../../src/tracing/events/event.ts";
import { skipWhereMissing } from "../clients/environment.ts";
import { createTestProject } from "../support/project.ts";
import { givenARecorder } from "../support/recorder.ts";
import { turnsAt } from "../support/turns.ts";
import { aWrite } from "../support/writes.ts";

/** Ids of the events of each commit. */
const commits: string[][] = [];

const { database, fields, recorder, events, projectId } = await givenARecorder({
  turns: turnsAt(1),
  listener: {
    wants: () => true,
    onWritten: (_sql, written) => {
      commits.push(written.map(({ after }) => after.event_id));
      return Promise.resolve();
    },
  },
});

/** Text that does not compress. */
function noise(length: number): string {
  return randomBytes(length / 2).toString("hex");
}

async function given(overrides: Partial<EventWrite> = {}): Promise<string> {
  const event = aWrite(overrides);
  await recorder.record(projectId, [event]);
  return event.event_id;
}

async function hasChunkIds(): Promise<boolean> {
  const [row] = await database.sql()`
    select current_setting('server_version_num')::integer >= 170000 as has`;
  return row?.["has"] === true;
}

/** Where Postgres keeps the inputs of an event: another place once they are written again. */
async function placeOfInputs(eventId: string): Promise<unknown> {
  const [row] = await database.sql()`
    select pg_column_toast_chunk_id(inputs)::text as place
    from events
    where project_id = ${projectId} and event_id = ${eventId}`;
  return row?.["place"];
}

describe("an update of a large event", () => {
  test("writes what it changes and leaves the rest where it lies", async (context) => {
    const missing = "Postgres 17 is the first that says where it keeps a value";
    skipWhereMissing(context, (await hasChunkIds()) ? undefined : missing);
    const inputs = { text: noise(100_000) };
    const id = await given({ inputs, metadata: { kept: 1 }, error: "failed" });
    const place = await placeOfInputs(id);

    await recorder.update(projectId, { event_id: id, metadata: { added: 2 }, outputs: { a: 1 } });
    await recorder.record(projectId, [aWrite({ event_id: id, inputs: {} })]);

    expect(place).toEqual(expect.any(String));
    expect(await placeOfInputs(id)).toBe(place);
    expect(await events.get(projectId, id)).toMatchObject({
      inputs,
      outputs: { a: 1 },
      metadata: { kept: 1, added: 2 },
      error: "failed",
    });
  });

  test("merges the keys of the bucket that is large", async () => {
    const inputs = { first: noise(1_000_000), second: 1 };
    const id = await given({ inputs });

    await recorder.update(projectId, { event_id: id, inputs: { second: "\u0000", third: 3 } });

    const got = await events.get(projectId, id);
    expect(got.inputs).toEqual({ ...inputs, second: "\u0000", third: 3 });
  });

  test("is committed alone, and those that came with it together", async () => {
    const large = await Promise.all(
      Array.from({ length: 10 }, () => given({ inputs: { text: noise(600_000) } })),
    );
    const small = await Promise.all(Array.from({ length: 10 }, () => given()));
    commits.length = 0;

    const found = await Promise.all(
      [...large, ...small].map((event_id, at) =>
        recorder.update(projectId, { event_id, inputs: { at } }),
      ),
    );

    expect(found).toEqual(Array(20).fill(true));
    for (const ids of commits) {
      if (ids.some((id) => large.includes(id))) expect(ids).toHaveLength(1);
    }
    const got = await events.get(projectId, large[7] ?? "");
    expect(got.inputs["at"]).toBe(7);
  });

  test("that waits for its event is merged into it", async () => {
    const text = noise(600_000);
    const event = aWrite({ inputs: { a: 1 } });
    const { event_id } = event;

    await Promise.all([
      recorder.enrich(projectId, { event_id, outputs: { text } }),
      recorder.enrich(projectId, { event_id, outputs: { b: 2 } }),
    ]);
    await Promise.all([
      recorder.enrich(projectId, { event_id, metadata: { c: 3 } }),
      recorder.record(projectId, [aWrite()]),
    ]);
    await Promise.all([
      recorder.record(projectId, [event]),
      recorder.record(projectId, [aWrite()]),
    ]);

    const got = await events.get(projectId, event_id);
    expect(got).toMatchObject({
      inputs: { a: 1 },
      outputs: { text, b: 2 },
      metadata: { c: 3 },
    });
  });
});

describe("an event that would grow past the limit", () => {
  test("is refused what is too much, and nothing else", { timeout: 300_000 }, async () => {
    const most = "x".repeat(eventBytesMax - 2_000_000);
    const id = await given({ inputs: { most } });
    const more = { event_id: id, outputs: { more: "y".repeat(4_000_000) } };
    commits.length = 0;

    const refused = recorder.update(projectId, more);
    await expect(refused).rejects.toMatchObject({
      reason: "INVALID_ARGUMENT",
      message: expect.stringContaining(`more than ${eventBytesMax} bytes`) as string,
    });
    const [created, beside] = await Promise.all([
      recorder.record(projectId, [aWrite(more), aWrite()]),
      recorder.record(projectId, [aWrite()]),
    ]);
    expect([[...created.keys()], beside.size]).toEqual([[0], 0]);
    expect((await events.get(projectId, id)).outputs).toEqual({});

    // The same keys again are not more.
    await recorder.update(projectId, { event_id: id, inputs: { most: "less" } });
    await recorder.update(projectId, more);
    expect((await events.get(projectId, id)).outputs).toEqual(more.outputs);
  });

  test("by children is refused too", async () => {
    const childrenOf = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => `child-${from + at}`);
    const id = await given({ children_ids: childrenOf(0, listItemsMax - 10) });

    const more = recorder.update(projectId, {
      event_id: id,
      children_ids: childrenOf(5, listItemsMax),
    });
    await expect(more).rejects.toThrow("children_ids: the event would list more than");
    await recorder.update(projectId, {
      event_id: id,
      children_ids: childrenOf(5, listItemsMax - 5),
    });

    expect((await events.get(projectId, id)).children_ids).toEqual(childrenOf(0, listItemsMax));
  });
});

describe("a large request", () => {
  test("is stored in parts, between which others have their turn", async () => {
    const writes = Array.from({ length: 40 }, () => aWrite());
    const [shared = aWrite()] = writes;
    // The same id in the first part and in the last.
    writes[39] = { ...shared, metadata: { last: true } };
    const clash = aWrite({ session_id: shared.event_id });
    const small = aWrite();
    commits.length = 0;

    const large = recorder.record(projectId, [...writes, clash], {
      costs: Array(41).fill(200_000) as number[],
    });
    const refused = await Promise.all([large, recorder.record(projectId, [small])]);

    expect(refused.map((causes) => [...causes.keys()])).toEqual([[40], []]);
    expect(commits.length).toBeGreaterThanOrEqual(20);
    const at = commits.findIndex((ids) => ids.includes(small.event_id));
    expect(at).toBeLessThan(3);
    const stored = commits.flat();
    expect(writes.every(({ event_id }) => stored.includes(event_id))).toBe(true);
    expect((await events.get(projectId, shared.event_id)).metadata).toEqual({ last: true });
  });

  test("with an Idempotency-Key is stored whole or not at all", async () => {
    const writes = Array.from({ length: 4 }, () => aWrite());
    const failure = new Error("the answer could not be kept");

    const attempt = database.transaction(async () => {
      await recorder.record(projectId, writes, { costs: Array(4).fill(400_000) as number[] });
      throw failure;
    });

    await expect(attempt).rejects.toBe(failure);
    for (const { event_id } of writes) {
      await expect(events.get(projectId, event_id)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    }
  });
});

test("an event that changes its type has its fields in the catalogue under both", async () => {
  const own = await createTestProject(database);
  const event = aWrite({ inputs: { question: "why" }, metadata: { depth: { of: 2 } } });
  await recorder.record(own, [event]);

  await recorder.record(own, [{ ...aWrite({ event_id: event.event_id }), event_type: "chain" }]);

  const schema = await fields.schema(own);
  const namesOf = (type: string) =>
    schema.filter(({ eventType }) => eventType === type).map(({ name }) => name);
  expect(namesOf("chain")).toEqual(
    expect.arrayContaining(["inputs.question", "metadata.depth.of"]),
  );
  expect(namesOf("tool")).toEqual(expect.arrayContaining(["inputs.question", "metadata.depth.of"]));
});
