// By what operators find workflows in Temporal.

import { describeActor } from "../../../src/base/actor.ts";
import { describe, expect, test } from "vitest";
import type { ProjectId } from "../../../src/base/ids.ts";
import { archiveEntry, backfillEntry, evaluateChunkEntry } from "../../../src/outbox/entry.ts";
import { searchAttributesOf } from "../../../src/workflows/search-attributes.ts";

const work = {
  projectId: "p1" as ProjectId,
  orgId: "o1",
  evaluatorId: "e1",
  actor: "ada@example.org",
  version: 3,
  enablement: 1,
};
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

    const attributes = searchAttributesOf({ orgId: "o1", scopeId: "s1", actor, input: {} });

    expect(attributes.map(({ key: { name }, value }) => [name, value])).toEqual([
      ["WaggleOrganization", "o1"],
      ["WaggleScope", "s1"],
      ["WaggleActor", "a".repeat(255)],
    ]);
  });
});

describe("the workflow of an evaluator", () => {
  test("is found by its project and by the evaluator", () => {
    const chunk = { ...work, chunkId: "c1", evaluatorName: "Length", events: 2 };

    const attributes = searchAttributesOf(evaluateChunkEntry(chunk));

    expect(attributes.map(({ key: { name }, value }) => [name, value])).toEqual([
      ["WaggleOrganization", "o1"],
      ["WaggleScope", "p1"],
      ["WaggleActor", "ada@example.org"],
      ["WaggleEvaluator", "e1"],
    ]);
  });

  test.each([
    { evaluatorName: "Answer Length", slug: "answer-length" },
    { evaluatorName: "is_polite? (v2)", slug: "is-polite-v2" },
    { evaluatorName: "長さ", slug: "evaluator" },
    { evaluatorName: `${"a".repeat(39)} b`, slug: "a".repeat(39) },
    { evaluatorName: "x".repeat(200), slug: "x".repeat(40) },
  ])("has an id that people can read: $slug", ({ evaluatorName, slug }) => {
    const chunk = evaluateChunkEntry({ ...work, chunkId: "c1", evaluatorName, events: 2 });
    const backfill = backfillEntry({ ...work, backfillId: "b1", evaluatorName, run: 2 });

    expect(chunk.workflowId).toBe(`evaluate-${slug}-v3-c1`);
    expect(backfill.workflowId).toBe(`backfill-${slug}-b1-2`);
  });
});
