// Scores of a run's events, gathered by metric and by session in one pass, in steps.
// Source: the published clients of this API; docs/decisions.md, 27.

import type { JsonValue } from "../../base/json.ts";
import type { Steps } from "../../base/paced.ts";
import type { RunEvent } from "../../tracing/run-events/run-events.ts";
import type { Threshold } from "../metrics/definition.ts";
import { isInRange, type KnownMetric, passes, type PassingRange } from "./passing.ts";

/** Metrics and ranges by which scores pass. */
export type Judging = {
  readonly metrics: ReadonlyMap<string, KnownMetric>;
  readonly passingRanges: Readonly<Record<string, PassingRange>>;
};

export type EventKind = { readonly eventName: string; readonly eventType: string };

/** A metric on events of one name and type. */
export type MetricPlace = EventKind & { readonly metricName: string };

/** A score on an event, or a failed evaluation. */
export type Score = {
  readonly place: MetricPlace;
  readonly sessionId: string;
  readonly datapointId: string | null;
  /** Never null, unless the evaluation failed. */
  readonly value: JsonValue;
  readonly failure: string | undefined;
  readonly passed: boolean;
};

/** Scores of one metric on events of one name and type. */
export type MetricScores = MetricPlace & { readonly scores: readonly Score[] };

/** Scores of one session. */
export type SessionScores = {
  readonly sessionId: string;
  /** Null if no event of the session names one. */
  readonly datapointId: string | null;
  readonly passed: boolean;
  readonly scores: readonly Score[];
};

export type GatheredScores = {
  /** In the order of their texts, by a text that is equal for one metric on one kind of event. */
  readonly metrics: ReadonlyMap<string, MetricScores>;
  /** In the order in which they began. */
  readonly sessions: readonly SessionScores[];
  /** Kinds of all events, in the order of their texts. */
  readonly eventKinds: readonly EventKind[];
};

const explanationSuffix = "_explanation";
const failureSuffix = "_failure";

/** Items between two steps: far less than a millisecond of work. */
export const itemsOfStep = 128;

/** Gathers the scores of events and their failed evaluations. */
export function* gatherScores(
  events: readonly RunEvent[],
  judging: Judging,
): Steps<GatheredScores> {
  const kinds = createKinds(judging);
  const sessions = new Map<string, OpenSession>();
  for (let at = 0; at < events.length; at += 1) {
    if (at % itemsOfStep === 0) yield;
    const event = events[at];
    if (event) addEvent(event, kinds.of(event), sessionOf(sessions, event));
  }
  return { metrics: kinds.metrics(), sessions: [...sessions.values()], eventKinds: kinds.all() };
}

type OpenSession = {
  readonly sessionId: string;
  datapointId: string | null;
  passed: boolean;
  readonly scores: Score[];
};

function sessionOf(
  sessions: Map<string, OpenSession>,
  { sessionId, datapointId }: RunEvent,
): OpenSession {
  const known = sessions.get(sessionId);
  if (known) {
    known.datapointId ??= datapointId;
    return known;
  }
  const session = { sessionId, datapointId, passed: true, scores: [] };
  sessions.set(sessionId, session);
  return session;
}

function addEvent(event: RunEvent, kind: Kind, session: OpenSession): void {
  const { metrics, sessionId, datapointId, hasFailed } = event;
  if (hasFailed) session.passed = false;
  for (const key of Object.keys(metrics)) {
    // Null is the absence of a score, as it is to filters.
    const value = metrics[key] ?? null;
    if (value === null) continue;
    const reader = kind.readerOf(key);
    if (isOfScore(reader, metrics)) continue;
    const { place, isFailure, group, range, threshold } = reader;
    const isGood = range ? isInRange(value, range) : (passes(value, threshold) ?? true);
    const passed = !isFailure && isGood;
    const score = {
      place,
      sessionId,
      datapointId,
      value: isFailure ? null : value,
      failure: isFailure ? toText(value) : undefined,
      passed,
    };
    group.push(score);
    session.scores.push(score);
    if (!passed) session.passed = false;
  }
}

