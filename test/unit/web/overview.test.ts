// The overview of the charts: which scores have a tile, and where.

import { describe, expect, test } from "vitest";
import { averagedScores, overviewOf } from "../../../src/web/app/pages/charts/overview.ts";

const scoreOf = (name: string, type = "decimal") => ({
  name: `metrics.${name}`,
  type,
  hint: "model",
});

describe("averagedScores", () => {
  test("leaves out texts and other fields", () => {
    const fields = [
      scoreOf("tone", "string"),
      scoreOf("passed", "boolean"),
      { name: "metadata.cost", type: "decimal", hint: "model" },
      scoreOf("depth", "integer"),
    ];

    const names = averagedScores(fields).map(({ name }) => name);

    expect(names).toEqual(["metrics.depth", "metrics.passed"]);
  });
});

describe("overviewOf", () => {
  test("places no tile on another", () => {
    const tiles = overviewOf(Array.from({ length: 9 }, (_, at) => scoreOf(`s${at}`)));

    const cells = tiles.flatMap(({ x, y, w, h }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(tiles.filter(({ name }) => name.startsWith("Average of")).length).toBe(6);
  });
});
