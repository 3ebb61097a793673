// Finds model calls that two instrumentations recorded: each of the two would count the tokens of
// the call. Source: docs/otlp.md, "Fields".

import type { Steps } from "../../base/paced.ts";
import type { EventWrite } from "../events/event.ts";
import { findUpwards, type Upwards } from "./upwards.ts";
import { toNumber } from "./values.ts";

/**
 * Returns the ids of those events of one request that repeat the call of another one: it is the
 * nearest model event inside and has the same counts of tokens, or it has the same id of the
 * provider's response and ran at the same time. Of two, the outer one repeats the inner one.
 */
export function* findRepeatedCalls(events: readonly EventWrite[]): Steps<ReadonlySet<string>> {
  const repeated = new Set<string>();
  const calls = events.flatMap((event) => readCall(event) ?? []);
  if (calls.length < 2) return repeated;
  yield* addOuterCalls(repeated, calls, events);
  yield* addSameResponses(repeated, calls);
  return repeated;
}

/** Model event with tokens. */
type Call = {
  readonly event: EventWrite;
  /** Text that only calls with the same counts have. */
  readonly counts: string;
  readonly start: number;
  readonly end: number;
  /** Absent if it does not tell calls apart. */
  readonly responseId: string | undefined;
};

/** Minimum characters of an id that no other call has. Ollama's have three digits. */
const responseIdLengthMin = 20;

function readCall(event: EventWrite): Call | undefined {
  const { event_type, metadata = {}, start_time: start = 0, end_time: end = start } = event;
  if (event_type !== "model") return undefined;
  const prompt = toNumber(metadata["prompt_tokens"]) ?? 0;
  const completion = toNumber(metadata["completion_tokens"]) ?? 0;
  if (prompt + completion === 0) return undefined;
  const id = metadata["response_id"];
  const responseId = typeof id === "string" && id.length >= responseIdLengthMin ? id : undefined;
  return { event, counts: `${prompt} ${completion}`, start, end, responseId };
}

function* addOuterCalls(
  repeated: Set<string>,
  calls: readonly Call[],
  events: readonly EventWrite[],
): Steps<void> {
  const byId = new Map(events.map((event) => [event.event_id, event]));
  const callOf = new Map(calls.map((call) => [call.event, call]));
  const parentOf = (event: EventWrite) => byId.get(event.parent_id ?? "");
  const nearestModel: Upwards<EventWrite, EventWrite> = {
    parentOf,
    answerOf: (event) => (event.event_type === "model" ? event : undefined),
    found: new Map(),
  };
  for (const { event, counts } of calls) {
    const outer = findUpwards(parentOf(event), nearestModel);
    if (outer !== undefined && callOf.get(outer)?.counts === counts) repeated.add(outer.event_id);
    yield;
  }
}

function* addSameResponses(repeated: Set<string>, calls: readonly Call[]): Steps<void> {
  const inner = new Map<string, Call>();
  for (const call of calls.toSorted((a, b) => a.start - b.start)) {
    if (call.responseId !== undefined && !repeated.has(call.event.event_id)) {
      // The counts may differ: OpenLLMetry's of a stream of Anthropic are too high.
      const before = inner.get(call.responseId);
      // A request may have a span twice, which is one call. An answer from a cache has the id of an
      // earlier call, but another time.
      const isOther = before !== undefined && before.event.event_id !== call.event.event_id;
      if (isOther && call.start <= before.end) repeated.add(before.event.event_id);
      inner.set(call.responseId, call);
    }
    yield;
  }
}
