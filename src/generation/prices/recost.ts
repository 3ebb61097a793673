// Estimates the costs of a project's stored model events again with the installed price table,
// reports the changes, and stores them if asked to. Source: docs/decisions.md, 18.2;
// docs/generations.md.

import { isDeepStrictEqual } from "node:util";
import type { ProjectId } from "../../base/ids.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { CostEstimate, EstimateCost } from "../../tracing/events/event.ts";
import * as store from "./store.ts";
import type { EstimatedEvent, EventPosition, Span } from "./store.ts";

/** Sums over events. Costs are US dollars of events with a known price; null without any. */
export type Recosted = {
  /** Number of model events with an estimate before or after. */
  readonly events: number;
  readonly before: number | null;
  readonly after: number | null;
  /** Number of events whose estimate differs now, at least in its price table. */
  readonly changed: number;
  /** Number of events whose price is unknown now. */
  readonly unknown: number;
};

export type RecostReport = {
  /** Sums by provider and model, the highest cost first. */
  readonly models: readonly (Recosted & { readonly name: string })[];
  readonly total: Recosted;
  /** Number of events for each reason of an unknown price, the most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly events: number }[];
};

export type RecostOptions = {
  /** Database of the cluster with the project's events. */
  readonly database: Database;
  readonly projectId: ProjectId;
  readonly span: Span;
  readonly estimateCost: EstimateCost;
  /** Whether to store the changes. */
  readonly applies: boolean;
};

/** Events per transaction: small, so that writers do not wait long for their locks. */
const pageEvents = 500;
/** Maximum models and reasons in a report, because senders choose the model names. */
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

/** Returns the row of a name; beyond the maximum, the row for all others. */
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
  // Reads again under a lock, so that changes by writers since the first read are included.
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
