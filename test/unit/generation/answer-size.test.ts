// What counts of an answer as it comes: all of one that is kept, of a stream its last event.

import { describe, expect, test } from "vitest";
import { createByteBudget } from "../../../src/base/byte-budget.ts";
import { createAnswerSize } from "../../../src/generation/providers/answer-watch.ts";

const limits = { bytesMax: 200_000, streamBytesMax: 2_000_000, openingsMax: 100 };
const event = Buffer.from(`data: {"a":"${"x".repeat(1_000)}"}\n\n`);

function sizeOf(contentType: string, budget = createByteBudget(1_000_000)) {
  const size = createAnswerSize(limits, budget.open());
  size.begin(contentType);
  return { size, budget };
}

describe("createAnswerSize", () => {
  test("counts an answer in one piece in memory, and gives it back where it is dropped", () => {
    const { size, budget } = sizeOf("application/json");
    for (let count = 0; count < 50; count += 1) expect(size.add(event)).toBeUndefined();
    // An object takes more than its text.
    expect(budget.bytesInFlight()).toBe(50 * (event.length + 128));

    size.drop();
    size.drop();
    expect(budget.bytesInFlight()).toBe(0);
  });

  test("lets a stream of small events pass its limit, and counts none of it", () => {
    const { size, budget } = sizeOf("text/event-stream; charset=utf-8");
    for (let count = 0; count < 1_000; count += 1) expect(size.add(event)).toBeUndefined();

    expect(budget.bytesInFlight()).toBe(0);
  });

  test("ends a stream at the most that is passed", () => {
    const { size } = sizeOf("text/event-stream");
    const faults = Array.from({ length: 2_000 }, () => size.add(event));

    expect(faults.at(-1)?.message).toBe("answered more than 2000000 bytes");
  });

  test("counts a large event in memory, and ends it at its limit", () => {
    const { size, budget } = sizeOf("text/event-stream");
    const part = Buffer.alloc(50_000, "x");
    for (let count = 0; count < 4; count += 1) expect(size.add(part)).toBeUndefined();

    expect(budget.bytesInFlight()).toBeGreaterThanOrEqual(100_000);
    expect(size.add(part)?.message).toBe("answered more than 200000 bytes");
  });

  test("gives back a large event's memory when it is whole, however many come", () => {
    const { size, budget } = sizeOf("text/event-stream", createByteBudget(150_000));
    for (let count = 0; count < 10; count += 1) {
      for (let part = 0; part < 3; part += 1) {
        expect(size.add(Buffer.alloc(50_000, "x"))).toBeUndefined();
      }
      expect(size.add(Buffer.from("\n\n"))).toBeUndefined();
      expect(budget.bytesInFlight()).toBe(0);
    }
  });

  test("counts objects and arrays by the event", () => {
    const { size } = sizeOf("text/event-stream");
    const full = Buffer.from(`data: ${"[".repeat(100)}\n\n`);

    expect([size.add(full), size.add(full)]).toEqual([undefined, undefined]);
    expect(size.add(Buffer.from("[".repeat(101)))?.failure).toBe("malformed");
  });

  test("counts what an answer of objects takes once it is parsed", () => {
    const { size } = sizeOf("application/json", createByteBudget(10_000));

    expect(size.add(Buffer.from(`[${"{},".repeat(90)}{}]`))?.failure).toBe("overloaded");
  });

  test("tells an answer that can never fit from one that has no memory now", () => {
    const { size, budget } = sizeOf("application/json", createByteBudget(10_000));
    const busy = budget.open();
    busy.grow(5_000);

    const now = size.add(Buffer.from("[".repeat(50)));
    const ever = sizeOf("application/json", budget).size.add(Buffer.from("[".repeat(100)));

    expect(now?.message).toBe("answered more than there is memory for now");
    expect(ever).toMatchObject({ failure: "overloaded" });
    expect(ever?.message).toBe(
      "answered more than a call may ever hold, 10000 bytes: each of its 100 objects and arrays " +
        "so far counts as 128",
    );
  });

  test("counts each part as more than a byte", () => {
    const { size, budget } = sizeOf("application/json");
    for (let count = 0; count < 100; count += 1) size.add(Buffer.from("x"));

    expect(budget.bytesInFlight()).toBe(6_400);
  });

  test("ends an answer that there is no memory for as an overload", () => {
    const { size } = sizeOf("application/json", createByteBudget(1_000));

    expect(size.add(event)?.failure).toBe("overloaded");
  });
});
