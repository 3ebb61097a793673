// Sends mapped records in batches and counts what became of them. Sending a record again changes
// nothing: its ids are derived from it, and the service merges equal fields.
// Source: docs/decisions.md, 6 and 46.1.

import {
  isJsonArray,
  isJsonObject,
  isWithin,
  type JsonObject,
  type JsonValue,
} from "../../base/json.ts";
import { unknownName } from "../../tracing/events/event.ts";
import { messageOf } from "../service-client.ts";
import type { Client } from "./client.ts";
import type { Mapped, Mapper, Write } from "./mapping.ts";
import { readExport, type ReadRecord } from "./read-export.ts";
import { countFields, reject, type Report } from "./report.ts";
import { BadRecord } from "./source-record.ts";

export type ImporterOptions = {
  readonly mapper: Mapper;
  readonly report: Report;
  /** The last line of an export of this format, which says how many records it has. */
  readonly endLine?: string;
  /** Undefined to send nothing. */
  readonly client: Client | undefined;
};

/** A record with its place, and what became of its writes. */
type Item = {
  readonly file: string;
  readonly line: number;
  readonly mapped: Mapped;
  existed: number;
  reason: string | undefined;
  rejected: number;
};

type Part<K extends Write["kind"]> = { readonly item: Item; readonly write: WriteOf<K> };
type WriteOf<K extends Write["kind"]> = Extract<Write, { readonly kind: K }>;

/** Maximum records of a batch, and the length of their text: bounds memory and requests. */
const batchRecordsMax = 250;
const batchLengthMax = 4_000_000;
/** Levels of a record in which numbers are looked for; an event has far fewer. */
const levelsMax = 1_000;
/** Maximum ids of a look-up. */
const idsMax = 100;
/** Calls at the same time for records that have no batch of their own. */
const callsMax = 8;
/** Maximum sessions that an import remembers to have begun by their events. */
const begunMax = 100_000;

/** Imports the files, one after another; the report counts as it goes. */
export async function importFiles(
  files: readonly string[],
  { mapper, report, client, endLine }: ImporterOptions,
): Promise<void> {
  const begun = new Set<string>();
  for (const file of files) {
    let batch: Item[] = [];
    let length = 0;
    const before = report.records.read;
    let end: { readonly line: number; readonly total?: number | undefined } = { line: 0 };
    for await (const read of readExport(file)) {
      const item = toItem(file, read, mapper, report);
      end = { line: read.line, total: item?.mapped.total };
      if (item === undefined) continue;
      if (batch.length >= batchRecordsMax || length + read.text.length > batchLengthMax) {
        await send(batch, { client, report, begun });
        batch = [];
        length = 0;
      }
      batch.push(item);
      length += read.text.length;
    }
    await send(batch, { client, report, begun });
    if (endLine !== undefined && end.total !== report.records.read - before) {
      const reason = `the export is not whole: its last line must be ${endLine} with its events`;
      reject(report, { file, line: end.line, reason });
    }
  }
}

function toItem(
  file: string,
  { line, text, record, reason }: ReadRecord,
  mapper: Mapper,
  report: Report,
): Item | undefined {
  try {
    if (record === undefined) throw new BadRecord(reason);
    const mapped = mapper(record, text);
    // Sent as JSON, such a number would become null.
    if (!isWithin(mapped.writes, levelsMax, Number.isFinite)) {
      throw new BadRecord("has a number beyond 1.8e308, or too many levels");
    }
    report.records.read += mapped.records;
    countFields(report.fields_mapped, mapped.mapped);
    countFields(report.fields_kept_raw, mapped.raw);
    return { file, line, mapped, existed: 0, reason: undefined, rejected: 0 };
  } catch (error) {
    if (!(error instanceof BadRecord)) throw error;
    report.records.read += 1;
    reject(report, { file, line, reason: error.message });
    return undefined;
  }
}

type Sending = {
  readonly client: Client | undefined;
  readonly report: Report;
  /** Sessions that this import began by an event, before their own record. */
  readonly begun: Set<string>;
};

