// Moving events into the archive: each event once, also beside other writes.

import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { createEventArchive, type EventArchive } from "../../src/tracing/archive/archive.ts";
import { givenTestDatabase } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { fingerprintOf, givenEvents } from "../support/workflows.ts";

const own = givenTestDatabase();
let archive: EventArchive;

beforeAll(async () => {
  archive = createEventArchive(() => own.database);
});

const aPlace = () => ({ projectId: createUuid(), clusterId: "default" });

async function moveAll(place: ReturnType<typeof aPlace>, by = archive): Promise<readonly number[]> {
  const steps: number[] = [];
  for (let step = await by.moveSome(place); step > 0; step = await by.moveSome(place)) {
    steps.push(step);
  }
  return steps;
}

describe("moveSome", () => {
  test("moves a bounded number at a time, until none is left", async () => {
    const place = aPlace();
    await givenEvents(own.database, place.projectId, 4_500);
    const before = await fingerprintOf(own.database, "events", [place.projectId]);

    expect(await archive.countEvents([place])).toEqual({ done: 0, left: 4_500 });
    expect(await moveAll(place)).toEqual([2_000, 2_000, 500]);

    expect(await archive.countEvents([place])).toEqual({ done: 4_500, left: 0 });
    expect(await fingerprintOf(own.database, "archived_events", [place.projectId])).toEqual(before);
  });

  test("goes on where it was, and finds what came in before that meanwhile", async () => {
    const place = aPlace();
    await givenEvents(own.database, place.projectId, 2_500);
    expect(await archive.moveSome(place)).toBe(2_000);
    await own.database.sql()`
      insert into events (
        project_id, event_id, session_id, event_type, event_name, source, start_time_us)
      values (${place.projectId}, '!', 's', 'tool', 'late', 't', 1)`;

    expect(await moveAll(place)).toEqual([500, 1]);
    expect(await archive.countEvents([place])).toEqual({ done: 2_501, left: 0 });
  });

  test("moves fewer when they are large, but always one", async () => {
    const place = aPlace();
    await own.database.sql()`
      insert into events (
        project_id, event_id, session_id, event_type, event_name, source, start_time_us, inputs)
      select ${place.projectId}, 'event ' || n, 's', 'tool', 'e', 't', 1, jsonb_build_object('a', (
        select string_agg(md5(n || ' ' || part), '') from generate_series(1, 310000) as part))
      from generate_series(1, 4) as n`;

    expect(await moveAll(place)).toEqual([2, 2]);
  });

  test("keeps every column as it was", async () => {
    const place = aPlace();
    const sql = own.database.sql();
    await sql`
      insert into events (
        project_id, event_id, session_id, event_type, event_name, source, parent_id, children_ids,
        error, start_time_us, end_time_us, duration_ms, config, inputs, outputs, metadata, metrics,
        feedback, user_properties)
      values (
        ${place.projectId}, 'e', 's', 'model', 'n', 'src', 'p', '{a,b}', 'wrong', 1, 2, 0.5,
        '{"model": "m"}', '{"a": 1}', '{"b": 2}', '{"c": 3}', '{"d": 4}', '{"e": 5}', '{"f": 6}')`;
    const columns = (table: string) => sql<{ row: unknown }[]>`
      select to_jsonb(t) - 'model' - 'archived_at' as row
      from ${sql(table)} as t
      where project_id = ${place.projectId}`;
    const before = [...(await columns("events"))];

    await moveAll(place);

    expect([...(await columns("archived_events"))]).toEqual(before);
  });

  test("leaves other projects alone", async () => {
    const [place, other] = [aPlace(), aPlace()];
    await givenEvents(own.database, place.projectId, 100);
    await givenEvents(own.database, other.projectId, 100);

    await moveAll(place);

    expect(await archive.countEvents([other])).toEqual({ done: 0, left: 100 });
    expect(await archive.countEvents([place, other])).toEqual({ done: 100, left: 100 });
  });

  test("by two at a time, while events are changed, loses and doubles nothing", async () => {
    const place = aPlace();
    const { projectId } = place;
    await givenEvents(own.database, projectId, 8_000);
    const second = openDatabase({ url: own.url, connectionsMax: 2 });
    const writer = openDatabase({ url: own.url, connectionsMax: 1 });
    let isMoving = true;
    let changed = 0;
    const change = async () => {
      while (isMoving) {
        const { count } = await writer.sql()`
          update events set feedback = '{"late": true}'
          where project_id = ${projectId} and event_id in (
            select event_id
            from events
            where project_id = ${projectId} and feedback = '{}'
            order by event_id desc
            limit 50
            for update skip locked)`;
        changed += count;
      }
    };

    const changing = change();
    // The moves may take less time than the writer's first connection.
    await vi.waitUntil(() => changed > 0, patience);
    const steps = await Promise.all([
      moveAll(place),
      moveAll(
        place,
        createEventArchive(() => second),
      ),
    ]);
    isMoving = false;
    await changing;
    await Promise.all([second.close(), writer.close()]);

    expect(steps.flat().reduce((sum, step) => sum + step, 0)).toBe(8_000);
    expect(await archive.countEvents([place])).toEqual({ done: 8_000, left: 0 });
    const [late] = await own.database.sql()<{ count: number }[]>`
      select count(*) as count from archived_events
      where project_id = ${projectId} and feedback = '{"late": true}'`;
    expect(late?.count).toBe(changed);
  });

  test("cut off in the middle leaves each event in one place", async () => {
    const place = aPlace();
    await givenEvents(own.database, place.projectId, 3_000);
    const dying = openDatabase({ url: own.url, connectionsMax: 1 });
    const [backend] = await dying.sql()<{ pid: number }[]>`select pg_backend_pid() as pid`;

    const moving = moveAll(
      place,
      createEventArchive(() => dying),
    ).catch(() => "cut off");
    await new Promise((settle) => setTimeout(settle, 20));
    await own.database.sql()`select pg_terminate_backend(${backend?.pid ?? 0}::integer)`;
    await moving;
    await dying.close();

    const { done, left } = await archive.countEvents([place]);
    expect(done + left).toBe(3_000);
    await moveAll(place);
    expect(await archive.countEvents([place])).toEqual({ done: 3_000, left: 0 });
  });
});

describe("deleteSomeDerived", () => {
  test("deletes totals and fields of the project, and of no other", async () => {
    const [place, other] = [aPlace(), aPlace()];
    await givenEvents(own.database, place.projectId, 1);
    await givenEvents(own.database, other.projectId, 1);

    const steps: number[] = [];
    for (let rows = 1; rows > 0;) steps.push((rows = await archive.deleteSomeDerived(place)));

    expect(steps).toEqual([100, 1, 0]);
    expect(await archive.deleteSomeDerived(other)).toBe(100);
  });
});

describe("countEvents", () => {
  test("goes on for longer than a statement of a request may", async () => {
    const place = aPlace();
    await givenEvents(own.database, place.projectId, 3);
    const hasty = openDatabase({ url: own.url, connectionsMax: 1, statementTimeoutMs: 50 });
    onTestFinished(() => hasty.close());
    const isLocked = Promise.withResolvers<undefined>();
    const busy = own.database.transaction(async (sql) => {
      await sql`lock table archived_events`;
      isLocked.resolve(undefined);
      await sql`select pg_sleep(0.3)`;
    });
    await isLocked.promise;

    const got = await createEventArchive(() => hasty).countEvents([place]);

    expect(got).toEqual({ done: 0, left: 3 });
    await busy;
  });
});
