// Model prices of an organization, workspace or project, and the prices that hold in a project.
// Source: docs/decisions.md, 18.2, 34.2; docs/generations.md, "Prices".

import { change, changeInside, type ChangeParts, isChange } from "../../access/change.ts";
import type { AccessChanges } from "../../access/changes/changes.ts";
import { everything } from "../../access/caller-memory.ts";
import { createEnabledMemory, subjectOf } from "../../access/enabled-memory.ts";
import type { Scope } from "../../access/scope.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, type ProjectId } from "../../base/ids.ts";
import { formatKeyCursor, parseKeyCursor, parsePageLimit, toPageBy } from "../../base/pages.ts";
import type { Page, PageRequest } from "../../base/pages.ts";
import { modelPricesMax } from "../../base/tenant-limits.ts";
import type { Sql } from "../../postgres/database.ts";
import type { Pricing } from "../../tracing/events/event.ts";
import { nearest, type Owner, toOwner } from "../connections/owner/owner.ts";
import { lockCount } from "../connections/owner/store.ts";
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
import * as store from "./store.ts";
import type { ModelPriceRow } from "./store.ts";

export type ModelPrice = Omit<ModelPriceRow, "id">;

export type PutPriceOptions = {
  readonly scope: Scope;
  readonly name: string;
  readonly rates: Rates;
  readonly actor: Actor;
};

/** Prices of a project, for model calls and for events. */
export type ProjectPrices = { readonly prices: Prices; readonly pricing: Pricing };

/** Each change is audited and announced to every server when it commits. */
export type ModelPrices = {
  /**
   * Sets the price of a name. Fails with INVALID_ARGUMENT naming the field, and with NOT_FOUND if
   * the scope was archived.
   */
  put(options: PutPriceOptions): Promise<ModelPrice>;
  /** Returns the prices of this scope only, by name; INVALID_ARGUMENT names a wrong option. */
  list(scope: Scope, page: PageRequest): Promise<Page<ModelPrice>>;
  /**
   * Deletes a price and returns its last state. Fails with NOT_FOUND if this scope itself has none
   * of the name.
   */
  delete(scope: Scope, name: string, actor: Actor): Promise<ModelPrice>;
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
  const memory = createEnabledMemory<OwnPrice>({
    kind: "model_prices",
    bytesMax,
    async list(projectId) {
      const rows = await store.listUsable(database.sql(), projectId);
      return { orgId: rows[0]?.orgId ?? projectId, enabled: rows };
    },
  });
  const newsPrefix = subjectOf("model_prices", "");
  changes.onForget((subject) => {
    // Which projects inherit from the owner is not known here.
    if (subject === everything || subject.startsWith(newsPrefix)) memory.forget(everything);
  });
  const operatorPrices = toProjectPrices(operator);
  /** Prepared prices by the rows in the memory. */
  const prepared = new WeakMap<readonly OwnPrice[], ProjectPrices>();

  return {
    put: (price) => put(options, price),

    async list(scope, { limit: limitAsked, cursor }) {
      const limit = parsePageLimit(limitAsked);
      const afterName =
        cursor === undefined ? "" : parseKeyCursor("model-prices", cursor, parseName);
      const page = { limit: limit + 1, afterName };
      const rows = await store.listPrices(database.sql(), toOwner(scope), page);
      return toPageBy(rows, limit, ({ name }) => formatKeyCursor("model-prices", name));
    },

    delete: (scope, name, actor) =>
      change(options, { scope, actor }, async (sql) => {
        const owner = toOwner(scope);
        await lockCount(sql, "model_prices", owner);
        const result = await find(sql, owner, name.toLowerCase());
        if (!result) throw new ServiceError("NOT_FOUND", "no such price");
        await store.deletePrice(sql, result.id);
        const before = stateOf(result);
        const audit = { action: "model_price.delete", targetId: result.id, before };
        return { result, audit, forget: subjectOf("model_prices", owner.id) };
      }),

    async of(projectId) {
      const rows = await memory.get(projectId);
      if (rows.length === 0) return operatorPrices;
      const known = prepared.get(rows);
      if (known) return known;
      const own = merge(rows, operator);
      prepared.set(rows, own);
      return own;
    },
  };
}

/** Merges the rows of a project, the nearest first, with the prices of the deployment. */
function merge(rows: readonly OwnPrice[], operator: readonly OwnPrice[]): ProjectPrices {
  const named = operator.map(({ name, rates }) => ({ name: name.toLowerCase(), rates }));
  return toProjectPrices(nearest([...rows, ...named]));
}

function toProjectPrices(own: readonly OwnPrice[]): ProjectPrices {
  const prices = createPrices(own);
  const pricing = { estimateCost: createEstimateCost(prices), priceTable: prices.table };
  return { prices, pricing };
}

/** Returns the prices that hold in a project, read anew. */
export async function readProjectPrices(
  sql: Sql,
  projectId: ProjectId,
  operator: readonly OwnPrice[],
): Promise<ProjectPrices> {
  const rows = await store.listUsable(sql, projectId);
  return rows.length === 0 ? toProjectPrices(operator) : merge(rows, operator);
}

async function put(
  options: ChangeParts,
  { scope, name: given, rates, actor }: PutPriceOptions,
): Promise<ModelPrice> {
  const name = given.toLowerCase();
  assertPrice(name, rates);
  return changeInside(options, { scope, actor }, async (sql, held) => {
    const owner = toOwner(held);
    const count = await lockCount(sql, "model_prices", owner);
    const before = await store.findPrice(sql, owner, name);
    const row = { id: before?.id ?? createUuid(), rates, updatedBy: describeActor(actor) };
    const audit = {
      action: "model_price.put",
      targetId: row.id,
      before: before && stateOf(before),
      after: stateOf({ name, rates }),
    };
    if (before && !isChange(audit)) return { result: before };
    if (before) await store.updatePrice(sql, row);
    else if (count < modelPricesMax) await store.insertPrice(sql, { ...row, owner, name });
    else refuse("name", `a scope has at most ${modelPricesMax} prices`);
    const result = await find(sql, owner, name);
    if (!result) throw new Error("a stored price is not there");
    return { result, audit, forget: subjectOf("model_prices", owner.id) };
  });
}

/** Other text is not sent to Postgres, which refuses NUL. */
async function find(sql: Sql, owner: Owner, name: string): Promise<ModelPriceRow | undefined> {
  return isOwnName(name) ? store.findPrice(sql, owner, name) : undefined;
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

function parseName(text: string): string | undefined {
  return isOwnName(text) ? text : undefined;
}

function stateOf({ name, rates }: OwnPrice) {
  return { name, ...rates };
}
