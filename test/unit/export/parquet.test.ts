// Parquet files, read back by another library than wrote them.

import { create } from "@bufbuild/protobuf";
import { parquetReadObjects } from "hyparquet";
import { expect, test } from "vitest";
import {
  type StreamEventsResponse,
  StreamEventsResponseSchema,
} from "../../../gen/waggle/v1/export_pb.js";
import { toEventMessage } from "../../../src/tracing/events/event-message.ts";
import type { StoredEvent } from "../../../src/tracing/events/event.ts";
import { encodeParquet } from "../../../src/tracing/export/parquet.ts";
import { anEvent } from "../../support/events.ts";

async function* streamOf(
  events: Iterable<StoredEvent>,
): AsyncGenerator<StreamEventsResponse, void, undefined> {
  let count = 0;
  for (const event of events) {
    count += 1;
    const value = toEventMessage(event, "project-1");
    yield create(StreamEventsResponseSchema, { item: { case: "event", value } });
  }
  yield create(StreamEventsResponseSchema, { item: { case: "end", value: { done: true, count } } });
}

async function encode(events: Iterable<StoredEvent>) {
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeParquet(streamOf(events))) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return { pieces, rows: await parquetReadObjects({ file: file }) };
}

test("a Parquet file reads back as the events that were written", async () => {
  const event = anEvent({
    event_id: "a",
    event_name: "é\u{1F41D}",
    children_ids: ["x", "y"],
    start_time: 1_700_000_000_123,
    end_time: 1_700_000_000_456.9,
    duration: 333.9,
    inputs: { nested: [{ "k.e.y": null }, 1.5, "\0"] },
  });
  const { rows } = await encode([
    event,
    anEvent({ event_id: "b", session_id: "b", event_type: "session" }),
  ]);

  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatchObject({
    event_id: "a",
    project_id: "project-1",
    parent_id: "session-1",
    event_name: "é\u{1F41D}",
    error: null,
    start_time: new Date(1_700_000_000_123),
    end_time: new Date(1_700_000_000_456),
    duration: 333.9,
  });
  const json = (value: unknown) =>
    JSON.parse(
      typeof value === "string" ? value : new TextDecoder().decode(value as Uint8Array),
    ) as unknown;
  expect(json(rows[0]?.["inputs"])).toEqual(event.inputs);
  expect(json(rows[0]?.["children_ids"])).toEqual(["x", "y"]);
  expect(rows[1]).toMatchObject({ event_id: "b", parent_id: null, duration: null });
});

test("many rows come in several pieces, so that memory stays bounded", async () => {
  const content = "text ".repeat(400);
  const events = Array.from({ length: 12_000 }, (_, index) =>
    anEvent({ event_id: String(index), inputs: { content: `${index} ${content}` } }),
  );
  const { pieces, rows } = await encode(events);

  expect(pieces.length).toBeGreaterThan(3);
  const ids = events.map(({ event_id }) => ({ event_id }));
  expect(rows).toEqual(ids.map((id) => expect.objectContaining(id) as unknown));
});

test("no events make a file without rows", async () => {
  expect((await encode([])).rows).toEqual([]);
});

test("a stream that was cut makes no whole file", async () => {
  async function* cut(): AsyncGenerator<StreamEventsResponse, void, undefined> {
    for await (const message of streamOf([anEvent()]))
      if (message.item.case === "event") yield message;
  }
  const pieces: Uint8Array[] = [];
  const reading = (async () => {
    for await (const piece of encodeParquet(cut())) pieces.push(piece);
  })();

  await expect(reading).rejects.toThrow(/without its end/);
});
