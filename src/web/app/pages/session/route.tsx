// Address of a session: `/app/p/<project_id>/traces/<session_id>`, with the view, the chosen event
// and its tab, the search, and the filters of the list that led here, for the next session.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { type FilterRow, parseFilters } from "../../design/filters.ts";
import { parseTimeRange, type TimeRange } from "../../design/time-range.ts";
import { knownSearch, oneOf, type Parser, text } from "../../shell/known-search.ts";
import { projectRoute } from "../../shell/root-routes.tsx";
import type { TracesSearch } from "../traces/search.ts";
import type { FlameColor } from "./flame-layout.ts";

export type SessionView = "tree" | "flame" | "chat";
export type EventTab = "messages" | "data" | "scores" | "metadata" | "raw";

export type SessionSearch = {
  readonly view?: SessionView;
  /** Id of the chosen event; the session itself if absent. */
  readonly event?: string;
  readonly tab?: EventTab;
  /** Search text. */
  readonly q?: string;
  readonly color?: FlameColor;
  /** Id of the event that fills the flame graph. */
  readonly zoom?: string;
  readonly range?: TimeRange;
  readonly filters?: readonly FilterRow[];
  /** Search of the list that led here, for the way back; absent where range and filters say it. */
  readonly list?: TracesSearch;
};

export type SetSearch = (change: Partial<SessionSearch>) => void;

const views = ["tree", "flame", "chat"] as const;
const colors = ["time", "tokens", "cost"] as const;
const tabs = ["messages", "data", "scores", "metadata", "raw"] as const;

/** The page of the list reads the parts itself. */
const listSearch: Parser<TracesSearch> = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;

export const sessionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "traces/$sessionId",
  validateSearch: knownSearch<SessionSearch>({
    view: oneOf(views),
    event: text,
    tab: oneOf(tabs),
    q: text,
    color: oneOf(colors),
    zoom: text,
    range: parseTimeRange,
    filters: parseFilters,
    list: listSearch,
  }),
  component: lazyRouteComponent(() => import("./session-page.tsx"), "SessionPage"),
});
