// Reading a stored event: every field that totals and the estimate of its cost depend on.

import { expect, test } from "vitest";
import {
  pricedConfigKeys,
  pricedMetadataKeys,
} from "../../../src/generation/prices/event-usage.ts";
import { countedKeys } from "../../../src/tracing/events/held-event.ts";
import { amountKeys } from "../../../src/tracing/sessions/totals.ts";

test("the keys that are read are those that are counted or priced", () => {
  expect(new Set(countedKeys.config)).toEqual(new Set(pricedConfigKeys));
  expect(new Set(countedKeys.metadata)).toEqual(new Set([...amountKeys, ...pricedMetadataKeys]));
});
