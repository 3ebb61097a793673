// Summaries of events: each is read once for each version, in chunks, and no event waits for ever.

import { expect, test } from "vitest";
import { Summaries } from "../../../src/web/app/pages/traces/summaries.ts";

const project = "p";
const { signal } = new AbortController();

const wanted = (ids: readonly string[], version = "1") => ids.map((id) => ({ id, version }));
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `e${index}`);

function givenSummaries() {
  const calls: (readonly string[])[] = [];
  const summaries = new Summaries((_, ids) => {
    calls.push(ids);
    if (ids.includes("refused")) return Promise.reject(new Error("refused"));
    const present = ids.filter((id) => id !== "absent");
    return Promise.resolve(
      new Map(present.map((id) => [id, { question: id, answer: String(calls.length) }])),
    );
  }, 100);
  return { calls, summaries };
}

test("reads a hundred events a call, and each event once", async () => {
  const { calls, summaries } = givenSummaries();

  await Promise.all([
    summaries.want(project, wanted(numbered(250)), signal),
    summaries.want(project, wanted(numbered(100)), signal),
  ]);
  await summaries.want(project, wanted(numbered(250)), signal);

  expect(calls.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(summaries.get(project, "e249")?.question).toBe("e249");
});

test("shows the old summary until that of a new version is there", async () => {
  const { calls, summaries } = givenSummaries();
  await summaries.want(project, wanted(["a"]), signal);

  const second = summaries.want(project, wanted(["a"], "2"), signal);

  expect(summaries.get(project, "a")?.answer).toBe("1");
  await second;
  expect(summaries.get(project, "a")?.answer).toBe("2");
  expect(calls).toEqual([["a"], ["a"]]);
});

test("lets no event wait that is absent or could not be read", async () => {
  const { calls, summaries } = givenSummaries();

  await summaries.want(project, wanted(["a", "absent"]), signal);
  await summaries.want(project, wanted(["refused"]), signal);

  expect(summaries.get(project, "absent")).toBeNull();
  expect(summaries.get(project, "refused")).toBeNull();
  await summaries.want(project, wanted(["refused"], "2"), signal);
  expect(calls.length).toBe(3);
});

test("begins no further call for a list that was left, and goes on for the next", async () => {
  const { calls, summaries } = givenSummaries();
  const leaving = new AbortController();
  const first = summaries.want(project, wanted(numbered(250)), leaving.signal);

  leaving.abort();
  await first;
  expect(calls.length).toBe(1);

  await summaries.want(project, wanted(numbered(250)), signal);
  expect(calls.map(({ length }) => length)).toEqual([100, 100, 50]);
});

test("lets the oldest go, but none that is wanted", async () => {
  const { summaries } = givenSummaries();
  await summaries.want(project, wanted(["old"]), signal);
  const many = numbered(6_000);

  await summaries.want(project, wanted(many), signal);
  await summaries.want(project, wanted(many), signal);

  expect(summaries.get(project, "old")).toBeUndefined();
  expect(many.filter((id) => summaries.get(project, id) === undefined)).toEqual([]);
});

test("tells its listeners of each chunk", async () => {
  const { summaries } = givenSummaries();
  let count = 0;
  const stop = summaries.subscribe(() => (count += 1));

  await summaries.want(project, wanted(numbered(150)), signal);
  expect(count).toBe(2);
  expect(summaries.getRevision()).toBe(2);

  stop();
  await summaries.want(project, wanted(["b"]), signal);
  expect(count).toBe(2);
});
