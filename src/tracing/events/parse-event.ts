// Validates events from messages and turns them into writes.
// Source: docs/spec.md, "Event record"; docs/decisions.md, 2, 4 and 5.

import { faultOfChoice } from "../../base/choices.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid, isRecordId } from "../../base/ids.ts";
import { isJsonObject, isWithin, type JsonObject } from "../../base/json.ts";
import { listItemsMax, nameLengthMax } from "../../base/limits.ts";
import {
  type Bucket,
  buckets,
  type EventFields,
  type EventType,
  eventTypes,
  type EventWrite,
  timeMsMax,
} from "./event.ts";
import { bucketFaultOf, type BucketNames, lengthFaultOf, weighFields } from "./event-limits.ts";

/** An event in the form of messages: Event, SessionStart and the update requests all fit. */
export type EventInput = { readonly [B in Bucket]?: JsonObject | undefined } & {
  readonly event_id?: string | undefined;
  readonly session_id?: string | undefined;
  readonly event_type?: string | undefined;
  readonly event_name?: string | undefined;
  readonly source?: string | undefined;
  readonly parent_id?: string | undefined;
  readonly children_ids?: readonly string[] | undefined;
  readonly error?: string | undefined;
  readonly start_time?: number | undefined;
  readonly end_time?: number | undefined;
  readonly duration?: number | undefined;
};

/** A session in the form of messages. */
export type SessionInput = EventInput & { readonly session_name?: string | undefined };

/**
 * Returns the write of a whole event. Throws INVALID_ARGUMENT naming the field, prefixed by `path`
 * (for example `events[3].`), if `event_type` or `inputs` is absent or a value is invalid.
 */
export function parseEvent(input: EventInput, path = ""): EventWrite {
  return parseCosted(input, path).write;
}

/** Returns the write of a whole event, like `parseEvent`, and the cost of storing it. */
export function parseCosted(
  input: EventInput,
  path: string,
): { readonly write: EventWrite; readonly cost: number } {
  const { fields, cost } = parseFields(input, path);
  return { write: toWholeEvent(input, fields, path), cost };
}

function toWholeEvent(input: EventInput, fields: EventFields, path: string): EventWrite {
  if (fields.event_type === undefined) throw invalid(path, "event_type", "is required");
  if (fields.inputs === undefined) throw invalid(path, "inputs", "is required (an object)");
  const given = parseId(input.event_id, path, "event_id");
  const isPart =
    given !== undefined && fields.session_id !== undefined && given !== fields.session_id;
  // An event of type session inside another session is a part (docs/decisions.md, 38).
  if (fields.event_type === "session" && !isPart) return parseSessionEvent(input, fields, path);
  const event_id = given ?? createUuid();
  if (event_id === fields.session_id) {
    throw invalid(path, "event_id", "equals session_id, as only an event of type session may");
  }
  return { ...fields, event_id };
}

/** Returns the write of an update: every field is optional, the id is required. */
export function parseUpdate(event_id: string, input: EventInput, names?: BucketNames): EventWrite {
  if (event_id === "") throw invalid("", "event_id", "is required");
  if (!isRecordId(event_id)) throw invalid("", "event_id", "must be 1 to 128 printable characters");
  const { children_ids, ...fields } = parseFields(input, "", names).fields;
  // Clients send an empty list for "no change".
  return children_ids?.length ? { ...fields, children_ids, event_id } : { ...fields, event_id };
}

/** Returns the write of a session event, whose event id is its session id. */
export function parseSession(session: SessionInput, path = ""): EventWrite {
  const { session_name, ...input } = session;
  if (input.event_type !== undefined && input.event_type !== "session") {
    throw invalid(path, "event_type", "must be `session`");
  }
  const fault = lengthFaultOf(session_name, nameLengthMax);
  if (fault !== undefined) throw invalid(path, "session_name", fault);
  const { fields: given } = parseFields(input, path);
  const fields = { ...given, event_type: "session" as const };
  // An empty name counts as absent.
  const named = session_name ? { ...fields, event_name: session_name } : fields;
  return parseSessionEvent(input, named, path);
}

