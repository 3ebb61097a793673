// Workflows of temporal.test.ts, bundled by Temporal's worker.

import { condition, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";
import type { activities } from "./temporal-activities.ts";

export const goOn = defineSignal("goOn");

const { greet } = proxyActivities<typeof activities>({ startToCloseTimeout: "10 seconds" });

/** Greets once it is told to go on. */
export async function greetLater(name: string): Promise<string> {
  let isTold = false;
  setHandler(goOn, () => {
    isTold = true;
  });
  await condition(() => isTold);
  return greet(name);
}
