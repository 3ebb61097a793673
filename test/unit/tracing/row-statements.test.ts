// Rows of a commit as statements of bounded length.

import { describe, expect, test } from "vitest";
import { createPacer } from "../../../src/base/pacer.ts";
import {
  type Row,
  toOneStatement,
  toStatements,
} from "../../../src/tracing/events/row-statements.ts";

function aRow(event_id: string, length = 0): Row {
  return { project_id: "p", event_id, inputs: { text: "x".repeat(length) } };
}

async function read(rows: readonly Row[], rowLengthMax = 50_000_000) {
  const tooLong: string[] = [];
  const statements = [];
  const onTooLong = ({ event_id }: Row): unknown => tooLong.push(event_id);
  const options = { pacer: createPacer(), rowLengthMax, onTooLong };
  for await (const { text, rows: taken } of toStatements(rows, options)) {
    expect(JSON.parse(text)).toEqual(taken);
    statements.push({ length: text.length, ids: taken.map((row) => row.event_id) });
  }
  return { statements, tooLong };
}

const idOf = (index: number): string => String(index).padStart(6, "0");

describe("statements", () => {
  test("of few rows are one, in the order they came", async () => {
    const { statements } = await read([aRow("b"), aRow("a")]);

    expect(statements.map(({ ids }) => ids)).toEqual([["b", "a"]]);
  });

  test("of none are none", async () => {
    expect((await read([])).statements).toEqual([]);
  });

  test("of many rows come in the order of their keys", async () => {
    const ids = Array.from({ length: 4_500 }, (_, index) => idOf(index));

    const { statements } = await read(ids.toReversed().map((id) => aRow(id)));

    expect(statements.map((one) => one.ids.length)).toEqual([2_000, 2_000, 500]);
    expect(statements.flatMap((one) => one.ids)).toEqual(ids);
  });

  test("end before they are longer than 16 MB, and come in order too", async () => {
    const ids = Array.from({ length: 9 }, (_, index) => idOf(index));

    const { statements } = await read(ids.toReversed().map((id) => aRow(id, 5_000_000)));

    expect(statements.map((one) => one.ids.length)).toEqual([3, 3, 3]);
    expect(statements.flatMap((one) => one.ids)).toEqual(ids);
    expect(Math.max(...statements.map(({ length }) => length))).toBeLessThan(16_000_000);
  });

  test("have a longer row alone", async () => {
    const { statements } = await read([aRow("a"), aRow("b", 20_000_000), aRow("c")]);

    expect(statements.map(({ ids }) => ids)).toEqual([["a"], ["b"], ["c"]]);
  });

  test("leave out what is too long, and tell of it", async () => {
    const rows = [aRow("a"), aRow("b", 2_000), aRow("c"), aRow("d", 3_000)];

    const { statements, tooLong } = await read(rows, 1_000);
    const none = await read([aRow("b", 2_000)], 1_000);

    expect(statements.map(({ ids }) => ids)).toEqual([["a", "c"]]);
    expect(tooLong).toEqual(["b", "d"]);
    expect(none).toEqual({ statements: [], tooLong: ["b"] });
  });
});

describe("toOneStatement", () => {
  test("writes cells as one JSON text, escaped for Postgres", async () => {
    const rows = [
      ["p", "a", null, { text: "x\0" }],
      ["p", "\ud800", 1.5, {}],
    ];

    expect(await toOneStatement(rows, createPacer())).toBe(
      '[["p","a",null,{"text":"x\uE0000000"}],["p","\uE000d800",1.5,{}]]',
    );
  });

  test.each([
    { name: "many rows", rows: Array.from({ length: 2_001 }, () => ["p", "a"]) },
    { name: "long rows", rows: [["p", "x".repeat(16_000_000)]] },
  ])("returns undefined for $name", async ({ rows }) => {
    expect(await toOneStatement(rows, createPacer())).toBeUndefined();
  });
});
