// Model prices of an organization, workspace or project, and the prices that hold in a project.
// Source: docs/decisions.md, 18.2, 34.2; docs/generations.md, "Prices".

import type { ChangeParts } from "../../access/change.ts";
import type { AccessChanges } from "../../access/changes/changes.ts";
import { everything } from "../../access/caller-memory.ts";
import { createEnabledMemory, subjectOf } from "../../access/enabled-memory.ts";
import type { Scope } from "../../access/scope.ts";
import type { Actor } from "../../base/actor.ts";
import { refuse } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import { modelPricesMax } from "../../base/tenant-limits.ts";
import type { Sql } from "../../postgres/database.ts";
import type { Pricing } from "../../tracing/events/event.ts";
import { createNamedRows, type NamedRow, type NamedRows } from "../connections/owner/named-rows.ts";
import { nearest } from "../connections/owner/owner.ts";
import { createEstimateCost } from "../prices/event-usage.ts";
import {
  isOwnName,
  isRate,
  nameForm,
  type OwnPrice,
  rateForm,
  rateNames,
  type Rates,
} from "../prices/own-prices.ts";
import { createPrices, type Prices } from "../prices/prices.ts";
import { listUsable } from "./store.ts";

type Rated = Pick<OwnPrice, "rates">;

export type ModelPrice = NamedRow<Rated>;

export type PutPriceOptions = OwnPrice & { readonly scope: Scope; readonly actor: Actor };

/** Prices of a project, for model calls and for events. */
export type ProjectPrices = { readonly prices: Prices; readonly pricing: Pricing };

/** Names are equal in any case of letters. */
export type ModelPrices = Omit<NamedRows<Rated>, "put" | "get"> & {
  /**
   * Sets the price of a name. Fails with INVALID_ARGUMENT naming the field, and with NOT_FOUND if
   * the scope was archived.
   */
  put(options: PutPriceOptions): Promise<ModelPrice>;
  /**
   * Returns the prices that hold in a project. Throws DATABASE_UNAVAILABLE if they cannot be read:
   * nothing is charged by other prices.
   */
  of(projectId: ProjectId): Promise<ProjectPrices>;
};

export type ModelPricesOptions = Omit<ChangeParts, "changes"> & {
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  /** Prices of the deployment. */
  readonly operator: readonly OwnPrice[];
};

/** Prepared prices take some ten times the memory of the rows. */
const bytesMax = 5_000_000;

export function createModelPrices(options: ModelPricesOptions): ModelPrices {
  const { database, changes, operator } = options;
  const rows = createNamedRows<Rated>(options, {
    table: "model_prices",
    idColumn: "price_id",
    valueColumn: "rates",
    toColumn: (sql, { rates }) => sql`${sql.json(rates)}`,
    type: "model_price",
    nouns: ["price", "prices"],
    rowsMax: modelPricesMax,
    isName: isOwnName,
    stateOf: ({ name, rates }) => ({ name, ...rates }),
    newsOf: ({ id }) => subjectOf("model_prices", id),
  });
  const memory = createEnabledMemory<OwnPrice>({
    kind: "model_prices",
    bytesMax,
    async list(projectId) {
      const usable = await listUsable(database.sql(), projectId);
      return { orgId: usable[0]?.orgId ?? projectId, enabled: usable };
    },
  });
  const newsPrefix = subjectOf("model_prices", "");
  changes.onForget((subject) => {
    // Which projects inherit from the owner is not known here.
    if (subject === everything || subject.startsWith(newsPrefix)) memory.forget(everything);
  });
  const operatorPrices = toProjectPrices([], operator);
  /** Prepared prices by the rows in the memory. */
  const prepared = new WeakMap<readonly OwnPrice[], ProjectPrices>();

  return {
    list: (scope, page) => rows.list(scope, page),

    async put({ scope, name: given, rates, actor }) {
      const name = given.toLowerCase();
      assertPrice(name, rates);
      return rows.put(scope, { name, rates }, actor);
    },

    delete: (scope, name, actor) => rows.delete(scope, name.toLowerCase(), actor),

    async of(projectId) {
      const usable = await memory.get(projectId);
      if (usable.length === 0) return operatorPrices;
      const known = prepared.get(usable);
      if (known) return known;
      const own = toProjectPrices(usable, operator);
      prepared.set(usable, own);
      return own;
    },
  };
}

/** Returns the prices that hold in a project, read anew. */
export async function readProjectPrices(
  sql: Sql,
  projectId: ProjectId,
  operator: readonly OwnPrice[],
): Promise<ProjectPrices> {
  return toProjectPrices(await listUsable(sql, projectId), operator);
}

/** Merges the prices that a project has, the nearest first, with those of the deployment. */
function toProjectPrices(
  usable: readonly OwnPrice[],
  operator: readonly OwnPrice[],
): ProjectPrices {
  const named = operator.map(({ name, rates }) => ({ name: name.toLowerCase(), rates }));
  const prices = createPrices(usable.length === 0 ? operator : nearest([...usable, ...named]));
  const pricing = { estimateCost: createEstimateCost(prices), priceTable: prices.table };
  return { prices, pricing };
}

function assertPrice(name: string, rates: Rates): void {
  if (!isOwnName(name)) refuse("name", `must be ${nameForm}`);
  for (const rate of rateNames) {
    const dollars = rates[rate];
    if (dollars !== undefined && !isRate(dollars)) refuse(rate, `must be ${rateForm}`);
  }
  if (rateNames.every((rate) => rates[rate] === undefined)) {
    refuse("input_mtok", "is required, or another price");
  }
}
