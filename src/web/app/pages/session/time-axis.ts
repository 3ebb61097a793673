// The time axis of a session. A time in which nothing ran, such as the night between two questions,
// takes a small fixed share of it, so that the work on both sides stays readable. Pure functions.

import type { SessionEvent } from "./session-event.ts";

export type TimeGap = {
  /** Places on the axis, 0 to 1. */
  readonly from: number;
  readonly to: number;
  readonly durationMs: number;
};

export type TimeAxis = {
  readonly startMs: number;
  readonly endMs: number;
  /** Returns the place of a time, 0 to 1. */
  readonly placeOf: (timeMs: number) => number;
  readonly gaps: readonly TimeGap[];
};

/** Share of the whole time from which on an idle time is shortened. */
const gapShareMin = 0.15;
/** Place that a shortened time takes. */
const gapPlace = 0.03;

type Span = { readonly startMs: number; readonly endMs: number };

/** Creates the axis of some events, which are in order of their start. */
export function createTimeAxis(events: readonly SessionEvent[]): TimeAxis {
  const busy = busySpans(events);
  const startMs = busy[0]?.startMs ?? 0;
  const endMs = busy.at(-1)?.endMs ?? startMs;
  const isInstants = busy.every((span) => span.startMs === span.endMs);
  // Between instants alone there is nothing that shorter gaps would make readable.
  const gapMsMin = isInstants ? Infinity : Math.max(1, (endMs - startMs) * gapShareMin);
  const idle = busy
    .slice(1)
    .map((span, at) => ({ startMs: busy[at]?.endMs ?? 0, endMs: span.startMs }))
    .filter((gap) => gap.endMs - gap.startMs >= gapMsMin);
  const idleMs = idle.reduce((sum, gap) => sum + gap.endMs - gap.startMs, 0);
  const busyMs = Math.max(1e-6, endMs - startMs - idleMs);
  const busyPlace = 1 - idle.length * gapPlace;
  const gaps: TimeGap[] = [];
  const stops = [{ timeMs: startMs, place: 0 }];
  let place = 0;
  let timeMs = startMs;
  for (const gap of idle) {
    place += ((gap.startMs - timeMs) / busyMs) * busyPlace;
    gaps.push({ from: place, to: place + gapPlace, durationMs: gap.endMs - gap.startMs });
    stops.push({ timeMs: gap.startMs, place });
    place += gapPlace;
    timeMs = gap.endMs;
    stops.push({ timeMs, place });
  }
  stops.push({ timeMs: Math.max(endMs, startMs + 1e-6), place: 1 });
  return { startMs, endMs, gaps, placeOf: (time) => placeBetween(stops, time) };
}

/**
 * Returns the times in which anything but the session itself ran, as spans that do not touch. The
 * session counts by its start and its end, so that the axis is as long as the session was.
 */
function busySpans(events: readonly SessionEvent[]): readonly Span[] {
  const times = events.flatMap((event): Span | readonly Span[] =>
    event.type === "session" ? [instant(event.startMs), instant(event.endMs)] : event,
  );
  const spans: { startMs: number; endMs: number }[] = [];
  for (const { startMs, endMs } of times.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = spans.at(-1);
    if (last && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else spans.push({ startMs, endMs });
  }
  return spans;
}

function instant(timeMs: number): Span {
  return { startMs: timeMs, endMs: timeMs };
}

type Stop = { readonly timeMs: number; readonly place: number };

function placeBetween(stops: readonly Stop[], timeMs: number): number {
  const after = stops.findIndex((stop) => stop.timeMs > timeMs);
  if (after < 0) return 1;
  const [from, to] = [stops[after - 1], stops[after]];
  if (!from || !to) return 0;
  return (
    from.place + ((timeMs - from.timeMs) / (to.timeMs - from.timeMs)) * (to.place - from.place)
  );
}