async function send(items: readonly Item[], { client, report, begun }: Sending): Promise<void> {
  if (client === undefined || items.length === 0) return;
  const parts = <K extends Write["kind"]>(kind: K): Part<K>[] =>
    items.flatMap((item) =>
      item.mapped.writes.flatMap((write) =>
        write.kind === kind ? [{ item, write: write as WriteOf<K> }] : [],
      ),
    );
  const events = parts("event");
  const spans = parts("spans");
  const ids = [...events.map(({ write }) => write.eventId), ...spans.flatMap(idsOf)];
  const known = await findKnown(client, ids);
  const found = new Set(events.filter(({ write }) => isThere(write, known)));
  for (const event of events) if (!found.has(event)) begin(begun, event.write);
  for (const event of events) {
    if (!begun.delete(event.write.eventId) && found.has(event)) event.item.existed += 1;
  }
  for (const part of spans) part.item.existed += idsOf(part).filter((id) => known.has(id)).length;
  await sendEvents(client, events);
  await sendSpans(client, spans);
  report.scores_waiting += await sendUpdates(client, parts("update"));
  for (const item of items) count(item, report);
}

function idsOf({ write }: Part<"spans">): readonly string[] {
  return write.eventIds;
}

function count({ file, line, mapped, existed, reason, rejected }: Item, report: Report): void {
  const { records, writes } = mapped;
  if (reason !== undefined) reject(report, { file, line, reason }, rejected);
  const isOne = records === 1;
  const already = isOne ? Number(existed >= writes.length) : Math.min(existed, records - rejected);
  const accepted = records - rejected;
  const old = Math.min(already, accepted);
  report.records.already_stored += old;
  report.records.stored += accepted - old;
}

function blame(item: Item, reason: string, rejected = 1): void {
  item.reason ??= reason;
  item.rejected = Math.min(item.mapped.records, Math.max(item.rejected, rejected));
}

type Known = ReadonlyMap<string, JsonObject>;

// A session that exists because its first event does has nothing of its own record yet.
function isThere({ eventId, event }: WriteOf<"event">, known: Known): boolean {
  const found = known.get(eventId);
  if (found === undefined || event["event_type"] !== "session") return found !== undefined;
  const held = new Set(keysOf(found["metadata"]));
  return (isNamed(found) || !isNamed(event)) && keysOf(event["metadata"]).every((k) => held.has(k));
}

/** Remembers the session that a new event begins; the one of longest ago is forgotten. */
function begin(begun: Set<string>, { event }: WriteOf<"event">): void {
  const { session_id: sessionId } = event;
  if (typeof sessionId !== "string") return;
  begun.add(sessionId);
  const [first] = begun;
  if (begun.size > begunMax && first !== undefined) begun.delete(first);
}

function isNamed({ event_name: name }: JsonObject): boolean {
  return name !== undefined && name !== unknownName;
}

function keysOf(value: JsonValue | undefined): readonly string[] {
  return isJsonObject(value) ? Object.keys(value) : [];
}

/** Returns the events that the project has, with their names, feedback and metadata. */
async function findKnown(client: Client, ids: readonly string[]): Promise<Known> {
  const found = new Map<string, JsonObject>();
  const unique = [...new Set(ids)];
  const starts = Array.from({ length: Math.ceil(unique.length / idsMax) }, (_, i) => i * idsMax);
  await eachOf(starts, async (start) => {
    for (const event of await getEvents(client, unique.slice(start, start + idsMax))) {
      const { event_id: id } = event;
      if (typeof id === "string") found.set(id, event);
    }
  });
  return found;
}

