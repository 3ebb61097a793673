// Prices that people set: of models that the price table lacks, and at rates of one's own. They
// come before the table's. Source: docs/generations.md, "Prices".

import { createHash } from "node:crypto";
import { type Price, type PricedModel, toOwnPrice } from "./price-table.ts";

/** Names of prices, in US dollars per million tokens, as the price table names them. */
export const rateNames = [
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "input_audio_mtok",
  "output_audio_mtok",
] as const;

export type Rates = Readonly<Partial<Record<(typeof rateNames)[number], number>>>;

/** Price of the models of a name. */
export type OwnPrice = {
  /** `model` or `provider/model`, in any case of letters. A `*` at the end stands for any rest. */
  readonly name: string;
  readonly rates: Rates;
};

/** Maximum length of a name; a call with a longer one has no price of one's own. */
const nameLengthMax = 256;
/** Above every real price; a larger number is one in another unit. */
const rateMax = 1_000_000;

export const nameForm = `1 to ${nameLengthMax} characters without blanks, and a * only at the end`;
export const rateForm = `a number from 0 to ${rateMax}`;

export function isOwnName(text: string): boolean {
  return text.length <= nameLengthMax && /^[^*\s\p{C}]+\*?$/u.test(text);
}

export function isRate(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= rateMax;
}

export type OwnPrices = {
  /** Distinguishes these prices from others; empty without any. */
  readonly version: string;
  /**
   * Returns the price of the model: of its provider, by name or type, before that of any. The
   * longest name counts. Undefined if no name fits.
   */
  readonly find: (call: PricedModel) => Price | undefined;
};

export function createOwnPrices(given: readonly OwnPrice[]): OwnPrices {
  const exact = new Map<string, Price>();
  const begun: { readonly start: string; readonly price: Price }[] = [];
  for (const { name, rates } of given) {
    const key = name.toLowerCase();
    const price = toOwnPrice(name, rates);
    if (key.endsWith("*")) begun.push({ start: key.slice(0, -1), price });
    else exact.set(key, price);
  }
  begun.sort((one, other) => other.start.length - one.start.length);

  function findNamed(name: string): Price | undefined {
    return exact.get(name) ?? begun.find(({ start }) => name.startsWith(start))?.price;
  }

  return {
    version: given.length === 0 ? "" : digestOf(given),
    find({ provider, providerType = "", model }) {
      const isNamed = model !== "" && provider.length + model.length < nameLengthMax;
      if (!isNamed) return undefined;
      const names = [`${provider}/${model}`, `${providerType}/${model}`, model];
      return names.map((name) => findNamed(name.toLowerCase())).find((price) => price);
    },
  };
}

function digestOf(given: readonly OwnPrice[]): string {
  const prices = given.map(({ name, rates }) => {
    return [name.toLowerCase(), rateNames.map((rate) => rates[rate] ?? null)];
  });
  const text = JSON.stringify(prices.toSorted());
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
