// A server's memory of the evaluators that run by themselves, with a clock and a list of the test's
// own.

import { describe, expect, test } from "vitest";
import type { ProjectId } from "../../../src/base/ids.ts";
import type { RoutedEvaluator } from "../../../src/evaluation/metrics/definition.ts";
import {
  createEnabledMemory,
  type EnabledOfProject,
  subjectOf,
} from "../../../src/access/enabled-memory.ts";

const [one, two] = ["p1", "p2"] as readonly string[] as [ProjectId, ProjectId];

function anEvaluator(projectId: ProjectId, text = "?"): RoutedEvaluator {
  const filters = { filterArray: [{ field: "source", operator: "is", value: text }] };
  return {
    evaluatorId: "e",
    projectId,
    version: 1,
    enablement: 0,
    readsGroundTruth: false,
    definition: { filters, sampling_percentage: 10 },
  };
}

/** Returns projects' evaluators, each project in an organization of its own. */
function enabledOf(projectId: ProjectId, text?: string): EnabledOfProject<RoutedEvaluator> {
  return { orgId: `org of ${projectId}`, enabled: [anEvaluator(projectId, text)] };
}

/** A memory of projects that each have one evaluator, and the questions that it asked. */
function createMemory(options: { readonly bytesMax?: number; readonly text?: string } = {}) {
  const asked: string[] = [];
  const clock = { nowMs: 0 };
  const memory = createEnabledMemory<RoutedEvaluator>({
    kind: "evaluators",
    ...options,
    ageMsMax: 60_000,
    now: () => clock.nowMs,
    async list(projectId) {
      asked.push(projectId);
      return enabledOf(projectId, options.text);
    },
  });
  return { memory, asked, clock };
}

describe("get", () => {
  test("asks once for many callers, and again when the answer is a minute old", async () => {
    const { memory, asked, clock } = createMemory();

    await Promise.all([memory.get(one), memory.get(one), memory.get(two)]);
    clock.nowMs = 59_999;
    await memory.get(one);
    const before = [...asked];
    clock.nowMs = 60_000;
    await memory.get(one);

    expect(before).toEqual([one, two]);
    expect(asked).toEqual([one, two, one]);
  });

  test("asks again after a failure", async () => {
    let isAway = true;
    const memory = createEnabledMemory<RoutedEvaluator>({
      kind: "evaluators",
      list: (projectId) =>
        isAway ? Promise.reject(new Error("away")) : Promise.resolve(enabledOf(projectId)),
    });

    await expect(memory.get(one)).rejects.toThrow("away");
    isAway = false;

    expect(await memory.get(one)).toHaveLength(1);
  });

  test("keeps no more than so many bytes, those used last", async () => {
    const { memory, asked } = createMemory({ bytesMax: 6_000, text: "x".repeat(1_000) });
    const third = "p3" as ProjectId;

    // Two fit.
    for (const id of [one, two, one, third, one, two]) await memory.get(id);

    expect(asked).toEqual([one, two, third, two]);
  });
});

describe("forget", () => {
  test.each([
    { subject: subjectOf("evaluators", one), want: [one, two, one] },
    { subject: "*", want: [one, two, one, two] },
    { subject: "providers:p1", want: [one, two] },
    { subject: "0".repeat(64), want: [one, two] },
  ])("of $subject has these asked for: $want", async ({ subject, want }) => {
    const { memory, asked } = createMemory();
    await memory.get(one);
    await memory.get(two);

    memory.forget(subject);
    await memory.get(one);
    await memory.get(two);

    expect(asked).toEqual(want);
  });

  test("believes no answer to a question that was asked before", async () => {
    const answers: ((enabled: EnabledOfProject<RoutedEvaluator>) => void)[] = [];
    const memory = createEnabledMemory<RoutedEvaluator>({
      kind: "evaluators",
      list: () => new Promise((resolve) => answers.push(resolve)),
    });
    const early = memory.get(one);
    memory.forget(subjectOf("evaluators", one));
    const late = memory.get(one);
    answers[1]?.(enabledOf(one));
    await late;
    answers[0]?.({ orgId: "o", enabled: [] });
    await early;

    expect(memory.mayHaveAny(one)).toBe(true);
    expect(await memory.get(one)).toHaveLength(1);
    expect(answers).toHaveLength(2);
  });
});

test("mayHaveAny has no more than 100 projects looked up at a time", () => {
  let asked = 0;
  const memory = createEnabledMemory<RoutedEvaluator>({
    kind: "evaluators",
    list: () => {
      asked += 1;
      return new Promise(() => undefined);
    },
  });

  const answers = Array.from({ length: 150 }, (_, n) => memory.mayHaveAny(`p${n}` as ProjectId));

  expect(new Set(answers)).toEqual(new Set([true]));
  expect(asked).toBe(100);
});
