// Saved views of a project: filters, dates, columns and order of a page, under a name, for one
// person or for all readers of the project. Source: docs/decisions.md, 57.1.

import type { ChangeParts, Whose } from "../../access/change.ts";
import {
  createProjectResource,
  type ProjectResource,
  type Put,
} from "../../access/project-resource.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { assertName, assertText } from "../../base/assert-text.ts";
import { refuse } from "../../base/errors.ts";
import { viewFieldLengthMax, viewNameLengthMax } from "../../base/field-limits.ts";
import { isUuid } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import {
  viewColumnsMax,
  viewSettingsBytesMax,
  viewsOfOwnerMax,
  viewsOfProjectMax,
} from "../../base/tenant-limits.ts";
import type { Sql } from "../../postgres/database.ts";
import { type GivenRange, parseRange } from "../charts/stored-charts.ts";
import type { FilterInput } from "../export/filter.ts";
import { parseStoredFilters } from "../export/stored-filters.ts";
import * as store from "./store.ts";
import type { NewView, View, ViewSort, ViewState } from "./store.ts";

export type { View } from "./store.ts";

/** Fields of a request; undefined means omitted. */
export type ViewFields = {
  readonly name?: string | undefined;
  readonly page?: string | undefined;
  readonly isShared?: boolean | undefined;
  readonly state?: GivenState | undefined;
};

export type GivenState = {
  readonly filters: readonly FilterInput[];
  readonly range: GivenRange | undefined;
  readonly columns: readonly string[];
  readonly sort: ViewSort | undefined;
  readonly settings: JsonObject | undefined;
};

/**
 * A personal view is absent to every actor but its owner. Changes also throw INVALID_FILTER naming
 * the field.
 */
export type Views = ProjectResource<View, ViewFields> & {
  /** Returns the shared views and the actor's own, by name; of one page if it is given. */
  list(viewer: Omit<Whose, "id">, page: string | undefined): Promise<readonly View[]>;
};

export function createViews(parts: ChangeParts): Views {
  const resource = createProjectResource<View, NewView, ViewFields>(parts, {
    type: "view",
    rows: store.viewRows,
    async find(sql, { project, id, actor }) {
      const [row] = isUuid(id) ? await store.listViews(sql, project.projectId, { actor, id }) : [];
      return row;
    },
    toRow,
    put,
    stateOf,
  });
  return {
    ...resource,
    list: async ({ project: { projectId }, actor }, page) => {
      // No view is on any other page, and Postgres would refuse a NUL.
      if (page !== undefined && !pagePattern.test(page)) return [];
      return parts.database.readInTurn(projectId, (sql) =>
        store.listViews(sql, projectId, { actor, page }),
      );
    },
  };
}

/** Stores a view within the limits of its project and its owner. */
async function put(
  sql: Sql,
  { project: { projectId } }: Whose,
  { row }: Put<NewView>,
): Promise<void> {
  await store.putView(sql, projectId, row);
  const counts = await store.countViews(sql, projectId, ownerOf(row));
  if (row.isShared && counts.shared > viewsOfProjectMax) {
    refuse("shared", `a project has at most ${viewsOfProjectMax} shared views`);
  }
  if (counts.own > viewsOfOwnerMax) {
    refuse("name", `an owner has at most ${viewsOfOwnerMax} views; delete one first`);
  }
}

/** Returns whether an actor owns a view. */
export function isOwn(view: Pick<View, "ownerType" | "ownerId">, actor: Actor): boolean {
  return view.ownerType === actor.type && view.ownerId === actor.id;
}

function ownerOf({ ownerType, ownerId }: NewView): Pick<Actor, "type" | "id"> {
  return { type: ownerType, id: ownerId };
}

function stateOf({ name, page, isShared, state }: NewView): Readonly<Record<string, unknown>> {
  return { name, page, isShared, ...state };
}

type Owner = Pick<NewView, "id" | "ownerType" | "ownerId" | "ownerName">;

const pagePattern = /^[a-z][a-z0-9_-]{0,63}$/;

function toRow(fields: ViewFields, { id, actor }: Whose, before: View | undefined): NewView {
  if (!before) {
    const { type: ownerType, id: ownerId } = actor;
    return toView(fields, { id, ownerType, ownerId, ownerName: describeActor(actor) });
  }
  const after = toView(fields, before);
  if (before.isShared && !after.isShared && !isOwn(before, actor)) {
    refuse("shared", "only the owner of a view may take it from the others");
  }
  return after;
}

/** Returns the view that a request asks for, on top of the view before. */
function toView(fields: ViewFields, before: Owner & Partial<NewView>): NewView {
  const { name = before.name ?? "", page = before.page ?? "" } = fields;
  const { id, ownerType, ownerId, ownerName } = before;
  if (name !== before.name) assertName("name", name, viewNameLengthMax);
  if (!pagePattern.test(page)) {
    refuse("page", "must be 1 to 64 lower-case letters, digits, _ and -, such as sessions");
  }
  return {
    id,
    ownerType,
    ownerId,
    ownerName,
    name,
    page,
    isShared: fields.isShared ?? before.isShared ?? false,
    state: fields.state ? parseState(fields.state) : (before.state ?? emptyState),
  };
}

const emptyState: ViewState = { filters: [], range: null, columns: [], sort: null, settings: {} };

function parseState({ filters, range, columns, sort, settings = {} }: GivenState): ViewState {
  if (columns.length > viewColumnsMax) {
    refuse("state.columns", `must be at most ${viewColumnsMax}`);
  }
  for (const [at, column] of columns.entries()) assertField(`state.columns[${at}]`, column);
  if (Buffer.byteLength(JSON.stringify(settings)) > viewSettingsBytesMax) {
    refuse("state.settings", `must be at most ${viewSettingsBytesMax} bytes long`);
  }
  return {
    filters: parseStoredFilters("state.filters", filters),
    range: range ? parseRange("state.date_range", range) : null,
    columns,
    sort: sort ? parseSort(sort) : null,
    settings,
  };
}

function parseSort({ field, direction }: ViewSort): ViewSort {
  assertField("state.sort.field", field);
  if (!["", "asc", "desc"].includes(direction)) {
    refuse("state.sort.direction", "must be asc or desc");
  }
  return { field, direction: direction || "desc" };
}

function assertField(path: string, field: string): void {
  if (field === "") refuse(path, "must be a field");
  assertText(path, field, viewFieldLengthMax);
}
