// Feedback against Postgres: record and event change together or not at all, beside other writers.

import { describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { EventWrite } from "../../src/tracing/events/event.ts";
import { createFeedback } from "../../src/tracing/feedback/feedback.ts";
import { createTestProject } from "../support/project.ts";
import { givenARecorder } from "../support/recorder.ts";

const { database, recorder, events, sessions, projectId } = await givenARecorder();
const feedback = createFeedback(database, recorder);

/** Stores an event of type `model`, or what `overrides` say, and returns its id. */
async function aGeneration(overrides: Partial<EventWrite> = {}): Promise<string> {
  const ids = { event_id: createUuid(), session_id: createUuid() };
  const write: EventWrite = { ...ids, event_type: "model", inputs: {}, ...overrides };
  await recorder.record(projectId, [write]);
  return write.event_id;
}

const said = (generationId: string, items = {}, groundTruth?: string) => ({
  generationId,
  task: "answer",
  items,
  groundTruth,
});

async function countRecords(generationId: string): Promise<number> {
  const [row] = await database.sql()<{ count: number }[]>`
    select count(*) as count
    from feedback
    where project_id = ${projectId} and generation_id = ${generationId}`;
  return row?.count ?? -1;
}

const feedbackOf = async (id: string) => (await events.get(projectId, id)).feedback;

describe("create", () => {
  test("merges items and ground truth into the event by their keys", async () => {
    const id = await aGeneration({ feedback: { rating: 1, seen: true } });

    await feedback.create(projectId, said(id, { rating: 5, words: { good: 1 } }, "Paris"));

    const want = { rating: 5, seen: true, words: { good: 1 }, ground_truth: "Paris" };
    expect(await feedbackOf(id)).toEqual(want);
  });

  test("takes a ground truth that stands among the items", async () => {
    const id = await aGeneration();

    const record = await feedback.create(projectId, said(id, { ground_truth: "Paris" }));

    expect(record.groundTruth).toBe("Paris");
    expect(await feedbackOf(id)).toEqual({ ground_truth: "Paris" });
  });

  test("takes the same ground truth twice", async () => {
    const id = await aGeneration();

    await feedback.create(projectId, said(id, { ground_truth: "Paris" }, "Paris"));

    expect(await feedbackOf(id)).toEqual({ ground_truth: "Paris" });
  });

  test.each([
    { name: "another ground truth", items: { ground_truth: "Rome" }, groundTruth: "Paris" },
    { name: "a ground truth that is no text", items: { ground_truth: 5 }, groundTruth: "5" },
    { name: "a value that is no number", items: { deep: [{ rating: NaN }] } },
  ])("refuses $name, and stores nothing", async ({ items, groundTruth }) => {
    const id = await aGeneration();

    const refused = feedback.create(projectId, said(id, items, groundTruth));

    await expect(refused).rejects.toMatchObject({
      reason: "INVALID_ARGUMENT",
      message: expect.stringMatching(/^feedback_json\./) as string,
    });
    expect([await feedbackOf(id), await countRecords(id)]).toEqual([{}, 0]);
  });

  test("of a record alone leaves the event as it is", async () => {
    const id = await aGeneration({ feedback: { rating: 1 } });

    await feedback.create(projectId, said(id));

    expect([await feedbackOf(id), await countRecords(id)]).toEqual([{ rating: 1 }, 1]);
  });

  test("counts in the totals of the session once", async () => {
    const session_id = createUuid();
    const id = await aGeneration({ session_id });

    await feedback.create(projectId, said(id, { rating: 1 }));
    await feedback.create(projectId, said(id, { rating: 2 }));

    const { totals } = await sessions.get(projectId, session_id);
    expect(totals).toMatchObject({ num_events: 1, num_feedback: 1 });
  });

  test.each([
    { name: "an event of another type", make: () => aGeneration({ event_type: "tool" }) },
    {
      name: "a session",
      make: async () => (await events.get(projectId, await aGeneration())).session_id,
    },
    {
      name: "an update whose event is not there yet",
      make: async () => {
        const id = createUuid();
        await events.enrich(projectId, id, { metadata: { early: true } });
        return id;
      },
    },
    { name: "what can be no id", make: () => Promise.resolve("a\nb") },
    { name: "nothing", make: () => Promise.resolve(createUuid()) },
  ])("finds no generation in $name", async ({ make }) => {
    const id = await make();

    const refused = feedback.create(projectId, said(id, { rating: 1 }));

    await expect(refused).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await expect(feedback.list(projectId, id, {})).rejects.toMatchObject({ reason: "NOT_FOUND" });
    expect(await countRecords(id)).toBe(0);
  });

  test("finds no generation of another project", async () => {
    const id = await aGeneration();
    const other = await createTestProject(database);

    const refused = feedback.create(other, said(id, { rating: 1 }));

    await expect(refused).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await expect(feedback.list(other, id, {})).rejects.toMatchObject({ reason: "NOT_FOUND" });
    expect(await feedbackOf(id)).toEqual({});
  });

  test("keeps every writer's items when many write at once", async () => {
    const id = await aGeneration();
    const keys = Array.from({ length: 12 }, (_, index) => `item_${index}`);

    await Promise.all(
      keys.map((key) => feedback.create(projectId, said(id, { [key]: true, last: key }))),
    );

    const items = await feedbackOf(id);
    expect(Object.keys(items).toSorted()).toEqual([...keys, "last"].toSorted());
    // The newest record is the one whose value stands on the event.
    const { items: records } = await feedback.list(projectId, id, {});
    expect(records.map((record) => record.items["last"])[0]).toBe(items["last"]);
    expect(records.length).toBe(keys.length);
  });

  test("changes nothing on the event when its record cannot be stored", async () => {
    const id = await aGeneration();
    await database.sql()`
      alter table feedback add constraint no_poison check (task <> 'poison') not valid`;

    const failed = feedback.create(projectId, { ...said(id, { rating: 1 }), task: "poison" });

    await expect(failed).rejects.toThrow("no_poison");
    expect([await feedbackOf(id), await countRecords(id)]).toEqual([{}, 0]);
  });
});

describe("list", () => {
  test("goes through all records, the newest first, each once", async () => {
    const id = await aGeneration();
    for (const rating of [1, 2, 3, 4, 5]) await feedback.create(projectId, said(id, { rating }));

    const seen: unknown[] = [];
    const sizes: number[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await feedback.list(projectId, id, { limit: 2, cursor });
      seen.push(...page.items.map(({ items }) => items["rating"]));
      sizes.push(page.items.length);
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }

    expect([seen, sizes]).toEqual([
      [5, 4, 3, 2, 1],
      [2, 2, 1],
    ]);
  });

  test("gives fewer than asked for where they are large, and says there are more", async () => {
    const id = await aGeneration();
    const words = "x".repeat(600);
    for (const rating of [1, 2, 3]) {
      await feedback.create(projectId, said(id, { rating, words }));
    }
    const bounded = createFeedback(database, recorder, { bytesMax: 1_000 });

    const first = await bounded.list(projectId, id, {});
    const second = await bounded.list(projectId, id, { cursor: first.nextCursor });

    expect(first.items.map(({ items }) => items["rating"])).toEqual([3]);
    expect(second.items.map(({ items }) => items["rating"])).toEqual([2]);
    expect(second.nextCursor).toBeDefined();
  });

  test("gives back text that Postgres would refuse", async () => {
    const id = await aGeneration({ event_id: "generation \u{1f41d}" });
    const odd = "a\0b \ud800 \ue000";

    await feedback.create(projectId, { ...said(id, { [odd]: odd }, odd), task: odd });

    const { items } = await feedback.list(projectId, id, {});
    expect(items).toMatchObject([{ task: odd, items: { [odd]: odd }, groundTruth: odd }]);
  });
});

describe("deleting", () => {
  test("an event deletes its feedback, so that a new event of the id has none", async () => {
    const id = await aGeneration();
    const other = await aGeneration();
    for (const one of [id, other]) await feedback.create(projectId, said(one, { rating: 1 }));

    await events.delete(projectId, id);

    expect([await countRecords(id), await countRecords(other)]).toEqual([0, 1]);
    await aGeneration({ event_id: id });
    expect((await feedback.list(projectId, id, {})).items).toEqual([]);
  });

  test("a session deletes the feedback on its events and on no others", async () => {
    const session_id = createUuid();
    const [one, two] = [await aGeneration({ session_id }), await aGeneration({ session_id })];
    const other = await aGeneration();
    for (const id of [one, two, other]) await feedback.create(projectId, said(id, { rating: 1 }));

    await sessions.delete(projectId, session_id);

    const left = await Promise.all([one, two, other].map((id) => countRecords(id)));
    expect(left).toEqual([0, 0, 1]);
  });

  test.each([
    { name: "an event", isSession: false },
    { name: "a session", isSession: true },
  ])("$name while feedback comes leaves no record without its event", async ({ isSession }) => {
    for (let round = 0; round < 10; round += 1) {
      const session_id = createUuid();
      const id = await aGeneration({ session_id });

      await Promise.allSettled([
        feedback.create(projectId, said(id, { rating: 1 })),
        isSession ? sessions.delete(projectId, session_id) : events.delete(projectId, id),
        feedback.create(projectId, said(id, { rating: 2 })),
      ]);

      expect(await countRecords(id)).toBe(0);
      await expect(events.get(projectId, id)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    }
  });
});
