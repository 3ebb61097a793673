// Who shares the memory of requests and answers.

import { describe, expect, test } from "vitest";
import type { Principal } from "../../../src/access/principal.ts";
import { anonymousBytesInFlightMax } from "../../../src/base/limits.ts";
import { createMemory } from "../../../src/transport/memory.ts";

const aKey = {
  kind: "ingestion",
  actor: { type: "key", id: "key", name: "key" },
  root: { level: "project", id: "project", name: "project" },
  grants: [],
  policy: [],
  mayCreateKeys: false,
  expiresAtMs: undefined,
} as const satisfies Principal;

const refused = { reason: "OVERLOADED" };

describe("createMemory", () => {
  test("leaves half of what callers without a key have to calls that anyone may make", () => {
    const memory = createMemory(400_000_000);
    const page = memory.open(undefined, "anonymous");
    page.grow(anonymousBytesInFlightMax / 2);

    expect(() => page.grow(1)).toThrow(expect.objectContaining(refused) as Error);
    expect(() => memory.open(undefined, "open").grow(4_096)).not.toThrow();
  });

  test("leaves a tenth to small requests, whoever holds the rest", () => {
    const memory = createMemory(400_000_000);
    const keyOf = (id: string): Principal => ({ ...aKey, root: { ...aKey.root, id, orgId: id } });
    for (const id of ["a", "b"]) memory.open(keyOf(id)).grow(180_000_000);
    const another = memory.open(keyOf("c"));

    another.grow(1_000_000);

    expect(() => another.grow(1)).toThrow(expect.objectContaining(refused) as Error);
  });
});
