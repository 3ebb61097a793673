// Realistic records of the exports of other services.

import { readFileSync } from "node:fs";
import type { JsonObject } from "../../../../src/base/json.ts";

const folder = new URL("../../../fixtures/import/", import.meta.url);

/** Returns the lines of a file of records. */
export function linesOf(file: string): readonly string[] {
  return readFileSync(new URL(file, folder), "utf8").trim().split("\n");
}

export function recordsOf(file: string): readonly JsonObject[] {
  return linesOf(file).map((line) => JSON.parse(line) as JsonObject);
}
