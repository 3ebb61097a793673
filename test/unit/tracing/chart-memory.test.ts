// Memory of summaries and their loads: bounds of a project, and one load at a time.

import { describe, expect, test } from "vitest";
import { createByteBudget, createSharedBudget } from "../../../src/base/byte-budget.ts";
import { bytesInFlightMaxDefault, organizationShare } from "../../../src/base/limits.ts";
import { chartCellBytes, chartCellsMax, chartLoadsMax } from "../../../src/base/tenant-limits.ts";
import {
  cellsMaxOf,
  createLoadPlaces,
  holdIn,
} from "../../../src/tracing/charts/summaries/load-memory.ts";
import { createLoads } from "../../../src/tracing/charts/summaries/loads.ts";
import { createShelves } from "../../../src/tracing/charts/summaries/shelves.ts";
import { createBook } from "../../../src/tracing/charts/summaries/book.ts";

function book(bytes: number) {
  return { ...createBook(), bytes };
}

describe("shelves", () => {
  test("drop a project's oldest books and none of another project", () => {
    const shelves = createShelves({ process: 100_000, project: 20_000 });
    shelves.keep("b", "plan", book(9_000));

    for (let at = 0; at < 9; at += 1) shelves.keep("a", `plan ${at}`, book(5_000));

    const kept = Array.from({ length: 9 }, (_, at) => shelves.find("a", `plan ${at}`));
    expect(kept.map((one) => one !== undefined)).toEqual([
      ...Array.from({ length: 6 }, () => false),
      true,
      true,
      true,
    ]);
    expect(shelves.find("b", "plan")).toBeDefined();
  });

  test("measure a book again that has grown, and drop one that is too large", () => {
    const shelves = createShelves({ process: 100_000, project: 20_000 });
    const grown = book(1_000);
    shelves.keep("a", "grown", grown);
    shelves.keep("a", "other", book(9_000));

    grown.bytes = 12_000;
    shelves.keep("a", "grown", grown);
    expect(shelves.find("a", "other")).toBeUndefined();
    grown.bytes = 30_000;
    shelves.keep("a", "grown", grown);

    expect(shelves.find("a", "grown")).toBeUndefined();
  });

  test("drop the projects that were asked for longest ago", () => {
    const shelves = createShelves({ process: 50_000, project: 20_000 });

    for (const project of ["a", "b", "c", "d"]) shelves.keep(project, "plan", book(15_000));

    const kept = ["a", "b", "c", "d"].filter((project) => shelves.find(project, "plan"));
    expect(kept).toEqual(["c", "d"]);
  });
});

/** A load that no other load spares. */
const never = (key: string) => ({
  key,
  endsAtMs: performance.now() + 60_000,
  isLoaded: () => false,
});

describe("loads", () => {
  test("of one key run one after another until one has loaded", async () => {
    const runLoad = createLoads();
    let isLoaded = false;
    let running = 0;
    let most = 0;
    let loads = 0;
    const load = (isGood: boolean) => async () => {
      if (isLoaded) return "known";
      loads += 1;
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      if (!isGood) throw new Error("bad");
      isLoaded = true;
      return "read";
    };

    const got = await Promise.allSettled(
      [false, true, true, true].map((isGood) =>
        runLoad(
          { key: "a", endsAtMs: performance.now() + 60_000, isLoaded: () => isLoaded },
          load(isGood),
        ),
      ),
    );

    expect(got.map((one) => (one.status === "fulfilled" ? one.value : "failed"))).toEqual([
      "failed",
      "read",
      "known",
      "known",
    ]);
    expect({ most, loads }).toEqual({ most: 1, loads: 2 });
  });

  test("of another key do not wait", async () => {
    const runLoad = createLoads();
    const first = Promise.withResolvers<string>();
    const waiting = runLoad(never("a"), () => first.promise);

    const other = await runLoad(never("b"), () => Promise.resolve("other"));
    first.resolve("first");

    expect(other).toBe("other");
    expect(await waiting).toBe("first");
  });

  test("end with DEADLINE_EXCEEDED after the time of a chart", async () => {
    const runLoad = createLoads();
    const first = Promise.withResolvers<string>();
    const waiting = runLoad(never("a"), () => first.promise);

    const late = runLoad({ ...never("a"), endsAtMs: performance.now() }, () =>
      Promise.resolve("second"),
    );

    await expect(late).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED" });
    first.resolve("first");
    expect(await waiting).toBe("first");
  });
});

describe("a hold", () => {
  test("gives its own bytes back, and no others of the call", () => {
    const memory = createByteBudget(100).open();
    memory.grow(40);
    const hold = holdIn(memory);

    hold.grow(50);
    const full = memory.bytes();
    expect(() => hold.grow(20)).toThrow("more than 100 bytes");
    hold.giveBack(10);
    const less = memory.bytes();
    hold.release();
    hold.release();

    expect([full, less, memory.bytes()]).toEqual([90, 80, 40]);
  });

  test("of one project leaves another its room", () => {
    const budget = createSharedBudget(100, "charts");
    const of = (holder: string) => holdIn(budget.open([{ holder, part: 0.5 }]));
    of("a").grow(50);

    expect(() => of("a").grow(1)).toThrow("take more than 50 bytes");
    expect(() => of("b").grow(50)).not.toThrow();
  });

  test.each([
    { name: "of a large memory", bytes: 1e9, want: 1_500_000 },
    { name: "of a small memory", bytes: 1e7, want: 100_000 },
  ])("$name holds $want cells", ({ bytes, want }) => {
    expect(cellsMaxOf(createByteBudget(bytes).open())).toBe(want);
  });
});

test("many cells take one of a few places, of which other projects keep some", async () => {
  const places = createLoadPlaces();
  const enter = (projectId: string, cells: number, signal?: AbortSignal) =>
    places.enter({ projectId, organization: `org of ${projectId}`, signal }, cells);
  const leaving = new AbortController();

  const leave = await enter("a", 1_000_000);
  await enter("a", 1_000_000);
  const third = enter("a", 1_000_000);
  const fourth = enter("a", 1_000_000, leaving.signal);
  await enter("a", 100_000);
  await enter("b", 1_000_000);
  leaving.abort(new Error("gone"));
  await expect(fourth).rejects.toThrow("gone");
  leave();

  await expect(third).resolves.toBeTypeOf("function");
});

test("the first charts that are read at once leave room for other calls of people", () => {
  const reserved = chartLoadsMax * chartCellsMax * chartCellBytes;

  expect(reserved).toBeLessThan(bytesInFlightMaxDefault * organizationShare);
});
