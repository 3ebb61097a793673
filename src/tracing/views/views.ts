// Saved views of a project: filters, dates, columns and order of a page, under a name, for one
// person or for all readers of the project. Source: docs/decisions.md, 57.1.

import {
  type AuditedChange,
  type Changed,
  type ChangeParts,
  changeInside,
  isChange,
} from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { assertName, assertText } from "../../base/assert-text.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { viewFieldLengthMax, viewNameLengthMax } from "../../base/field-limits.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
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

/** A project, and the actor who asks. */
export type Viewer = { readonly project: ProjectScope; readonly actor: Actor };

/** A personal view is absent to every actor but its owner. Each change is audited. */
export type Views = {
  /** Throws INVALID_ARGUMENT and INVALID_FILTER naming the field. */
  create(viewer: Viewer, fields: ViewFields): Promise<View>;
  /** Returns the shared views and the actor's own, by name; of one page if it is given. */
  list(viewer: Viewer, page: string | undefined): Promise<readonly View[]>;
  /** Throws INVALID_ARGUMENT for an id that is not a UUID, and NOT_FOUND. */
  get(viewer: Viewer, id: string): Promise<View>;
  /** Changes the given fields. Throws like `create` and `get`. */
  update(viewer: Viewer, id: string, fields: ViewFields): Promise<View>;
  /** Throws like `get`. */
  delete(viewer: Viewer, id: string): Promise<void>;
};

export function createViews(options: ChangeParts): Views {
  const { database } = options;

  /** Runs a change with the project's views locked. */
  function inTurn<T>(viewer: Viewer, work: (sql: Sql) => Promise<Changed<T>>) {
    const { project, actor } = viewer;
    return changeInside(options, { scope: project, actor }, async (sql) => {
      await store.lockViews(sql, project.projectId);
      return work(sql);
    });
  }

  /** Stores a view within the limits of its project and its owner. */
  async function put(sql: Sql, viewer: Viewer, view: NewView): Promise<View> {
    const { projectId } = viewer.project;
    await store.putView(sql, projectId, view);
    const counts = await store.countViews(sql, projectId, ownerOf(view));
    if (view.isShared && counts.shared > viewsOfProjectMax) {
      refuse("shared", `a project has at most ${viewsOfProjectMax} shared views`);
    }
    if (counts.own > viewsOfOwnerMax) {
      refuse("name", `an owner has at most ${viewsOfOwnerMax} views; delete one first`);
    }
    return find(sql, viewer, view.id);
  }

  return {
    create: (viewer, fields) =>
      inTurn(viewer, async (sql) => {
        const { type: ownerType, id: ownerId } = viewer.actor;
        const owner = { ownerType, ownerId, ownerName: describeActor(viewer.actor) };
        const view = toView(fields, { id: createUuid(), ...owner });
        const audit = auditOf("create", { after: view });
        return { result: await put(sql, viewer, view), audit };
      }),

    list: async ({ project: { projectId }, actor }, page) => {
      // No view is on any other page, and Postgres would refuse a NUL.
      if (page !== undefined && !pagePattern.test(page)) return [];
      return database
        .on("reads")
        .inTurn((sql) => store.listViews(sql, projectId, { actor, page }), { owner: projectId });
    },

    get: (viewer, id) =>
      database
        .on("reads")
        .inTurn((sql) => find(sql, viewer, id), { owner: viewer.project.projectId }),

    update: (viewer, id, fields) =>
      inTurn(viewer, async (sql) => {
        const before = await find(sql, viewer, id);
        const after = toView(fields, before);
        if (before.isShared && !after.isShared && !isOwn(before, viewer.actor)) {
          refuse("shared", "only the owner of a view may take it from the others");
        }
        const audit = auditOf("update", { before, after });
        return { result: isChange(audit) ? await put(sql, viewer, after) : before, audit };
      }),

    delete: (viewer, id) =>
      inTurn(viewer, async (sql) => {
        const before = await find(sql, viewer, id);
        await store.deleteView(sql, viewer.project.projectId, id);
        return { result: undefined, audit: auditOf("delete", { before }) };
      }),
  };
}

/** Returns whether an actor owns a view. */
export function isOwn(view: Pick<View, "ownerType" | "ownerId">, actor: Actor): boolean {
  return view.ownerType === actor.type && view.ownerId === actor.id;
}

function ownerOf({ ownerType, ownerId }: NewView): Pick<Actor, "type" | "id"> {
  return { type: ownerType, id: ownerId };
}

function auditOf(
  verb: "create" | "update" | "delete",
  { before, after }: { readonly before?: NewView; readonly after?: NewView },
): AuditedChange {
  return {
    action: `view.${verb}`,
    targetId: (after ?? before)?.id ?? "",
    ...(before && { before: stateOf(before) }),
    ...(after && { after: stateOf(after) }),
  };
}

function stateOf({ name, page, isShared, state }: NewView): Readonly<Record<string, unknown>> {
  return { name, page, isShared, ...state };
}

async function find(sql: Sql, { project, actor }: Viewer, id: string): Promise<View> {
  const [view] = isUuid(id) ? await store.listViews(sql, project.projectId, { actor, id }) : [];
  if (!view) throw new ServiceError("NOT_FOUND", "no such view");
  return view;
}

type Owner = Pick<NewView, "id" | "ownerType" | "ownerId" | "ownerName">;

const pagePattern = /^[a-z][a-z0-9_-]{0,63}$/;

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
