// Converts sessions and their trees to messages. Source: docs/decisions.md, 11, 18.1 and 19.

import { create } from "@bufbuild/protobuf";
import {
  type Session as SessionMessage,
  type SessionNode,
  SessionNodeSchema,
  SessionSchema,
  SessionTotalsSchema,
} from "../../../gen/waggle/v1/session_pb.js";
import type { ProjectScope } from "../../access/scope.ts";
import type { StoredEvent } from "../events/event.ts";
import { durationOf, toEventMessage } from "../events/event-message.ts";
import type { Session } from "./sessions.ts";
import type { SkeletonRow } from "./store.ts";
import type { Totals } from "./totals.ts";
import type { TreeNode } from "./tree.ts";

type Scopes = Pick<ProjectScope, "orgId" | "workspaceId" | "projectId">;

/** Returns the message of a session event with its scopes and totals. */
export function toSessionMessage(session: Session, scopes: Scopes): SessionMessage {
  const message = create(SessionSchema);
  const { $typeName: _, ...event } = toEventMessage(session.event, scopes.projectId);
  Object.assign(message, event);
  message.sessionName = session.event.event_name;
  message.orgId = scopes.orgId;
  message.workspaceId = scopes.workspaceId;
  message.metadata = withTotals(session);
  message.totals = create(SessionTotalsSchema, toTotalsMessage(session.totals));
  return message;
}

/** Returns the root of a tree whose nodes include their payloads. */
export function toTreeMessage(
  session: Session & { readonly children: readonly TreeNode<StoredEvent>[] },
  scopes: Scopes,
): SessionNode {
  const root = toFullNode(session.event, undefined, session.children.map(toNode));
  addToRoot(root, session, scopes);
  root.metadata = withTotals(session);
  return root;
}

/** Returns the root of a tree with ids, types, names, times and errors only. */
export function toSkeletonMessage(
  session: Session & { readonly children: readonly TreeNode<SkeletonRow>[] },
  scopes: Scopes,
): SessionNode {
  const { event } = session;
  const root = create(SessionNodeSchema);
  setSkeleton(root, event);
  root.sessionId = event.session_id;
  root.children = session.children.map((child) => toSkeletonNode(child, event.session_id));
  addToRoot(root, session, scopes);
  return root;
}

function toNode(node: TreeNode<StoredEvent>): SessionNode {
  return toFullNode(node.event, node.parentId, node.children.map(toNode));
}

function toFullNode(
  event: StoredEvent,
  parentId: string | undefined,
  children: SessionNode[],
): SessionNode {
  const node = create(SessionNodeSchema);
  const message = toEventMessage(event, "");
  const { $typeName: _, projectId: __, parentId: ___, ...fields } = message;
  Object.assign(node, fields);
  if (parentId !== undefined) node.parentId = parentId;
  node.children = children;
  return node;
}

function toSkeletonNode(tree: TreeNode<SkeletonRow>, sessionId: string): SessionNode {
  const node = create(SessionNodeSchema);
  setSkeleton(node, tree.event);
  node.sessionId = sessionId;
  node.parentId = tree.parentId;
  node.children = tree.children.map((child) => toSkeletonNode(child, sessionId));
  return node;
}

type SkeletonEvent = Pick<
  StoredEvent,
  "event_id" | "event_type" | "event_name" | "error" | "start_time" | "end_time" | "duration"
>;

function setSkeleton(node: SessionNode, event: SkeletonEvent): void {
  node.eventId = event.event_id;
  node.eventType = event.event_type;
  node.eventName = event.event_name;
  if (event.error !== null) node.error = event.error;
  node.startTime = Math.floor(event.start_time);
  if (event.end_time !== null) node.endTime = Math.floor(event.end_time);
  const duration = durationOf(event);
  if (duration !== undefined) node.duration = duration;
}

function addToRoot(root: SessionNode, session: Session, scopes: Scopes): void {
  root.orgId = scopes.orgId;
  root.workspaceId = scopes.workspaceId;
  root.projectId = scopes.projectId;
  root.totals = create(SessionTotalsSchema, toTotalsMessage(session.totals));
}

/** Returns the fields of the message of a session's sums. */
export function toTotalsMessage(totals: Totals) {
  return {
    numEvents: totals.num_events,
    numModelEvents: totals.num_model_events,
    numErrors: totals.num_errors,
    promptTokens: totals.prompt_tokens,
    completionTokens: totals.completion_tokens,
    totalTokens: totals.total_tokens,
    hasFeedback: totals.num_feedback > 0,
    ...(totals.num_costs > 0 && { cost: totals.cost }),
  };
}

// Clients read a session's sums from its metadata; keys that its sender wrote win.
function withTotals({ event, totals }: Session): NonNullable<SessionMessage["metadata"]> {
  return {
    num_events: totals.num_events,
    num_model_events: totals.num_model_events,
    has_feedback: totals.num_feedback > 0,
    prompt_tokens: totals.prompt_tokens,
    completion_tokens: totals.completion_tokens,
    total_tokens: totals.total_tokens,
    ...(totals.num_costs > 0 && { cost: totals.cost }),
    ...event.metadata,
  };
}
