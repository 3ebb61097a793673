// Versions of resources: their names, and hashes of their contents.
// Source: docs/decisions.md, 25.3, 44.2.

import { createHash } from "node:crypto";
import { isJsonObject, type JsonValue } from "./json.ts";
import { parseSequence } from "./pages.ts";

/** Returns the name of a version: `v1`, `v2`, …. */
export function formatVersion(version: number): string {
  return `v${version}`;
}

/** Returns the number of a version; undefined if the name is malformed. */
export function parseVersion(name: string): number | undefined {
  const [, digits] = /^v([1-9]\d{0,8})$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Below the largest integer of Postgres. */
const numberMax = 999_999_999;

/** Returns the number of a version in a cursor; undefined for other text. */
export function parseVersionNumber(text: string): number | undefined {
  return parseSequence(text, numberMax);
}

/** Returns the SHA-256 of a content in hexadecimal; the order of its keys makes no difference. */
export function hashContent(content: JsonValue): string {
  return createHash("sha256")
    .update(JSON.stringify(inOrder(content)))
    .digest("hex");
}

function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(inOrder);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key] ?? null)]));
}