// Events that are too large to be answered together are asked for in halves.
async function getEvents(client: Client, ids: readonly string[]): Promise<readonly JsonObject[]> {
  const request = { event_ids: ids, projections: ["event_name", "feedback", "metadata"] };
  const { status, body } = await client.call("POST", "/v1/events/get", request);
  if (status >= 300 && ids.length > 1) {
    const middle = Math.ceil(ids.length / 2);
    const first = await getEvents(client, ids.slice(0, middle));
    return [...first, ...(await getEvents(client, ids.slice(middle)))];
  }
  return isJsonArray(body["events"]) ? body["events"].filter(isJsonObject) : [];
}

/** Runs `work` on each item, a few at a time. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: callsMax }, lane));
}

const indexed = /^events\[(\d+)\]\.?/;

async function sendEvents(client: Client, parts: readonly Part<"event">[]): Promise<void> {
  if (parts.length === 0) return;
  const events = parts.map(({ write }) => write.event);
  const { status, body } = await client.call("POST", "/events/batch", { events });
  const errors = textsOf(body["errors"]);
  const faults = errors.map((error) => [indexed.exec(error)?.[1], error] as const);
  const isKnown = faults.every(([index]) => index !== undefined);
  if (status < 300 && faults.length === 0) return;
  if (faults.length > 0 && isKnown) {
    for (const [index, error] of faults) {
      const part = parts[Number(index)];
      if (part !== undefined) blame(part.item, error.replace(indexed, ""));
    }
    return;
  }
  await halve(parts, messageOf(body), (half) => sendEvents(client, half));
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return isJsonArray(value) ? value.map(textOf) : [];
}

// A request that fails as a whole is sent in halves, until the record at fault stands alone.
async function halve<P extends { readonly item: Item }>(
  parts: readonly P[],
  reason: string,
  sendHalf: (half: readonly P[]) => Promise<void>,
): Promise<void> {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    blame(only.item, reason, only.item.mapped.records);
    return;
  }
  const middle = Math.ceil(parts.length / 2);
  await sendHalf(parts.slice(0, middle));
  await sendHalf(parts.slice(middle));
}

// A whole request goes alone: spans join sessions of spans in their own request only.
async function sendSpans(client: Client, parts: readonly Part<"spans">[]): Promise<void> {
  const shared = parts.filter(({ write }) => typeof write.spans !== "string");
  for (const part of parts) {
    if (typeof part.write.spans === "string") await sendRequest(client, [part], part.write.spans);
  }
  if (shared.length > 0) await sendShared(client, shared);
}

async function sendShared(client: Client, parts: readonly Part<"spans">[]): Promise<void> {
  const resourceSpans = parts.map(({ write }) => write.spans);
  await sendRequest(client, parts, JSON.stringify({ resourceSpans }));
}

async function sendRequest(
  client: Client,
  parts: readonly Part<"spans">[],
  request: string,
): Promise<void> {
  const { status, body } = await client.call("POST", "/v1/traces", request);
  const partial = isJsonObject(body["partialSuccess"]) ? body["partialSuccess"] : {};
  const rejected = status < 300 ? Number(partial["rejectedSpans"] ?? 0) : Infinity;
  if (rejected === 0) return;
  const reason = status < 300 ? textOf(partial["errorMessage"]) : messageOf(body);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) blame(only.item, reason, rejected);
  else await halve(parts, reason, (half) => sendShared(client, half));
}

/** Sends scores, in order for each event; returns how many found no event. */
async function sendUpdates(client: Client, parts: readonly Part<"update">[]): Promise<number> {
  const byEvent = Map.groupBy(parts, ({ write }) => write.eventId);
  const known = await findKnown(client, [...byEvent.keys()]);
  let waiting = 0;
  await eachOf([...byEvent], async ([eventId, ofEvent]) => {
    const found = known.get(eventId);
    const feedback = found?.["feedback"];
    for (const { item, write } of ofEvent) {
      if (isJsonObject(feedback) && Object.hasOwn(feedback, write.mark)) item.existed += 1;
      const update = { event_id: eventId, ...write.update };
      const { status, body } = await client.call("PUT", "/events", update);
      if (status >= 300) blame(item, messageOf(body));
      else if (found === undefined) waiting += 1;
    }
  });
  return waiting;
}
