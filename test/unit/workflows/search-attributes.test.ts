// By what operators find workflows in Temporal.

import { describe, expect, test } from "vitest";
import { describeActor } from "../../../src/access/principal.ts";
import { archiveEntry } from "../../../src/outbox/entry.ts";
import { searchAttributesOf } from "../../../src/workflows/search-attributes.ts";

const key = { type: "key", id: "k1", name: "ci" } as const;

describe("the actor of a workflow", () => {
  test("is written alike for archives and revocations, and tells keys of one name apart", () => {
    const ids = { id: "p1", orgId: "o1" };

    const entry = archiveEntry({ level: "project", name: "p", ...ids, actor: key, changeId: 1 });

    // As access/keys writes it for a revocation.
    expect(entry.actor).toBe(describeActor(key));
    expect(entry.actor).toContain(key.id);
  });

  test("is cut to what every Temporal lists", () => {
    const actor = "a".repeat(300);

    const attributes = searchAttributesOf({ orgId: "o1", scopeId: "s1", actor });

    expect(attributes.map(({ key: { name }, value }) => [name, value])).toEqual([
      ["WaggleOrganization", "o1"],
      ["WaggleScope", "s1"],
      ["WaggleActor", "a".repeat(255)],
    ]);
  });
});
