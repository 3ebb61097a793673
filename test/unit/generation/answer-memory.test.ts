// The memory that a generation takes for its answer.

import { describe, expect, test } from "vitest";
import type { ServiceError } from "../../../src/base/errors.ts";
import { modelAnswerBytesMax } from "../../../src/base/tenant-limits.ts";
import { createAnswerMemory, keeperOf } from "../../../src/generation/calls/answer-memory.ts";

const owner = { orgId: "o", projectId: "p" };
const overloaded = expect.objectContaining({ reason: "OVERLOADED" }) as ServiceError;

describe("keeperOf", () => {
  test("refuses an answer that is too large by itself", () => {
    const keep = keeperOf(createAnswerMemory(4 * modelAnswerBytesMax).open(owner));
    keep(modelAnswerBytesMax);

    expect(() => keep(1)).toThrow(expect.objectContaining({ reason: "PROVIDER_FAILED" }));
  });

  test("counts in the memory of all", () => {
    const keep = keeperOf(createAnswerMemory(100).open(owner));
    keep(50);

    expect(() => keep(1)).toThrow(overloaded);
  });
});
