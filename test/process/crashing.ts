// A program that ends as it is told: `node crashing.ts FILE FATES…`. Each run adds its pid to the
// file as a line and takes the fate of its number; the last fate stays. For supervisor.test.ts.

import { appendFileSync, readFileSync } from "node:fs";
import { reportReady } from "../../src/commands/supervised.ts";

const [path = "", ...fates] = process.argv.slice(2);

const acts: Readonly<Record<string, () => void>> = {
  exception: () => {
    throw new Error("a bug");
  },
  memory: fillMemory,
  abort: () => process.abort(),
  kill: () => process.kill(process.pid, "SIGKILL"),
  fail: () => process.exit(3),
  end: () => process.exit(0),
  wait: () => undefined,
};

/** Holds more than the heap of `--max-old-space-size`. */
function fillMemory(): void {
  const held: number[][] = [];
  for (;;) held.push(Array.from({ length: 10_000 }, () => Math.random()));
}

process.on("SIGTERM", () => process.exit(5));
const runs = readFileSync(path, "utf8").split("\n").length - 1;
appendFileSync(path, `${process.pid}\n`);
const [when, act = ""] = (fates[runs] ?? fates.at(-1) ?? "").split(":");
if (when === "ready") reportReady("info");
setTimeout(() => acts[act]?.(), 20);
// Runs until then, and for good where it waits.
setInterval(() => undefined, 1_000);
