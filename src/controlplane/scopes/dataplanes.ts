// Data planes: the cluster that holds the events of an organization's workspaces. Source:
// docs/spec.md, "Control plane"; docs/decisions.md, 12, 13, 28, 29, 30.

import type { Actor } from "../../base/actor.ts";
import { change, changeInside } from "../../access/change.ts";
import type { Principal } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";
import { assertScopeName } from "../../access/scope-names.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import type { Sql } from "../../postgres/database.ts";
import type { Archived, ArchiveOptions, Archives } from "./archive.ts";
import { addScope, createScopeReads, updateScope } from "./scope-resource.ts";
import type { ScopeReads, ScopeResourceOptions, ScopeRow } from "./scope-resource.ts";
import * as store from "./store.ts";

export type CreateDataplaneOptions = {
  readonly name: string;
  /** Undefined puts the data plane on the cluster of the organization's other data planes. */
  readonly clusterId: string | undefined;
  /** E-mail of a member of the organization who becomes administrator; undefined appoints none. */
  readonly creator: string | undefined;
};

export type Dataplanes = ScopeReads & {
  /**
   * Creates a data plane. Fails with NOT_FOUND if data planes are assigned automatically, with
   * NAME_TAKEN, and with INVALID_ARGUMENT naming the field. Reasons about the cluster:
   * CLUSTER_UNKNOWN; CLUSTER_REQUIRED if none is given and the organization has no data plane yet;
   * CLUSTER_AMBIGUOUS if none is given and its data planes are on several clusters.
   */
  create(org: Scope, options: CreateDataplaneOptions, principal: Principal): Promise<ScopeRow>;
  /**
   * Creates the data plane of a new organization if data planes are assigned automatically;
   * otherwise does nothing. Joins the transaction that creates the organization.
   */
  createFirst(org: Scope, principal: Principal): Promise<void>;
  /** Fails like `create`, and with INVALID_ARGUMENT if the name is undefined. */
  rename(id: string, name: string | undefined, actor: Actor): Promise<ScopeRow>;
  /**
   * Archives like Archives.archive. Fails with NOT_FOUND if data planes are assigned automatically.
   */
  archive(scope: Scope, options: ArchiveOptions): Promise<Archived>;
};

export type DataplanesOptions = ScopeResourceOptions & {
  readonly archives: Pick<Archives, "archive">;
  readonly clusters: { isKnown(clusterId: string): boolean };
  readonly assignment: "automatic" | "manual";
};

/** The data plane that is created automatically. */
const first = { name: "default", cluster_id: "default" };

/** No leading space; letters and digits of any script. */
const namePattern = /^(?! )[\p{L}\p{M}\p{Nd} _'&-]*$/u;
const alphanumeric = /[\p{L}\p{Nd}]/u;

export function createDataplanes(options: DataplanesOptions): Dataplanes {
  const { archives, clusters, assignment } = options;

  function assertManual(): void {
    if (assignment === "manual") return;
    throw new ServiceError("NOT_FOUND", "data planes are assigned automatically");
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
    ...createScopeReads(options, "dataplane"),

    async create(org, { name, clusterId: asked, creator }, principal) {
      assertManual();
      assertDataplaneName(name);
      const { actor } = principal;
      return changeInside(options, { scope: org, actor }, async (sql, parent) => {
        const columns = { name, cluster_id: await chooseCluster(sql, parent.id, asked) };
        return addScope(options, sql, { level: "dataplane", parent, columns, creator, principal });
      });
    },

    async createFirst(org, principal) {
      if (assignment === "manual") return;
      const dataplane = { level: "dataplane", parent: org, columns: first } as const;
      await change(options, { scope: org, actor: principal.actor }, (sql) =>
        addScope(options, sql, { ...dataplane, creator: undefined, principal }),
      );
    },

    async rename(id, name, actor) {
      assertManual();
      if (name === undefined) refuse("name", "is required");
      assertDataplaneName(name);
      return updateScope(options, "dataplane", { id, name, actor });
    },

    async archive(scope, archiveOptions) {
      assertManual();
      return archives.archive(scope, archiveOptions);
    },
  };
}

function assertDataplaneName(name: string): void {
  assertScopeName(name);
  if (namePattern.test(name) && alphanumeric.test(name)) return;
  refuse(
    "name",
    "may hold letters, digits, spaces, `_`, `-`, `'` and `&`, " +
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
