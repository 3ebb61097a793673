// Address of the traces: `/app/p/<project_id>/traces`, with the list's state.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { parseFilters } from "../../design/filters.ts";
import { parseTimeRange } from "../../design/time-range.ts";
import { flag, knownSearch, oneOf, type Parser, text } from "../../shell/known-search.ts";
import { projectRoute } from "../../shell/root-routes.tsx";
import type { TracesSearch } from "./search.ts";

const wordsMax = 256;

const names: Parser<readonly string[]> = (value) => {
  const found = Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
  return found.length > 0 ? found : undefined;
};

export const tracesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "traces",
  validateSearch: knownSearch<TracesSearch>({
    tab: oneOf(["sessions", "events"]),
    range: parseTimeRange,
    filters: parseFilters,
    q: (value) => text(value)?.slice(0, wordsMax),
    kind: oneOf(["model", "tool", "chain"]),
    columns: names,
    live: flag,
    view: text,
  }),
  component: lazyRouteComponent(() => import("./traces-page.tsx"), "TracesPage"),
});
