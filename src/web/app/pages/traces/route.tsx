// Address of the traces: `/app/p/<project_id>/traces`, with everything that says what is shown.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { parseFilters } from "../../design/filters.ts";
import { parseTimeRange } from "../../design/time-range.ts";
import { projectRoute } from "../../shell/root-routes.tsx";
import type { TracesSearch } from "./search.ts";

const kinds = ["model", "tool", "chain"] as const;

export const tracesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "traces",
  validateSearch: (search: Record<string, unknown>): TracesSearch => ({
    ...(search["tab"] === "events" && { tab: "events" }),
    ...parseTimeRange(search),
    ...parseFilters(search),
    ...parseRest(search),
    ...(search["live"] === true && { live: true }),
  }),
  component: lazyRouteComponent(() => import("./traces-page.tsx"), "TracesPage"),
});

const wordsMax = 256;

function parseRest({ q, kind, columns, view }: Record<string, unknown>): TracesSearch {
  const one = kinds.find((known) => known === kind);
  const words = typeof q === "string" || typeof q === "number" ? String(q).slice(0, wordsMax) : "";
  const names = Array.isArray(columns)
    ? columns.filter((name): name is string => typeof name === "string")
    : [];
  return {
    ...(words !== "" && { q: words }),
    ...(one !== undefined && { kind: one }),
    ...(names.length > 0 && { columns: names }),
    ...(typeof view === "string" && { view }),
  };
}
