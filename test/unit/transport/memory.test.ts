// Who shares the memory of requests and answers.

import { describe, expect, test } from "vitest";
import { anonymousBytesInFlightMax } from "../../../src/base/limits.ts";
import { createMemory } from "../../../src/transport/memory.ts";

const refused = { reason: "OVERLOADED" };

describe("createMemory", () => {
  test("leaves half of what callers without a key have to calls that anyone may make", () => {
    const memory = createMemory(400_000_000);
    const page = memory.open(undefined, "anonymous");
    page.grow(anonymousBytesInFlightMax / 2);

    expect(() => page.grow(1)).toThrow(expect.objectContaining(refused) as Error);
    expect(() => memory.open(undefined, "open").grow(4_096)).not.toThrow();
  });
});
