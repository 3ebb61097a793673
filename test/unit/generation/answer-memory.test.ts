// What generations keep of their answers at a time.

import { describe, expect, test } from "vitest";
import type { ServiceError } from "../../../src/base/errors.ts";
import {
  answerBytesMax,
  createAnswerMemory,
  keeperOf,
} from "../../../src/generation/calls/answer-memory.ts";

const overloaded = expect.objectContaining({ reason: "OVERLOADED" }) as ServiceError;

describe("createAnswerMemory", () => {
  test("refuses what all answers together have no room for, until one is stored", () => {
    const memory = createAnswerMemory(100);
    const first = memory.open("p");
    const second = memory.open("q");
    const third = memory.open("r");
    first.grow(50);
    second.grow(50);

    expect(() => third.grow(1)).toThrow(overloaded);

    first.release();
    expect(() => third.grow(50)).not.toThrow();
  });

  test("gives a project half of it, also when its first answers are stored", () => {
    const memory = createAnswerMemory(100);
    const first = memory.open("p");
    const second = memory.open("p");
    first.grow(30);
    second.grow(20);

    expect(() => second.grow(1)).toThrow(overloaded);
    expect(() => memory.open("q").grow(50)).not.toThrow();

    first.release();
    first.release();
    expect(() => second.grow(31)).toThrow(overloaded);
  });

  test("counts a project once, whoever is released again", () => {
    const memory = createAnswerMemory(100);
    const stale = memory.open("p");
    stale.release();
    memory.open("p").grow(50);
    stale.release();

    expect(() => memory.open("p").grow(1)).toThrow(overloaded);
  });

  test("gives back what an answer has dropped", () => {
    const memory = createAnswerMemory(100);
    const dropped = memory.open("p");
    dropped.grow(50);
    dropped.shrink(50);

    expect(() => memory.open("p").grow(50)).not.toThrow();
  });
});

describe("keeperOf", () => {
  test("refuses an answer that is too large by itself", () => {
    const keep = keeperOf(createAnswerMemory(4 * answerBytesMax).open("p"));
    keep(answerBytesMax);

    expect(() => keep(1)).toThrow(expect.objectContaining({ reason: "PROVIDER_FAILED" }));
  });

  test("counts in the memory of all", () => {
    const keep = keeperOf(createAnswerMemory(100).open("p"));
    keep(50);

    expect(() => keep(1)).toThrow(overloaded);
  });
});
