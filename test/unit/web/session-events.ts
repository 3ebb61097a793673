// Events of sessions for tests of the session page's logic, some of them made at random.

import * as fc from "fast-check";
import type { SessionEvent } from "../../../src/web/app/pages/session/session-event.ts";

/** Returns an event with defaults for all fields that a test does not set; it has no length. */
export function anEvent(fields: Partial<SessionEvent> & { readonly id: string }): SessionEvent {
  const { startMs = 0, endMs = startMs } = fields;
  return {
    parentId: "session",
    type: "tool",
    name: fields.id,
    error: undefined,
    durationMs: endMs - startMs,
    model: undefined,
    promptTokens: 0,
    completionTokens: 0,
    totalTokens: 0,
    cost: undefined,
    isCostEstimate: false,
    hasFeedback: false,
    ...fields,
    startMs,
    endMs,
  };
}

/** Returns the session's own event. */
export function aSession(startMs = 0, endMs = 1_000): SessionEvent {
  return anEvent({ id: "session", type: "session", parentId: undefined, startMs, endMs });
}

/** Ids of few values, so that orphans, cycles, events twice and own parents come up often. */
const ids = fc.integer({ min: 0, max: 11 }).map((n) => `e${n}`);

/** Events in any order, whose parents may be absent, later, themselves, or below them. */
export const anyEvents: fc.Arbitrary<readonly SessionEvent[]> = fc.array(
  fc
    .record({
      id: ids,
      parentId: fc.option(fc.oneof(ids, fc.constantFrom("session", "nowhere")), { nil: undefined }),
      type: fc.constantFrom("model", "tool", "chain"),
      name: fc.constantFrom("search", "answer", "plan"),
      startMs: fc.integer({ min: 0, max: 1_000 }),
      lengthMs: fc.integer({ min: 0, max: 400 }),
    })
    .map(({ lengthMs, ...event }) => anEvent({ ...event, endMs: event.startMs + lengthMs })),
  { maxLength: 40 },
);
