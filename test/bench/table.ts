// Tables of results, and the data needed to judge the numbers: machine, commit, load.

import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";

type Cell = string | number;

/** Returns a Markdown table with aligned columns; numbers are right-aligned. */
export function formatTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map(formatCell));
  const widths = head.map((name, column) =>
    Math.max(name.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[], fill = " ") =>
    `| ${cells.map((cell, i) => pad(cell, widths[i] ?? 0, i > 0, fill)).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column > 0 ? `${"-".repeat(width - 1)}:` : "-".repeat(width),
  );
  return [line(head), line(rule), ...texts.map((row) => line(row))].join("\n");
}

function pad(text: string, width: number, isRight: boolean, fill: string): string {
  return isRight ? text.padStart(width, fill) : text.padEnd(width, fill);
}

function formatCell(cell: Cell): string {
  if (typeof cell === "string") return cell;
  if (Math.abs(cell) >= 100) return Math.round(cell).toLocaleString("en-US");
  return String(Number(cell.toPrecision(3)));
}

/** Returns the median: for an even number of values, the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const high = sorted[Math.floor(middle)] ?? NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? NaN) + high) / 2 : high;
}

/** Returns the value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? NaN;
}

/** Prints whether a figure keeps its aim; the report of `npm run proof` lists those that do not. */
export function printAim(figure: string, isMet: boolean): void {
  console.log(`${isMet ? "aim met: " : missedMark}${figure}`);
}

/** Beginning of the line about a figure that misses its aim. */
export const missedMark = "aim missed: ";

/** Returns one line with the machine, commit and load of the measurement. */
export function describeMachine(): string {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"]).toString().trim();
  const changes = execFileSync("git", ["status", "--porcelain", "--", "src"]).toString().trim();
  const [cpu] = cpus();
  const load = loadavg().map((value) => value.toFixed(1));
  return (
    `${cpus().length} × ${cpu?.model.trim() ?? "?"}, Node ${process.version}, commit ${commit}` +
    `${changes === "" ? "" : " with changes"}, load before ${load.join(" ")}`
  );
}
