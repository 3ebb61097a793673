// Parses the operator's prices of models. Source: docs/generations.md, "Prices".

import { isJsonObject, type JsonObject } from "./base/json.ts";
import {
  isOwnName,
  isRate,
  nameForm,
  type OwnPrice,
  rateForm,
  rateNames,
  type Rates,
} from "./generation/prices/own-prices.ts";
import { parseObject } from "./setting-parsers.ts";

const pricesForm =
  'must be a JSON object such as {"my-model": {"input_mtok": 0.5, "output_mtok": 1.5}}, ' +
  "in US dollars per million tokens";

const pricesMax = 1_000;

/** Returns the prices of a JSON object by model; none for an empty text. */
export function parsePrices(text: string): readonly OwnPrice[] {
  const entries = Object.entries(parseObject(text, pricesForm));
  if (entries.length > pricesMax) throw new Error(`must name at most ${pricesMax} models`);
  return entries.map(([name, value]) => {
    if (!isOwnName(name)) {
      throw new Error(`must name models by ${nameForm}, not ${JSON.stringify(name)}`);
    }
    if (!isJsonObject(value) || Object.keys(value).length === 0) {
      throw new Error(`of ${name} ${pricesForm}`);
    }
    return { name, rates: parseRates(name, value) };
  });
}

function parseRates(name: string, value: JsonObject): Rates {
  for (const [rate, dollars] of Object.entries(value)) {
    if (!rateNames.some((known) => known === rate)) {
      throw new Error(`of ${name} ${rate}: must be one of ${rateNames.join(", ")}`);
    }
    if (!isRate(dollars)) {
      throw new Error(`of ${name} ${rate}: must be ${rateForm}`);
    }
  }
  return value;
}
