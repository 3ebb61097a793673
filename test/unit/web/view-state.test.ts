// Saved views as addresses of the page.

import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ViewSchema } from "../../../gen/waggle/v1/view_pb.js";
import { formatRange } from "../../../src/web/app/design/time-range.ts";
import { toSearch } from "../../../src/web/app/pages/traces/view-state.ts";

test.each([
  ["6h", 360],
  ["7d", 10_080],
  ["2w", 20_160],
  ["1M", 43_200],
])("a view of the API over %s shows the last %d minutes", (relative, last) => {
  const view = create(ViewSchema, { id: "one", state: { dateRange: { relative } } });

  expect(toSearch(view).range).toEqual({ last });
});

test("a range of an earlier year says the year", () => {
  const [from, to] = [new Date(2024, 0, 1).getTime(), new Date(2024, 0, 2).getTime()];

  expect(formatRange({ from, to })).toContain("2024");
});
