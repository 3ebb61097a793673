// Records the spans of one request as events: ids first, then each span's event, then the names
// their sessions get. Called by transport/otlp/handlers.ts.
// Source: docs/spec.md, "Logging"; docs/decisions.md, 5 to 7 and 37.

import type { ProjectId } from "../../base/ids.ts";
import type { EventWrite } from "../events/event.ts";
import type { Recorder } from "../events/record.ts";
import { firstText, identifySpans, type Identity } from "./identity.ts";
import { mapSpan } from "./map-span.ts";
import { quoteName, type RejectedSpan, type Span } from "./span.ts";

export type Traces = {
  /**
   * Stores every span that can be stored and resolves after commit with the reasons for the others.
   * Sending the same spans again changes nothing. `source` stands where a span names none.
   */
  record(
    projectId: ProjectId,
    spans: readonly Span[],
    options: { readonly source?: string | undefined },
  ): Promise<readonly RejectedSpan[]>;
};

export function createTraces({
  recorder,
}: {
  readonly recorder: Pick<Recorder, "record">;
}): Traces {
  return {
    async record(projectId, spans, { source }) {
      const { writes, sessionNames, rejected } = toWrites(spans, source);
      const refused = await recorder.record(projectId, writes, { sessionNames });
      const clashes = writes
        .filter((write) => refused.has(write.event_id))
        .map(({ event_name = "", event_id }) => ({
          reason: `span ${quoteName(event_name)}: its event id ${event_id} is a session's`,
        }));
      return [...rejected, ...clashes];
    },
  };
}

export type SpanWrites = {
  readonly writes: readonly EventWrite[];
  /** Names for sessions that get none otherwise: of the first span without a parent. */
  readonly sessionNames: ReadonlyMap<string, string>;
  readonly rejected: readonly RejectedSpan[];
};

/** Maps the spans of one request to writes, in the order of the spans. */
export function toWrites(spans: readonly Span[], source: string | undefined): SpanWrites {
  const identities = identifySpans(spans);
  const writes: EventWrite[] = [];
  const rejected: RejectedSpan[] = [];
  const roots = new Map<string, Span>();
  const sessions = new Map<string, EventWrite>();
  for (const span of spans) {
    const ids = identities.get(span);
    if (ids === undefined) continue;
    if ("reason" in ids) {
      rejected.push({ reason: `span ${quoteName(span.name)}: ${ids.reason}` });
      continue;
    }
    writes.push(mapSpan(span, ids, source));
    noteRoot(roots, span, ids);
    noteSession(sessions, span, ids);
  }
  const sessionNames = new Map<string, string>();
  for (const [sessionId, root] of roots) sessionNames.set(sessionId, root.name);
  return { writes: [...sessions.values(), ...writes], sessionNames, rejected };
}

function noteRoot(roots: Map<string, Span>, span: Span, { sessionId }: Identity): void {
  if (span.parentSpanId !== undefined || span.name === "") return;
  const known = roots.get(sessionId);
  if (known === undefined || span.startMs < known.startMs) roots.set(sessionId, span);
}

const sessionNameKeys = ["honeyhive_session_name", "honeyhive.session_name"];
const userKeys = ["honeyhive_user_id", "honeyhive.user_id"];

// A session is written only for what a span says of it in so many words; the recorder makes the
// session itself. The earliest span that says something decides.
function noteSession(sessions: Map<string, EventWrite>, span: Span, { sessionId }: Identity): void {
  const name = firstText(span, sessionNameKeys)?.text;
  const user = firstText(span, userKeys)?.text;
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
