// Estimates the cost of model calls with the price table. Source: docs/decisions.md, 18.2;
// docs/generations.md.

import { LRUCache } from "lru-cache";
import type { CostEstimate } from "../../tracing/events/event.ts";
import type { ProviderType } from "../provider.ts";
import { completionTokens, promptTokens, type Usage } from "../usage.ts";
import { createOwnPrices, type OwnPrice } from "./own-prices.ts";
import {
  findPrice,
  isOwnMachine,
  type Price,
  type PricedModel,
  priceTableName,
} from "./price-table.ts";

export type PricedCall = {
  /** Name of the connection: a known provider's name or any other. */
  readonly provider: string;
  readonly providerType: ProviderType | undefined;
  /** Model name in the answer; else the requested one. */
  readonly model: string;
  /** Requested model name, used if `model` has no price. */
  readonly requestedModel?: string | undefined;
  readonly usage: Usage | undefined;
  readonly atMs: number;
  /** True for a stream of the OpenAI API, which reports `usage` only on request, without one. */
  readonly isUsageUnasked?: boolean;
};

export type Prices = {
  /** Name of the table by which costs are estimated, and of one's own prices. */
  readonly table: string;
  /** Returns the cost of a call; null with a reason if the price is unknown. */
  estimate(call: PricedCall): CostEstimate;
  /** Returns an estimate without a price and with the reason. */
  unknown(reason: string): CostEstimate;
};

/** Maximum cached lookups; the limit is needed because model names come from requests. */
const rememberedMax = 2_000;
/** The same for own prices, which many projects may have. */
const ownRememberedMax = 200;
/** Maximum length of a name; longer text names no model. */
const nameLengthMax = 256;
/** Significant digits of a cost; further ones are floating-point errors. */
const digits = 12;

type FindPrice = (priced: PricedModel) => Price | undefined;

/** Returns `find` with a memory. Entries never expire: what `find` returns never changes. */
function remembered(find: FindPrice, max: number): FindPrice {
  const found = new LRUCache<string, { readonly price: Price | undefined }>({ max });
  return (priced) => {
    const { provider, providerType = "", model } = priced;
    if (isTooLong(priced)) return undefined;
    const key = JSON.stringify([providerType, provider, model]);
    const known = found.get(key);
    if (known) return known.price;
    const price = find(priced);
    found.set(key, { price });
    return price;
  };
}

function isTooLong({ provider, model }: PricedModel): boolean {
  return Math.max(provider.length, model.length) > nameLengthMax;
}

/** The table is the same for all projects. */
const priceOf = remembered(findPrice, rememberedMax);

/** Creates the prices: own ones, then those of the table. */
export function createPrices(given: readonly OwnPrice[] = []): Prices {
  const own = createOwnPrices(given);
  const table = own.version === "" ? priceTableName : `${priceTableName}, own ${own.version}`;
  const ownPriceOf = given.length === 0 ? () => undefined : remembered(own.find, ownRememberedMax);

  function estimateOf(priced: PricedModel, usage: Usage, atMs: number): CostEstimate {
    const { provider, model } = priced;
    if (model === "") return unknown("no model is named");
    if (isTooLong(priced)) {
      return unknown("the name of the model or of its provider is too long");
    }
    const where = provider === "" ? model : `${model} of ${provider}`;
    if (isOwnMachine(priced)) return unknown(`${where} runs on a machine that bills no tokens`);
    const price = priceOf(priced);
    return price ? toEstimate(price, usage, atMs) : unknown(`the table has no price of ${where}`);
  }

  function toEstimate(price: Price, usage: Usage, atMs: number): CostEstimate {
    const cost = price.costOf(usage, atMs);
    if (typeof cost !== "number") return unknown(`the table has no price of ${cost.unpriced}`);
    return { cost: Number(cost.toPrecision(digits)), price_table: table };
  }

  function unknown(reason: string): CostEstimate {
    return { cost: null, reason, price_table: table };
  }

  return {
    table,
    unknown,
    estimate(call) {
      const { usage, requestedModel, isUsageUnasked = false } = call;
      if (!usage) return unknown(isUsageUnasked ? `${noUsage}; ${usageHint}` : noUsage);
      if (promptTokens(usage) + completionTokens(usage) === 0)
        return unknown("0 tokens are counted");
      const price = ownPriceOf(call) ?? ownPriceOf({ ...call, model: requestedModel ?? "" });
      if (price) return toEstimate(price, usage, call.atMs);
      const estimate = estimateOf(call, usage, call.atMs);
      if (estimate.cost !== null || requestedModel === undefined) return estimate;
      // The table may lack the answer's version or the provider's own name of the model.
      const asked = estimateOf({ ...call, model: requestedModel }, usage, call.atMs);
      return asked.cost === null ? estimate : asked;
    },
  };
}

const noUsage = "the provider told no token counts";
const usageHint = "a stream has them if the request has stream_options.include_usage";
