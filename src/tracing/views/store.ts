// SQL of saved views, in the control database.

import type { Actor } from "../../base/actor.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Sql } from "../../postgres/database.ts";
import { deletableRows } from "../../postgres/project-rows.ts";
import type { StoredRange } from "../charts/stored-store.ts";
import type { FilterInput } from "../export/filter.ts";

export type ViewSort = { readonly field: string; readonly direction: string };

/** Stored state of a view. */
export type ViewState = {
  readonly filters: readonly FilterInput[];
  readonly range: StoredRange | null;
  readonly columns: readonly string[];
  readonly sort: ViewSort | null;
  readonly settings: JsonObject;
};

export type View = {
  readonly id: string;
  readonly name: string;
  readonly page: string;
  readonly isShared: boolean;
  readonly state: ViewState;
  readonly ownerType: Actor["type"];
  readonly ownerId: string;
  readonly ownerName: string;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

export type NewView = Omit<View, "createdAt" | "updatedAt">;

/** Lock and deletion of a project's views. */
export const viewRows = deletableRows("views", "view_id");

/** Selects views that one actor may see. */
export type ViewQuery = {
  readonly actor: Pick<Actor, "type" | "id">;
  readonly id?: string | undefined;
  readonly page?: string | undefined;
};

/** Returns the shared views of a project and those of the actor, by name. */
export async function listViews(
  sql: Sql,
  projectId: string,
  { actor, id, page }: ViewQuery,
): Promise<readonly View[]> {
  return sql<View[]>`
    select
      view_id as id, name, page, is_shared as "isShared", state, owner_type as "ownerType",
      owner_id as "ownerId", owner_name as "ownerName", created_at as "createdAt",
      updated_at as "updatedAt"
    from views
    where project_id = ${projectId}
      and (is_shared or (owner_type = ${actor.type} and owner_id = ${actor.id}))
      ${id === undefined ? sql`` : sql`and view_id = ${id}`}
      ${page === undefined ? sql`` : sql`and page = ${page}`}
    order by name, view_id`;
}

/** Returns the number of shared views of a project, and of all views of the actor. */
export async function countViews(
  sql: Sql,
  projectId: string,
  actor: Pick<Actor, "type" | "id">,
): Promise<{ readonly shared: number; readonly own: number }> {
  const [row] = await sql<{ shared: number; own: number }[]>`
    select
      count(*) filter (where is_shared)::integer as shared,
      count(*) filter (
        where owner_type = ${actor.type} and owner_id = ${actor.id})::integer as own
    from views
    where project_id = ${projectId}`;
  return row ?? { shared: 0, own: 0 };
}

/** Inserts a view, or replaces all of it but its owner. */
export async function putView(sql: Sql, projectId: string, view: NewView): Promise<void> {
  await sql`
    insert into views (
      view_id, project_id, name, page, is_shared, state, owner_type, owner_id, owner_name
    )
    values (
      ${view.id}, ${projectId}, ${view.name}, ${view.page}, ${view.isShared},
      ${JSON.stringify(view.state)}::text::json, ${view.ownerType}, ${view.ownerId},
      ${view.ownerName}
    )
    on conflict (view_id) do update set
      name = excluded.name,
      page = excluded.page,
      is_shared = excluded.is_shared,
      state = excluded.state,
      updated_at = clock_timestamp()
    where views.project_id = excluded.project_id`;
}
