// Records the spans of one request as events: first ids, then the event of each span, then the
// names of sessions. Source: docs/spec.md, "Logging"; docs/decisions.md, 5, 6, 7 and 37.1.

import { quoteText } from "../../base/quote-text.ts";
import type { Reservation } from "../../base/byte-budget.ts";
import type { ProjectId } from "../../base/ids.ts";
import { createPacer } from "../../base/pacer.ts";
import { runPaced, type Steps } from "../../base/paced.ts";
import type { EventWrite } from "../events/event.ts";
import { weighFields } from "../events/event-limits.ts";
import type { Recorder } from "../events/record.ts";
import { firstText, identifySpans, type Identity } from "./identity.ts";
import { mapSpan, type MapSpanOptions, spanName } from "./map-span.ts";
import { findRepeatedCalls } from "./repeated-calls.ts";
import { type Rejected, type Span } from "./span.ts";
import { limitCopies, nameFaultOf, spanFaultOf, valueBytes } from "./span-limits.ts";

export type Traces = {
  /**
   * Stores every valid span and resolves after commit with the reasons for the others. Sending the
   * same spans again changes nothing. Throws OVERLOADED if the events do not fit into memory.
   */
  record(
    projectId: ProjectId,
    spans: readonly Span[],
    options: TracesOptions,
  ): Promise<readonly Rejected[]>;
};

export type TracesOptions = {
  /** Source of spans that name none. */
  readonly source?: string | undefined;
  /** Organization of the project; absent if unknown. */
  readonly organization?: string | undefined;
  /** Memory of the call. */
  readonly memory: Pick<Reservation, "grow" | "bytes" | "holder">;
};

export function createTraces({
  recorder,
}: {
  readonly recorder: Pick<Recorder, "record">;
}): Traces {
  return {
    async record(projectId, spans, options) {
      const steps = toWrites(spans, options);
      const mapped = await runPaced(steps, createPacer(options.memory.holder));
      const { writes, costs, sessionCount, sessionNames, rejected } = mapped;
      const { organization, memory } = options;
      const origin = { bytes: memory.bytes(), organization };
      const refused = await recorder.record(projectId, writes, { sessionNames, costs, ...origin });
      const unstored: Rejected[] = [];
      for (const [index, cause] of refused) {
        // A session is not a span; if the session is refused, its spans are refused too.
        if (index < sessionCount) continue;
        const name = writes[index]?.event_name ?? "";
        unstored.push({ reason: `span ${quoteText(name)}: ${cause}` });
      }
      return [...rejected, ...unstored];
    },
  };
}

export type SpanWrites = {
  readonly writes: readonly EventWrite[];
  readonly costs: readonly number[];
  /** Number of leading writes that are sessions, with the content that spans state about them. */
  readonly sessionCount: number;
  /** Names for sessions without another name: that of the first span without a parent. */
  readonly sessionNames: ReadonlyMap<string, string>;
  readonly rejected: readonly Rejected[];
};

/** Maps the spans of one request to writes, in the order of the spans. */
export function* toWrites(
  spans: readonly Span[],
  { source, memory }: TracesOptions,
): Steps<SpanWrites> {
  const identities = yield* identifySpans(spans);
  const copies = yield* limitCopies(spans, source ?? "");
  memory.grow(copies.bytes);
  const accepted: Mapped[] = [];
  const rejected: Rejected[] = [];
  const roots = new Map<string, Span>();
  const sessions = new Map<string, EventWrite>();
  for (const span of spans) {
    const ids = identities.get(span);
    if (ids === undefined) continue;
    const excess = copies.rejected.get(span);
    const mapped = mapWithin(span, ids, { source, excess });
    if ("fault" in mapped) {
      rejected.push({ reason: `span ${quoteText(span.name)}: ${mapped.fault}` });
    } else {
      memory.grow(mapped.values * valueBytes);
      accepted.push(mapped);
      noteRoot(roots, span, mapped.ids);
      noteSession(sessions, span, mapped.ids);
    }
    yield;
  }
  const events = yield* withoutRepeatedUsage(accepted, source);
  const sessionNames = new Map<string, string>();
  for (const [sessionId, root] of roots) sessionNames.set(sessionId, spanName(root));
  return {
    writes: [...sessions.values(), ...events.map(({ write }) => write)],
    costs: [...Array.from(sessions, () => 0), ...events.map(({ cost }) => cost)],
    sessionCount: sessions.size,
    sessionNames,
    rejected,
  };
}

type Mapped = {
  readonly span: Span;
  readonly write: EventWrite;
  readonly values: number;
  readonly cost: number;
  readonly ids: Identity;
};

type MapWithinOptions = MapSpanOptions & {
  /** Reason why the span does not fit into its request; absent if it does. */
  readonly excess?: string | undefined;
};

/** Maps a span to a storable event. */
function mapWithin(
  span: Span,
  ids: Identity | { readonly reason: string },
  { excess, ...options }: MapWithinOptions,
): Mapped | { readonly fault: string } {
  if ("reason" in ids) return { fault: ids.reason };
  const name = firstText(span, sessionNameKeys);
  const fault = excess ?? spanFaultOf(span) ?? nameFaultOf("session name", name);
  if (fault !== undefined) return { fault };
  const write = mapSpan(span, ids, options);
  const weighed = weighFields(write);
  return "fault" in weighed ? weighed : { span, write, ...weighed, ids };
}

/** Maps the spans of repeated calls again, so that the tokens of each call count once. */
function* withoutRepeatedUsage(
  mapped: readonly Mapped[],
  source: string | undefined,
): Steps<readonly Mapped[]> {
  const repeated = yield* findRepeatedCalls(mapped.map(({ write }) => write));
  if (repeated.size === 0) return mapped;
  const once: Mapped[] = [];
  for (const one of mapped) {
    if (repeated.has(one.write.event_id)) {
      const again = mapWithin(one.span, one.ids, { source, isRepeated: true });
      once.push("fault" in again ? one : again);
    } else once.push(one);
    yield;
  }
  return once;
}

function noteRoot(roots: Map<string, Span>, span: Span, { sessionId }: Identity): void {
  if (span.parentSpanId !== undefined || span.name === "") return;
  const known = roots.get(sessionId);
  if (known === undefined || span.startMs < known.startMs) roots.set(sessionId, span);
}

const sessionNameKeys = ["honeyhive_session_name", "honeyhive.session_name"];
const userKeys = ["honeyhive_user_id", "honeyhive.user_id"];

// Writes a session only for a name or user that a span states explicitly; the recorder itself
// creates the session. The earliest such span wins.
function noteSession(sessions: Map<string, EventWrite>, span: Span, { sessionId }: Identity): void {
  const name = firstText(span, sessionNameKeys);
  const user = firstText(span, userKeys);
  if (name === undefined && user === undefined) return;
  const known = sessions.get(sessionId);
  const isEarlier = known?.start_time === undefined || span.startMs < known.start_time;
  const said: Partial<EventWrite> = {
    ...(name === undefined ? {} : { event_name: name }),
    ...(user === undefined ? {} : { user_properties: { user_id: user } }),
  };
  sessions.set(sessionId, {
    ...(isEarlier ? { ...known, ...said } : { ...said, ...known }),
    event_id: sessionId,
    session_id: sessionId,
    event_type: "session",
    start_time: isEarlier ? span.startMs : (known?.start_time ?? span.startMs),
  });
}
