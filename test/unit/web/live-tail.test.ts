// A followed list: where rows that come in stand, and how many are kept.

import { describe, expect, test } from "vitest";
import {
  advanceTail,
  emptyTail,
  followedRowsMax,
  joinTail,
  showWaiting,
  type Tail,
} from "../../../src/web/app/pages/traces/live-tail.ts";

type Row = { readonly id: string; readonly state?: string };

const idOf = ({ id }: Row): string => id;
const rows = (...ids: readonly string[]): readonly Row[] => ids.map((id) => ({ id }));
const none: Tail<Row> = emptyTail;

function advance(tail: Tail<Row>, page: readonly Row[], isAtTop: boolean): Tail<Row> {
  return advanceTail(tail, { page, idOf, known: new Set(["a", "b"]), isAtTop, hasMore: true });
}

const shown = (tail: Tail<Row>) => joinTail(tail, rows("b", "a"), { idOf, isFollowed: true });

describe("advanceTail", () => {
  test("puts new rows above the others while the reader is at the top", () => {
    const tail = advance(advance(none, rows("c", "b", "a"), true), rows("d", "c", "b"), true);

    expect(shown(tail).map(idOf)).toEqual(["d", "c", "b", "a"]);
  });

  test("keeps new rows waiting while the reader is further down", () => {
    const tail = advance(none, rows("d", "c", "b"), false);

    expect(shown(tail).map(idOf)).toEqual(["b", "a"]);
    expect(tail.waiting.map(idOf)).toEqual(["d", "c"]);
    expect(shown(showWaiting(tail)).map(idOf)).toEqual(["d", "c", "b", "a"]);
  });

  test("knows of a gap when a page has none of the rows before it", () => {
    const tail = advance(none, rows("d", "c", "b"), false);

    expect(tail.hasGap).toBe(false);
    expect(advance(tail, rows("f", "e", "d"), false).hasGap).toBe(false);
    expect(advance(tail, rows("h", "g", "f"), false).hasGap).toBe(true);
  });

  test("shows the newest form of rows that are there", () => {
    const tail = advance(none, [{ id: "b", state: "ended" }], true);

    expect(shown(tail)).toEqual([{ id: "b", state: "ended" }, { id: "a" }]);
  });

  test("keeps no more rows than its bound, and counts the others", () => {
    let tail = none;
    for (let index = 0; index < followedRowsMax + 50; index += 1) {
      tail = advance(tail, rows(`n${index}`), false);
    }

    expect(tail.waiting.length).toBe(followedRowsMax);
    expect(tail.waitingMore).toBe(50);
    expect(shown(showWaiting(tail)).length).toBe(followedRowsMax);
  });
});
