// docs/capacity.md against the code: its table of machines is what the measured costs on the same
// page give.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type EventCosts, sizeFor } from "../bench/sizing.ts";

const page = readFileSync(new URL("../../docs/capacity.md", import.meta.url), "utf8");

function cellsOf(line: string): readonly string[] {
  return line.split("|").map((cell) => cell.trim());
}

/** Returns the costs of a load, from the row of the page that begins with its name. */
function costsOf(load: string): EventCosts {
  const line = page.split("\n").find((one) => one.startsWith(`| ${load} `)) ?? "";
  const numbers = cellsOf(line).map((cell) => Number(cell.replaceAll(",", "")));
  const [, , , serviceUs = NaN, postgresUs = NaN, , logBytes = NaN, tableBytes = NaN] = numbers;
  return { serviceUs, postgresUs, logBytes, tableBytes };
}

test("the machines on the page are those of its costs, each weighted by how events come", () => {
  const table = sizeFor(costsOf("single"), costsOf("batches of 100"));

  const rows = table.split("\n").filter((line) => line.includes("/s "));
  const lines = page.split("\n").map((line) => cellsOf(line).join("|"));
  expect(rows).toHaveLength(5);
  expect(rows.map((row) => cellsOf(row).join("|")).filter((row) => !lines.includes(row))).toEqual(
    [],
  );
});

test("a cost of single events alone makes a difference", () => {
  const [single, batch] = [costsOf("single"), costsOf("batches of 100")];

  for (const name of ["serviceUs", "postgresUs", "logBytes", "tableBytes"] as const) {
    const dearer = { ...single, [name]: single[name] * 10 };
    expect(sizeFor(dearer, batch)).not.toBe(sizeFor(single, batch));
  }
});
