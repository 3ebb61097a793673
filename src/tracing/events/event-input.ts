// Converts messages to the input of parse-event.ts, with the field names of the wire.

import type { Event } from "../../../gen/waggle/v1/event_pb.js";
import type { SessionStart } from "../../../gen/waggle/v1/session_start_pb.js";
import type { EventInput, SessionInput } from "./parse-event.ts";

type EventMembers = Partial<Omit<Event, "$typeName" | "$unknown">>;
type SessionMembers = Partial<Omit<SessionStart, "$typeName" | "$unknown">>;

/** Converts an Event, or an update request, whose members are a subset of an Event's. */
export function fromEvent(event: EventMembers): EventInput {
  return {
    event_id: event.eventId,
    session_id: event.sessionId,
    event_type: event.eventType,
    event_name: event.eventName,
    source: event.source,
    parent_id: event.parentId,
    children_ids: event.childrenIds,
    error: event.error,
    start_time: event.startTime,
    end_time: event.endTime,
    duration: event.duration,
    config: event.config,
    inputs: event.inputs,
    outputs: event.outputs,
    metadata: event.metadata,
    feedback: event.feedback,
    metrics: event.metrics,
    user_properties: event.userProperties,
  };
}

/** Converts a session that is started alone or with a batch. */
export function fromSessionStart(session: SessionMembers): SessionInput {
  return { ...fromEvent(session), session_name: session.sessionName };
}
