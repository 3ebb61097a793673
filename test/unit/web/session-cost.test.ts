// The cost of a session: sent costs, and estimates where an event has none.

import { expect, test } from "vitest";
import { totalCostOf } from "../../../src/web/app/pages/session/session-event.ts";
import { anEvent } from "./session-events.ts";

test("adds up sent costs and estimates, and leaves the session itself out", () => {
  const events = [
    anEvent({ id: "s", type: "session", cost: 9 }),
    anEvent({ id: "a", cost: 0.5 }),
    anEvent({ id: "b", cost: 0.25, isCostEstimate: true }),
    anEvent({ id: "c" }),
  ];

  expect(totalCostOf(events)).toEqual({ cost: 0.75, isCostEstimate: true });
  expect(totalCostOf(events.slice(0, 2))).toEqual({ cost: 0.5, isCostEstimate: false });
  expect(totalCostOf(events.slice(3))).toEqual({ cost: undefined, isCostEstimate: false });
});