function parseSessionEvent(input: EventInput, fields: EventFields, path: string): EventWrite {
  const sessionId = parseId(input.session_id, path, "session_id");
  const eventId = parseId(input.event_id, path, "event_id");
  if (sessionId !== undefined && eventId !== undefined && sessionId !== eventId) {
    throw invalid(path, "event_id", "must equal session_id, since a session is its own event");
  }
  const id = sessionId ?? eventId ?? createUuid();
  return { ...fields, event_id: id, session_id: id };
}

function parseFields(
  input: EventInput,
  path: string,
  names?: BucketNames,
): { readonly fields: EventFields; readonly cost: number } {
  const fields: Record<string, unknown> = {};
  for (const bucket of buckets) {
    const value = input[bucket];
    if (value === undefined) continue;
    if (!isJsonObject(value)) throw invalid(path, bucket, "must be an object");
    fields[bucket] = value;
  }
  // An empty name counts as absent; an empty error clears the error.
  if (input.event_name) fields["event_name"] = input.event_name;
  if (input.source) fields["source"] = input.source;
  if (input.error !== undefined) fields["error"] = input.error;
  setTime(fields, input, path, "start_time");
  setTime(fields, input, path, "end_time");
  if (input.duration !== undefined) {
    if (!Number.isFinite(input.duration)) throw invalid(path, "duration", "must be finite");
    fields["duration"] = input.duration;
  }
  const sessionId = parseId(input.session_id, path, "session_id");
  if (sessionId !== undefined) fields["session_id"] = sessionId;
  const parentId = parseId(input.parent_id, path, "parent_id");
  if (parentId !== undefined) fields["parent_id"] = parentId;
  if (input.event_type !== undefined) fields["event_type"] = parseType(input.event_type, path);
  if (input.children_ids !== undefined && input.children_ids.length > 0) {
    fields["children_ids"] = parseChildren(input.children_ids, path);
  }
  const weighed = weighFields(fields, names);
  if ("fault" in weighed) throw new ServiceError("INVALID_ARGUMENT", `${path}${weighed.fault}`);
  return { fields, cost: weighed.cost };
}

/** Returns each id once; an empty one is absent, as everywhere. */
function parseChildren(ids: readonly string[], path: string): string[] {
  if (ids.length > listItemsMax) {
    throw invalid(path, "children_ids", `has more than ${listItemsMax} items`);
  }
  const given = ids.map((id, index) => parseId(id, path, `children_ids[${index}]`));
  return [...new Set(given.filter((id) => id !== undefined))];
}

function setTime(
  fields: Record<string, unknown>,
  input: EventInput,
  path: string,
  field: "start_time" | "end_time",
): void {
  const time = input[field];
  if (time === undefined) return;
  if (!Number.isFinite(time) || Math.abs(time) >= timeMsMax) {
    throw invalid(path, field, "must be Unix milliseconds between the years 1684 and 2255");
  }
  fields[field] = time;
}

function parseType(text: string, path: string): EventType {
  const type = eventTypes.find((known) => known === text);
  if (type !== undefined) return type;
  throw invalid(path, "event_type", faultOfChoice(eventTypes, text));
}

// Clients send an empty id for "none".
function parseId(text: string | undefined, path: string, field: string): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (!isRecordId(text)) throw invalid(path, field, "must be 1 to 128 printable characters");
  return text;
}

/**
 * Throws INVALID_ARGUMENT if no event may hold a value: non-finite numbers, which JSON lacks and
 * which would be stored as null; too many levels or values; a key that is too long. The message
 * begins with the path of the fault.
 */
export function assertSound(value: JsonObject, path: string): void {
  const fault = bucketFaultOf(value, path);
  if (fault !== undefined) throw new ServiceError("INVALID_ARGUMENT", fault);
}

/** Returns whether an event can hold a JSON value: finite numbers, at most `depth` levels. */
export function isSound(value: unknown, depth: number): boolean {
  return isWithin(value, depth, Number.isFinite);
}

function invalid(path: string, field: string, fault: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", `${path}${field}: ${fault}`);
}
