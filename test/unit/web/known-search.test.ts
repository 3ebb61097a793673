// Search parameters of another form: they count as absent, and their names are told.

import { expect, test } from "vitest";
import { parseFilters } from "../../../src/web/app/design/filters.ts";
import { parseTimeRange } from "../../../src/web/app/design/time-range.ts";
import {
  flag,
  knownSearch,
  oneOf,
  ordinal,
  text,
  unreadNames,
} from "../../../src/web/app/shell/known-search.ts";

type Search = {
  readonly tab?: "a" | "b";
  readonly q?: string;
  readonly page?: number;
  readonly live?: boolean;
};

const read = knownSearch<Search>({ tab: oneOf(["a", "b"]), q: text, page: ordinal, live: flag });

test("parameters of their form are read, and others are left alone", () => {
  expect(read({ tab: "b", q: 12, page: 2, live: true, other: "x" })).toEqual({
    tab: "b",
    q: "12",
    page: 2,
    live: true,
  });
});

test("a parameter of another form stands as undefined over the raw one", () => {
  const raw = { tab: "c", q: {}, page: -1, live: "yes" };

  expect({ ...raw, ...read(raw) }).toStrictEqual({
    tab: undefined,
    q: undefined,
    page: undefined,
    live: undefined,
  });
  expect(unreadNames(raw, read(raw))).toEqual(["tab", "q", "page", "live"]);
});

test("an empty parameter needs no word, and a list that was read in part does", () => {
  expect(unreadNames({ q: "", other: 1 }, { q: undefined })).toEqual([]);
  expect(unreadNames({ filters: [1, 2] }, { filters: [1] })).toEqual(["filters"]);
});

test.each([1, "garbage", null, {}, { last: -1 }, { last: 1e300 }, { from: 2, to: 1 }, { from: 1 }])(
  "%j is no range",
  (range) => {
    expect(parseTimeRange(range)).toBeUndefined();
  },
);

test("filters of another form are left out", () => {
  const good = { field: "event_name", operator: "is", value: "x" };
  const bad = [{ ...good, value: {} }, { ...good, type: "list" }, { field: "event_name" }, 1];

  expect(parseFilters([...bad, good])).toEqual([good]);
  expect(parseFilters(bad)).toBeUndefined();
  expect(parseFilters("garbage")).toBeUndefined();
});
