// Estimates the costs of a project's stored model events anew, with the price table that is
// installed now, and says what changes; stores it only when asked to. Called by commands/prices.ts.
// Source: docs/decisions.md, 18; docs/generations.md.

import { isDeepStrictEqual } from "node:util";
import type { ProjectId } from "../../base/ids.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { CostEstimate, EstimateCost } from "../../tracing/events/event.ts";
import * as store from "./store.ts";
import type { EstimatedEvent, EventPosition, Span } from "./store.ts";

/** Sums over events; costs in US dollars, of the events whose price is known, null without any. */
export type Recosted = {
  /** Model events with an estimate, before or after. */
  readonly events: number;
  readonly before: number | null;
  readonly after: number | null;
  /** Events whose estimate is another one now, in its price table at least. */
  readonly changed: number;
  /** Events whose price is not known now. */
  readonly unknown: number;
};

export type RecostReport = {
  /** By provider and model, the costliest first. */
  readonly models: readonly (Recosted & { readonly name: string })[];
  readonly total: Recosted;
  /** How many events there are for each reason why a price is not known, the most first. */
  readonly reasons: readonly { readonly reason: string; readonly events: number }[];
};

export type RecostOptions = {
  /** The cluster that holds the project's events. */
  readonly database: Database;
  readonly projectId: ProjectId;
  readonly span: Span;
  readonly estimateCost: EstimateCost;
  /** False to change nothing. */
  readonly applies: boolean;
};

/** Events of one transaction: what they carry is small, and writers do not wait long for them. */
const pageEvents = 500;
/** Models, and reasons, of a report: what senders call models may have no end. */
const rowsMax = 500;
const others = "(others)";

export async function recost(options: RecostOptions): Promise<RecostReport> {
  const models = new Map<string, Recosted>();
  const reasons = new Map<string, number>();
  let after: EventPosition | undefined;
  do {
    const events = await options.database.transaction((sql) => recostPage(sql, options, after));
    after = events.at(-1);
    for (const event of events.filter(({ before, now }) => before !== null || now !== null)) {
      const name = rowOf(models, event.name);
      models.set(name, add(models.get(name) ?? noEvents, toSums(event)));
      if (event.now?.reason === undefined) continue;
      const reason = rowOf(reasons, event.now.reason);
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  } while (after !== undefined);
  return toReport(models, reasons);
}

/** The row of a name; past the bound the one that stands for all others. */
function rowOf(rows: ReadonlyMap<string, unknown>, name: string): string {
  return rows.has(name) || rows.size < rowsMax ? name : others;
}

type RecostedEvent = EventPosition & {
  readonly name: string;
  readonly before: CostEstimate | null;
  readonly now: CostEstimate | null;
};

async function recostPage(
  sql: Sql,
  { projectId, span, estimateCost, applies }: RecostOptions,
  after: EventPosition | undefined,
): Promise<readonly RecostedEvent[]> {
  const toRecosted = (event: EstimatedEvent): RecostedEvent => ({
    eventId: event.eventId,
    startTimeUs: event.startTimeUs,
    name: nameOf(event),
    before: event.estimate,
    now: estimateCost(event.priced),
  });
  const page = { after, limit: pageEvents };
  const events = (await store.listModelEvents(sql, projectId, span, page)).map(toRecosted);
  const stale = events.filter(isChanged).map(({ eventId }) => eventId);
  if (!applies || stale.length === 0) return events;
  // Read again under a lock: what a writer has stored meanwhile is estimated from that.
  const locked = (await store.lockModelEvents(sql, projectId, stale)).map(toRecosted);
  await store.setEstimates(
    sql,
    projectId,
    locked.map(({ eventId, now }) => ({ eventId, estimate: now })),
  );
  return events;
}

function isChanged({ before, now }: RecostedEvent): boolean {
  return !isDeepStrictEqual(before, now);
}

function nameOf({ priced: { config, metadata } }: EstimatedEvent): string {
  const provider = config["provider"] ?? metadata["provider"];
  return [provider, config["model"]].map(toText).join("/");
}

function toText(value: JsonValue | undefined): string {
  return typeof value === "string" && value !== "" ? value : "?";
}

const noEvents: Recosted = { events: 0, before: null, after: null, changed: 0, unknown: 0 };

function toSums(event: RecostedEvent): Recosted {
  const { before, now } = event;
  return {
    events: 1,
    before: before?.cost ?? null,
    after: now?.cost ?? null,
    changed: isChanged(event) ? 1 : 0,
    unknown: now?.cost === null ? 1 : 0,
  };
}

function add(a: Recosted, b: Recosted): Recosted {
  return {
    events: a.events + b.events,
    before: addCosts(a.before, b.before),
    after: addCosts(a.after, b.after),
    changed: a.changed + b.changed,
    unknown: a.unknown + b.unknown,
  };
}

function addCosts(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : a + b;
}

function toReport(
  models: ReadonlyMap<string, Recosted>,
  reasons: ReadonlyMap<string, number>,
): RecostReport {
  const rows = [...models].map(([name, sums]) => ({ name, ...sums }));
  return {
    models: rows.toSorted((a, b) => (b.after ?? 0) - (a.after ?? 0) || b.events - a.events),
    total: [...models.values()].reduce(add, noEvents),
    reasons: [...reasons]
      .map(([reason, events]) => ({ reason, events }))
      .toSorted((a, b) => b.events - a.events),
  };
}
