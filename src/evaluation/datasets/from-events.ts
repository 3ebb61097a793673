// Events that become datapoints: those that a person checked, or all that match filters.
// Source: the published clients of this API; docs/datasets.md.

import { refuse } from "../../base/errors.ts";
import { datapointsOfCallMax } from "../../base/tenant-limits.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { isRecordId } from "../../base/ids.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import { type Bounds, parseBounds } from "../../tracing/export/instant.ts";
import type { EventPlace, Selection } from "../../tracing/selection/selection.ts";
import type { Tracing } from "../../tracing/tracing.ts";
import type { DatapointContent } from "./datapoint.ts";
import { type Mapping, mapEvent } from "./mapping.ts";

export type EventChoice = Bounds & {
  readonly eventIds: readonly string[];
  /** Whether each event is checked, by its id. */
  readonly checked: Readonly<Record<string, boolean>>;
  /** Takes every event that matches, except the unchecked ones. */
  readonly isAll: boolean;
  readonly filters: readonly FilterInput[];
  readonly mapping: Mapping | undefined;
};

/** Events that one look at the project finds. */
const pageLimit = 1_000;

/**
 * Returns the contents of the chosen events. Throws INVALID_ARGUMENT if one does not exist or they
 * are too many for one call.
 */
export async function eventsToContents(
  { selection, exports }: Pick<Tracing, "selection" | "exports">,
  project: ProjectScope,
  choice: EventChoice,
): Promise<readonly DatapointContent[]> {
  if (choice.isAll) await exports.checkFilters(project.projectId, choice.filters);
  const ids = choice.isAll ? await findAll(selection, project, choice) : chosenIds(choice);
  if (ids.length === 0) {
    refuse("events", choice.isAll ? "no event matches" : "must name at least one event");
  }
  const contents: DatapointContent[] = [];
  for (let from = 0; from < ids.length;) {
    const { events, read } = await selection.read(project.projectId, ids.slice(from));
    if (!choice.isAll && events.length < read) refuseAbsent(ids.slice(from, from + read), events);
    contents.push(...events.map((event) => mapEvent(event, choice.mapping)));
    from += read;
  }
  return contents;
}

function chosenIds({ eventIds, checked }: EventChoice): readonly string[] {
  const isUnchecked = (id: string): boolean => Object.hasOwn(checked, id) && !checked[id];
  const named = Object.keys(checked).filter((id) => checked[id]);
  const ids = [...new Set([...eventIds, ...named])].filter((id) => !isUnchecked(id));
  assertFew(ids.length);
  ids.forEach((id) => {
    if (!isRecordId(id)) refuse("events", "each id must be 1 to 128 printable characters");
  });
  return ids;
}

async function findAll(
  selection: Pick<Selection, "page">,
  { projectId }: ProjectScope,
  choice: EventChoice,
): Promise<readonly string[]> {
  const { filters, checked } = choice;
  const search = { filters, ...parseBounds(choice) };
  const ids: string[] = [];
  let after: EventPlace | undefined;
  do {
    const page = await selection.page(projectId, search, { after, limit: pageLimit });
    const taken = page.places.filter(({ eventId }) => checked[eventId] !== false);
    ids.push(...taken.map(({ eventId }) => eventId));
    assertFew(ids.length);
    after = page.next;
  } while (after);
  return ids;
}

function assertFew(count: number): void {
  if (count <= datapointsOfCallMax) return;
  refuse("events", `more than ${datapointsOfCallMax} events; narrow the filters or the dates`);
}

function refuseAbsent(
  ids: readonly string[],
  events: readonly { readonly event_id: string }[],
): never {
  const found = new Set(events.map((event) => event.event_id));
  const absent = ids.find((id) => !found.has(id)) ?? "";
  return refuse("events", `the project has no event ${absent}`);
}