/** Returns whether a key is the explanation of a score, or a failure that a score has replaced. */
function isOfScore({ base, isFailure }: Reader, metrics: RunEvent["metrics"]): boolean {
  if (base === undefined || !Object.hasOwn(metrics, base)) return false;
  return !isFailure || metrics[base] !== null;
}

/** How a key of the metrics of one kind of event is read. */
type Reader = {
  readonly place: MetricPlace;
  /**
   * Metric that the key continues: beside a score of it, the key is the score's explanation, or a
   * failure that the score has replaced.
   */
  readonly base: string | undefined;
  readonly isFailure: boolean;
  /** The run's own range, which comes before the threshold. */
  readonly range: PassingRange | undefined;
  readonly threshold: Threshold | null;
  readonly group: Score[];
};

type Kind = EventKind & { readerOf(key: string): Reader };

/** Returns the kinds of events as they are met, and their scores by metric. */
function createKinds(judging: Judging) {
  const byName = new Map<string, Map<string, Kind>>();
  const groups = new Map<string, MetricPlace & { readonly scores: Score[] }>();

  function groupOf(place: MetricPlace): Score[] {
    const { metricName, eventName, eventType } = place;
    const key = JSON.stringify([metricName, eventName, eventType]);
    const known = groups.get(key);
    if (known) return known.scores;
    const scores: Score[] = [];
    groups.set(key, { ...place, scores });
    return scores;
  }

  function createKind(kind: EventKind): Kind {
    const readers = new Map<string, Reader>();
    const createReader = (key: string): Reader => {
      const isFailure = key.endsWith(failureSuffix);
      const suffix = isFailure ? failureSuffix : explanationSuffix;
      const base = key.endsWith(suffix) ? key.slice(0, -suffix.length) : undefined;
      const metricName = isFailure && base !== undefined ? base : key;
      const place = { ...kind, metricName };
      return {
        place,
        base,
        isFailure,
        range: ownRange(metricName, judging),
        threshold: thresholdOf(metricName, judging),
        group: groupOf(place),
      };
    };
    return {
      ...kind,
      readerOf(key) {
        const known = readers.get(key);
        if (known) return known;
        const reader = createReader(key);
        readers.set(key, reader);
        return reader;
      },
    };
  }

  return {
    of({ eventName, eventType }: RunEvent): Kind {
      const byType = byName.get(eventName) ?? new Map<string, Kind>();
      const kind = byType.get(eventType) ?? createKind({ eventName, eventType });
      byName.set(eventName, byType.set(eventType, kind));
      return kind;
    },
    /** Returns the groups that have scores. */
    metrics(): ReadonlyMap<string, MetricScores> {
      const filled = [...groups].filter(([, { scores }]) => scores.length > 0);
      return new Map(filled.toSorted(byKey));
    },
    all(): readonly EventKind[] {
      const kinds = [...byName.values()].flatMap((byType) => [...byType.values()]);
      return kinds
        .map(({ eventName, eventType }) => ({ eventName, eventType }))
        .map((kind) => [JSON.stringify([kind.eventName, kind.eventType]), kind] as const)
        .toSorted(byKey)
        .map(([, kind]) => kind);
    },
  };
}

/** Compares entries by their keys, as `toSorted` compares texts. */
function byKey([one]: readonly [string, unknown], [two]: readonly [string, unknown]): number {
  if (one === two) return 0;
  return one < two ? -1 : 1;
}

/** Returns the run's own range for a metric. */
export function ownRange(name: string, { passingRanges }: Judging): PassingRange | undefined {
  return Object.hasOwn(passingRanges, name) ? passingRanges[name] : undefined;
}

/** Returns the threshold of a metric; null without one. */
export function thresholdOf(name: string, { metrics }: Judging): Threshold | null {
  return metrics.get(name)?.threshold ?? null;
}

function toText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
