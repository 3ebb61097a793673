// The order in which the palette shows the commands that have the typed words.

import { expect, test } from "vitest";
import type { Command } from "../../../src/web/app/shell/commands.ts";
import { rankCommands } from "../../../src/web/app/shell/rank-commands.ts";

const command = (id: string, title: string, more: Partial<Command> = {}): Command => ({
  id,
  title,
  ...more,
  run: () => undefined,
});

const commands = [
  command("traces.range", "Choose the time range"),
  command("traces.search", "Search text"),
  command("session.copy", "Copy link"),
  command("charts.create", "Create a chart"),
  command("charts.save", "Charts as a file"),
  command("go.charts", "Charts", { group: "Go to" }),
  command("go.reference", "API reference and docs", { group: "Go to", words: "openapi help" }),
];

const titles = (typed: string): readonly string[] =>
  rankCommands(commands, typed).map(({ title }) => title);

test("The very title comes first, whatever stands before it", () => {
  expect(titles("charts").slice(0, 2)).toEqual(["Charts", "Charts as a file"]);
  expect(titles(" CHARTS ")[0]).toBe("Charts");
});

test("A title that begins with the words comes before one with a word that does", () => {
  expect(titles("chart").slice(0, 3).toSorted()).toEqual([
    "Charts",
    "Charts as a file",
    "Create a chart",
  ]);
  expect(titles("chart")[2]).toBe("Create a chart");
});

test("A command is found by its other words, and one without the letters is not", () => {
  expect(titles("openapi")).toEqual(["API reference and docs"]);
  expect(titles("zzz")).toEqual([]);
});
