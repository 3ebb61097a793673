// Address of a session: `/app/p/<project_id>/traces/<session_id>`, with the view, the chosen event
// and its tab, the search, and the filters of the list that led here, for the next session.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { type FilterRow, parseFilters } from "../../design/filters.ts";
import { parseTimeRange, type TimeRange } from "../../design/time-range.ts";
import { projectRoute } from "../../shell/root-routes.tsx";
import type { FlameColor } from "./flame-layout.ts";

export type SessionView = "tree" | "flame" | "chat";
export type EventTab = "messages" | "data" | "scores" | "metadata" | "raw";

export type SessionSearch = {
  readonly view?: SessionView;
  /** Id of the chosen event; the session itself if absent. */
  readonly event?: string;
  readonly tab?: EventTab;
  /** Text that is searched for. */
  readonly q?: string;
  readonly color?: FlameColor;
  /** Id of the event that fills the flame graph. */
  readonly zoom?: string;
  readonly range?: TimeRange;
  readonly filters?: readonly FilterRow[];
};

const views = ["tree", "flame", "chat"] as const;
const colors = ["time", "tokens", "cost"] as const;
const tabs = ["messages", "data", "scores", "metadata", "raw"] as const;

export const sessionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "traces/$sessionId",
  validateSearch: (search: Record<string, unknown>): SessionSearch => ({
    ...oneOf("view", views, search),
    ...textOf("event", search),
    ...oneOf("tab", tabs, search),
    ...textOf("q", search),
    ...oneOf("color", colors, search),
    ...textOf("zoom", search),
    ...parseTimeRange(search),
    ...parseFilters(search),
  }),
  component: lazyRouteComponent(() => import("./session-page.tsx"), "SessionPage"),
});

function oneOf<K extends string, V extends string>(
  key: K,
  values: readonly V[],
  search: Record<string, unknown>,
): { [P in K]?: V } {
  const found = values.find((value) => value === search[key]);
  return found === undefined ? {} : ({ [key]: found } as { [P in K]?: V });
}

/** An id or a text; the router reads one of digits alone as a number. */
function textOf<K extends string>(key: K, search: Record<string, unknown>): { [P in K]?: string } {
  const value = search[key];
  const isText = (typeof value === "string" && value !== "") || typeof value === "number";
  return isText ? ({ [key]: String(value) } as { [P in K]?: string }) : {};
}
