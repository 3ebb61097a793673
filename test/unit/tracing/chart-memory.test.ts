// Memory of summaries and their loads: bounds of a project, and one load at a time.

import { describe, expect, test } from "vitest";
import { createLoads } from "../../../src/tracing/charts/summaries/loads.ts";
import { createShelves } from "../../../src/tracing/charts/summaries/shelves.ts";
import { createBook } from "../../../src/tracing/charts/summaries/summary.ts";

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
      ...[true, true, true],
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
      [false, true, true, true].map((isGood) => runLoad("a", () => isLoaded, load(isGood))),
    );

    expect(got.map((one) => (one.status === "fulfilled" ? one.value : "failed"))).toEqual([
      ...["failed", "read", "known", "known"],
    ]);
    expect({ most, loads }).toEqual({ most: 1, loads: 2 });
  });

  test("of another key do not wait", async () => {
    const runLoad = createLoads();
    const first = Promise.withResolvers<string>();
    const waiting = runLoad(
      "a",
      () => false,
      () => first.promise,
    );

    const other = await runLoad(
      "b",
      () => false,
      () => Promise.resolve("other"),
    );
    first.resolve("first");

    expect(other).toBe("other");
    expect(await waiting).toBe("first");
  });

  test("end with DEADLINE_EXCEEDED after the time of a chart", async () => {
    const runLoad = createLoads(0);
    const first = Promise.withResolvers<string>();
    const waiting = runLoad(
      "a",
      () => false,
      () => first.promise,
    );

    const late = runLoad(
      "a",
      () => false,
      () => Promise.resolve("second"),
    );

    await expect(late).rejects.toMatchObject({ reason: "DEADLINE_EXCEEDED" });
    first.resolve("first");
    expect(await waiting).toBe("first");
  });
});
