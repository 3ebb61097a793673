// Saved views: the address of the page as the API keeps it, and back. Pure.

import type { JsonObject } from "@bufbuild/protobuf";
import type { View } from "../../../../../gen/waggle/v1/view_pb.js";
import { type FilterRow, parseFilters, toMessage } from "../../design/filters.ts";
import { parseTimeRange } from "../../design/time-range.ts";
import type { TracesSearch } from "./search.ts";

/** Name of the page among the views of a project; one name for both of its lists. */
export const viewsPage = "traces";

/** Returns the state of a view that shows an address. */
export function toViewState({ tab, range, filters = [], q, kind, columns = [] }: TracesSearch) {
  const settings: JsonObject = {
    ...(tab !== undefined && { tab }),
    ...(q !== undefined && { q }),
    ...(kind !== undefined && { kind }),
    ...(range && "last" in range && { last: range.last }),
  };
  return {
    filters: filters.map(toMessage),
    columns: [...columns],
    settings,
    // Minutes have no word of their own there, so a moving range stands among the settings.
    ...(range && "from" in range && { dateRange: { gte: range.from, lte: range.to } }),
  };
}

/** Returns the address that shows a view. */
export function toSearch({ id, state }: View): TracesSearch {
  const settings = state?.settings ?? {};
  const { tab, q, kind, last } = settings;
  const { gte, lte, relative } = state?.dateRange ?? {};
  const isFixed = gte !== undefined && lte !== undefined;
  const range = parseTimeRange(
    isFixed ? { from: gte, to: lte } : { last: last ?? minutesOf(relative) },
  );
  const filters = parseFilters((state?.filters ?? []).map(fromMessage));
  const columns = state?.columns ?? [];
  return {
    view: id,
    ...(tab === "events" && { tab }),
    ...(range && { range }),
    ...(filters && { filters }),
    ...(typeof q === "string" && { q }),
    ...((kind === "model" || kind === "tool" || kind === "chain") && { kind }),
    ...(columns.length > 0 && { columns }),
  };
}

const unitMinutes: Readonly<Record<string, number>> = { h: 60, d: 1_440, w: 10_080, M: 43_200 };

/** Returns the minutes of a length of the API, such as `7d`. */
function minutesOf(relative: string | undefined): number | undefined {
  const [, count, unit] = /^(\d+)([hdwM])$/.exec(relative ?? "") ?? [];
  return unit === undefined ? undefined : Number(count) * (unitMinutes[unit] ?? 0);
}

type StoredFilter = NonNullable<View["state"]>["filters"][number];

function fromMessage({ field, operator, value, type }: StoredFilter): Partial<FilterRow> {
  const plain = value?.kind;
  const isScalar =
    plain?.case === "stringValue" || plain?.case === "numberValue" || plain?.case === "boolValue";
  return {
    field,
    operator: operator as FilterRow["operator"],
    ...(isScalar && { value: plain.value }),
    ...(type !== undefined && type !== "" && { type: type as NonNullable<FilterRow["type"]> }),
  };
}

/** Returns whether an address shows something else than the view that was applied. */
export function hasChanged(search: TracesSearch, view: View): boolean {
  return JSON.stringify(comparable(search)) !== JSON.stringify(comparable(toSearch(view)));
}

function comparable({ tab, range, filters, q, kind, columns }: TracesSearch) {
  return [tab, range, filters?.map(toMessage) ?? [], q, kind, columns ?? []];
}
