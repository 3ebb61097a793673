// Data planes: the cluster that holds the events of an organization's workspaces. Source:
// docs/spec.md, "Control plane"; docs/decisions.md, 12, 13, 28 to 30.

import type { Actor } from "../../base/actor.ts";
import type { Audit } from "../../access/audit/audit.ts";
import type { Members } from "../../access/members/members.ts";
import type { Principal } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid } from "../../base/ids.ts";
import { toPage } from "../../base/pages.ts";
import type { Page, PageOptions } from "../../base/pages.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { Archived, ArchiveOptions, Archives } from "../scopes/archive.ts";
import { assertName, refuseTakenName } from "../../access/scope-names.ts";
import type { Scopes } from "../scopes/scopes.ts";
import * as store from "./store.ts";
import type { DataplaneRow } from "./store.ts";

export type Dataplane = DataplaneRow;

export type CreateDataplaneOptions = {
  readonly name: string;
  /** Undefined puts the data plane on the cluster of the organization's other data planes. */
  readonly clusterId: string | undefined;
  /** E-mail of a member of the organization who becomes administrator; undefined appoints none. */
  readonly creator: string | undefined;
};

export type Dataplanes = {
  /**
   * Creates a data plane. Fails with NOT_FOUND if data planes are assigned automatically, with
   * NAME_TAKEN, and with INVALID_ARGUMENT naming the field. Reasons about the cluster:
   * CLUSTER_UNKNOWN; CLUSTER_REQUIRED if none is given and the organization has no data plane yet;
   * CLUSTER_AMBIGUOUS if none is given and its data planes are on several clusters.
   */
  create(org: Scope, options: CreateDataplaneOptions, principal: Principal): Promise<Dataplane>;
  /**
   * Creates the data plane of a new organization if data planes are assigned automatically;
   * otherwise does nothing. Joins the transaction that creates the organization.
   */
  createFirst(org: Scope, principal: Principal): Promise<void>;
  /** Returns an active data plane. Fails with NOT_FOUND. */
  get(id: string): Promise<Dataplane>;
  /** Returns a page of an organization's active data planes, oldest first. */
  list(orgId: string, page: PageOptions): Promise<Page<Dataplane>>;
  /** Fails like `create`, and with INVALID_ARGUMENT if the name is undefined. */
  rename(id: string, name: string | undefined, actor: Actor): Promise<Dataplane>;
  /**
   * Archives like Archives.archive. Fails with NOT_FOUND if data planes are assigned automatically.
   */
  archive(scope: Scope, options: ArchiveOptions): Promise<Archived>;
};

export type DataplanesOptions = {
  readonly database: Database;
  readonly scopes: Pick<Scopes, "hold">;
  readonly audit: Pick<Audit, "append">;
  readonly archives: Pick<Archives, "archive">;
  readonly members: Pick<Members, "appointCreator">;
  readonly clusters: { isKnown(clusterId: string): boolean };
  readonly assignment: "automatic" | "manual";
};

/** The data plane that is created automatically. */
const first = { name: "default", clusterId: "default", creator: undefined };

/** No leading space; letters and digits of any script. */
const namePattern = /^(?! )[\p{L}\p{M}\p{Nd} _'&-]*$/u;
const alphanumeric = /[\p{L}\p{Nd}]/u;

export function createDataplanes(options: DataplanesOptions): Dataplanes {
  const { database, scopes, audit, archives, members, clusters, assignment } = options;

  function assertManual(): void {
    if (assignment === "manual") return;
    throw new ServiceError("NOT_FOUND", "data planes are assigned automatically");
  }

  async function get(id: string): Promise<Dataplane> {
    const row = await store.findDataplane(database.sql(), id);
    if (!row) throw new ServiceError("NOT_FOUND", "no active data plane");
    return row;
  }

  async function insert(
    sql: Sql,
    org: Scope,
    { name, clusterId, creator }: CreateDataplaneOptions & { readonly clusterId: string },
    principal: Principal,
  ): Promise<string> {
    const id = createUuid();
    await refuseTakenName(store.insertDataplane(sql, { id, orgId: org.id, name, clusterId }));
    const created: Scope = { ...org, level: "dataplane", id, name, dataplaneId: id, clusterId };
    // Before the audit log: all code takes locks of people before the lock of the audit log.
    if (creator !== undefined) {
      const field = "dataplane_creator";
      await members.appointCreator({ parent: org, created, email: creator, field, principal });
    }
    await audit.append({
      actor: principal.actor,
      scope: created,
      action: "dataplane.create",
      target: { type: "dataplane", id },
      after: { name, cluster_id: clusterId },
    });
    return id;
  }

  async function chooseCluster(sql: Sql, orgId: string, asked: string | undefined) {
    const clusterId = asked ?? onlyCluster(await store.findClusters(sql, orgId));
    if (clusters.isKnown(clusterId)) return clusterId;
    throw new ServiceError(
      "CLUSTER_UNKNOWN",
      asked === undefined
        ? "cluster_id: the organization's data planes are on a cluster that is configured no more"
        : "cluster_id: no cluster of this id is configured",
    );
  }

  return {
    async create(org, { name, clusterId: asked, creator }, principal) {
      assertManual();
      assertDataplaneName(name);
      return database.transaction(async (sql) => {
        const parent = await scopes.hold("org", org.id);
        const clusterId = await chooseCluster(sql, parent.id, asked);
        return get(await insert(sql, parent, { name, clusterId, creator }, principal));
      });
    },

    async createFirst(org, principal) {
      if (assignment === "manual") return;
      await database.transaction((sql) => insert(sql, org, first, principal));
    },

    get,

    async list(orgId, page) {
      return toPage(await store.listDataplanes(database.sql(), orgId, page), page.limit);
    },

    async rename(id, name, actor) {
      assertManual();
      if (name === undefined) throw new ServiceError("INVALID_ARGUMENT", "name: is required");
      assertDataplaneName(name);
      return database.transaction(async (sql) => {
        const scope = await scopes.hold("dataplane", id);
        const before = await store.lockDataplane(sql, scope.id);
        if (!before) throw new ServiceError("NOT_FOUND", "no active data plane");
        if (before.name === name) return before;
        await refuseTakenName(store.renameDataplane(sql, scope.id, name));
        await audit.append({
          actor,
          scope,
          action: "dataplane.update",
          target: { type: "dataplane", id: scope.id },
          before: { name: before.name },
          after: { name },
        });
        return get(scope.id);
      });
    },

    async archive(scope, archiveOptions) {
      assertManual();
      return archives.archive(scope, archiveOptions);
    },
  };
}

function assertDataplaneName(name: string): void {
  assertName(name);
  if (namePattern.test(name) && alphanumeric.test(name)) return;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    "name: may hold letters, digits, spaces, `_`, `-`, `'` and `&`, " +
      "must not begin with a space and must hold a letter or digit",
  );
}

function onlyCluster([one, other]: readonly string[]): string {
  if (one === undefined) {
    throw new ServiceError(
      "CLUSTER_REQUIRED",
      "cluster_id: is required, since the organization has no data plane yet",
    );
  }
  if (other !== undefined) {
    throw new ServiceError(
      "CLUSTER_AMBIGUOUS",
      "cluster_id: is ambiguous and must be given, since the organization's data planes are on " +
        "more than one cluster",
    );
  }
  return one;
}
