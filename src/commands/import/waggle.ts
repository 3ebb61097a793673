// Events of another Waggle, as `waggle events export` writes them. Source: docs/moving-in.md.

import { type JsonObject, type MutableObject, setOwn } from "../../base/json.ts";
import { buckets } from "../../tracing/events/event.ts";
import type { Mapped } from "./mapping.ts";
import { BadRecord } from "./source-record.ts";

/** Fields without which an event would become another one: a line without one is refused. */
const required = [
  "event_id",
  "session_id",
  "event_type",
  "event_name",
  "source",
  "start_time",
  "inputs",
] as const;

const accepted: ReadonlySet<string> = new Set([
  ...required,
  ...buckets,
  "parent_id",
  "children_ids",
  "error",
  "end_time",
  "duration",
]);

/** Fields that the importing project sets itself. */
const remade: ReadonlySet<string> = new Set(["project_id", "cost_estimate"]);

/** The last line of an export says how many events it has; without it the export broke off. */
export const endLine = '{"done":true,"count":N}';

const nothing: Mapped = { writes: [], records: 0, mapped: [], raw: [] };

/**
 * Maps a line to its event with the same ids. A parent that is the session, and a duration that is
 * end minus start, are left out, because the export shows them for events that do not have them.
 */
export function mapWaggle(source: JsonObject): Mapped {
  if (source["done"] === true) return { ...nothing, total: Number(source["count"]) };
  const event: MutableObject = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === null || remade.has(name)) continue;
    if (!accepted.has(name)) throw new BadRecord(`has a field that events lack: ${name}`);
    if (!isImplied(source, name)) setOwn(event, name, value);
  }
  const missing = required.filter((name) => !Object.hasOwn(event, name));
  if (missing.length > 0) {
    const fields = missing.join(", ");
    throw new BadRecord(`lacks ${fields}; whole events are exported without --fields`);
  }
  const eventId = source["event_id"];
  if (typeof eventId !== "string") throw new BadRecord("event_id is not text");
  const write = { kind: "event", eventId, event } as const;
  return { writes: [write], records: 1, mapped: Object.keys(event), raw: [] };
}

function isImplied(source: JsonObject, name: string): boolean {
  if (name === "parent_id") return source["parent_id"] === source["session_id"];
  const { start_time: start, end_time: end, duration } = source;
  if (name !== "duration" || typeof start !== "number" || typeof end !== "number") return false;
  return duration === end - start;
}
