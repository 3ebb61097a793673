// Bytes of a stream to whole events, however they are cut.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSseReader, type SseEvent } from "../../../src/generation/openai/sse-reader.ts";

function readAll(chunks: readonly Uint8Array[]): SseEvent[] {
  const reader = createSseReader();
  const events = chunks.flatMap((chunk) => reader.push(chunk));
  const rest = reader.end();
  return rest ? [...events, rest] : events;
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set([...places.map((place) => place % (bytes.length + 1)), bytes.length])];
  const sorted = ends.toSorted((a, b) => a - b);
  return sorted.map((end, index) => bytes.subarray(sorted[index - 1] ?? 0, end));
}

const stream = [
  ": comment\n\n",
  'data: {"a":1}\n\n',
  'event: error\ndata: {"b":"é😀"}\n\n',
  "data: one\ndata:two\n\n",
  "id: 4\ndata\n\n",
  "data: [DONE]\n\n",
];
const datas = [undefined, '{"a":1}', '{"b":"é😀"}', "one\ntwo", "", "[DONE]"];

describe("createSseReader", () => {
  test.each([
    { name: "line feeds", end: "\n" },
    { name: "carriage returns with line feeds", end: "\r\n" },
    { name: "carriage returns", end: "\r" },
  ])("reads the same events from any cut, with $name", ({ end }) => {
    const bytes = Buffer.from(stream.join("").replaceAll("\n", end));

    fc.assert(
      fc.property(fc.array(fc.nat()), (places) => {
        const events = readAll(cutAt(bytes, places));

        expect(Buffer.concat(events.map((event) => event.bytes)).equals(bytes)).toBe(true);
        // A line feed that was cut from its carriage return begins nothing new.
        const told = events.filter((event) => event.bytes.length > 1);
        expect(told.map(({ data }) => data)).toEqual(datas);
        expect(told[2]?.name).toBe("error");
      }),
    );
  });

  test("keeps an event until it is whole", () => {
    const reader = createSseReader();

    expect(reader.push(Buffer.from("data: half"))).toEqual([]);
    expect(reader.push(Buffer.from(" of it\n"))).toEqual([]);
    expect(reader.push(Buffer.from("\ndata: x"))).toMatchObject([{ data: "half of it" }]);
    expect(reader.end()).toMatchObject({ data: "x" });
    expect(reader.end()).toBeUndefined();
  });

  test("reads a long event that comes byte by byte in time that grows with its length", () => {
    const reader = createSseReader();
    const part = Buffer.from("x".repeat(100));
    reader.push(Buffer.from("data: "));
    for (let count = 0; count < 50_000; count += 1) reader.push(part);
    const [event] = reader.push(Buffer.from("\n\n"));

    expect(event?.data?.length).toBe(5_000_000);
  });

  test("reads the first event behind a byte order mark", () => {
    const [event] = readAll([Buffer.from("\uFEFFdata: {}\n\n")]);

    expect(event?.data).toBe("{}");
  });
});
